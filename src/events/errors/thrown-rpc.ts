import { AgentError, isHttpFailure } from "./agent-error.ts";
import { hasName, property, textProperty } from "./thrown.ts";

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
  if (typeof code !== "number" || typeof property(value, "metadata") !== "object") return undefined;
  if (!message.startsWith(`${code} `)) return undefined;
  if (code === CANCELLED) return AgentError.cancelled({ cause: thrown });
  const status = HTTP_STATUS.get(code);
  return status === undefined ? undefined : AgentError.http(status, message, { cause: thrown });
}

/** Of `@modelcontextprotocol/sdk` 1; those of the packages of version 2 have a `status`. */
const HTTP_NAMES = new Set(["StreamableHTTPError", "SseError"]);
/** Version 1 has one class for all; version 2 has one for what came and one for what it found itself. */
const MCP_NAMES = new Set(["McpError", "ProtocolError", "SdkError"]);
const TIMED_OUT: ReadonlySet<unknown> = new Set([-32001, "REQUEST_TIMEOUT"]);
const CLOSED: ReadonlySet<unknown> = new Set([-32000, "CONNECTION_CLOSED"]);
const INVALID_PARAMS = -32602;
const LIMITS = new Set(["Request timed out", "Maximum total timeout exceeded"]);
/** What its clients put before a message, around the code. */
export const MCP_PREFIX = /^MCP error (-\d+): /;

/**
 * What an error of the Model Context Protocol's clients says, where it says more than that the server
 * failed: the HTTP status, the client's time limit, a request that was called off, a connection that
 * closed, parameters that the server refused. `undefined` for any other.
 */
export function ofMcp(value: unknown, thrown: unknown): AgentError | undefined {
  const code = property(value, "code");
  const message = textProperty(value, "message") ?? "";
  const cause = { cause: thrown };
  if (hasName(value, HTTP_NAMES)) {
    return typeof code === "number" && isHttpFailure(code)
      ? AgentError.http(code, message, cause)
      : undefined;
  }
  if (!hasName(value, MCP_NAMES)) return undefined;
  if (TIMED_OUT.has(code)) return ofTimeout(value, message, cause);
  // Servers use the first code for errors of their own too.
  if (CLOSED.has(code) && message.endsWith("Connection closed")) {
    return AgentError.network(message, cause);
  }
  // Not in the server's words: the model sees this text.
  return code === INVALID_PARAMS
    ? AgentError.invalidRequest("the MCP server refused the parameters", cause)
    : undefined;
}

/** The client gives a request that was called off the same code, with the text of the signal's reason. */
function ofTimeout(
  value: unknown,
  message: string,
  cause: { readonly cause: unknown },
): AgentError | undefined {
  const data = property(value, "data");
  const limits = [property(data, "timeout"), property(data, "maxTotalTimeout")];
  if (limits.some((ms) => typeof ms === "number")) return AgentError.network(message, cause);
  const reason = message.replace(MCP_PREFIX, "");
  // Where the text alone is left of the error.
  if (LIMITS.has(reason)) return AgentError.network(message, cause);
  if (reason.startsWith("TimeoutError")) return AgentError.deadlineExceeded(cause);
  return reason.startsWith("AbortError") ? AgentError.cancelled(cause) : undefined;
}
