import { AgentError } from "./agent-error.ts";
import { property, textProperty } from "./thrown-property.ts";

const CANCELLED = 1;
/** The HTTP status of each code of gRPC, as Google's `google/rpc/code.proto` has it. */
const HTTP_STATUS: ReadonlyMap<unknown, number> = new Map([
  [2, 500],
  [3, 400],
  [4, 504],
  [5, 404],
  [6, 409],
  [7, 403],
  [8, 429],
  [9, 400],
  [10, 409],
  [11, 400],
  [12, 501],
  [13, 500],
  [14, 503],
  [15, 500],
  [16, 401],
]);

/**
 * What the status of a gRPC call says, as `@grpc/grpc-js` and Google's clients throw it: an error with
 * the number as `code`, with `details` and `metadata`. `undefined` for any other.
 */
export function ofGrpc(value: unknown, thrown: unknown): AgentError | undefined {
  const code = property(value, "code");
  const message = textProperty(value, "message") ?? "";
  // Many errors have a number for a code; the text begins with gRPC's and the code's name.
  if (typeof property(value, "metadata") !== "object" || !message.startsWith(`${code} `)) {
    return undefined;
  }
  if (code === CANCELLED) return AgentError.cancelled({ cause: thrown });
  const status = HTTP_STATUS.get(code);
  return status === undefined ? undefined : AgentError.http(status, message, { cause: thrown });
}
