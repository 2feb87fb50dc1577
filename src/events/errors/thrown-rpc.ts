import { AgentError, isHttpFailure } from "./agent-error.ts";
import { hasName, property, textProperty } from "./thrown.ts";

const CANCELLED = 1;
/** The HTTP status of each gRPC code, as in Google's `google/rpc/code.proto`. */
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
 * The error of a gRPC call, as thrown by `@grpc/grpc-js` and Google's clients: the number is its `code`, and it has
 * `details` and `metadata`. `undefined` for any other value.
 */
export function ofGrpc(value: unknown, thrown: unknown): AgentError | undefined {
  const code = property(value, "code");
  const message = textProperty(value, "message") ?? "";
  // Many errors have a number as their code. The text of gRPC's starts with it.
  if (typeof code !== "number" || typeof property(value, "metadata") !== "object") return undefined;
  if (!message.startsWith(`${code} `)) return undefined;
  if (code === CANCELLED) return AgentError.cancelled({ cause: thrown });
  const status = HTTP_STATUS.get(code);
  return status === undefined ? undefined : AgentError.http(status, message, { cause: thrown });
}

/** Classes of `@modelcontextprotocol/sdk` 1. Those of version 2 have a `status`. */
const HTTP_NAMES = new Set(["StreamableHTTPError", "SseError"]);
/** Version 1 has one class for all errors. Version 2 has one for received errors and one for its own. */
const MCP_NAMES = new Set(["McpError", "ProtocolError", "SdkError"]);
const TIMED_OUT: ReadonlySet<unknown> = new Set([-32001, "REQUEST_TIMEOUT"]);
const CLOSED: ReadonlySet<unknown> = new Set([-32000, "CONNECTION_CLOSED"]);
const INVALID_PARAMS = -32602;
const LIMITS = new Set(["Request timed out", "Maximum total timeout exceeded"]);
/** Prefix with the code that its clients add to a message. */
export const MCP_PREFIX = /^MCP error (-\d+): /;
/** Texts of servers and clients about a result. They have the code of invalid parameters, too. */
const OF_RESULT =
  /^(?:Output validation error|.{0,20}structured content|Tool .{1,200} has an output schema)\b/i;

/**
 * Whether an MCP error with the code of invalid parameters says that the result does not fit the tool's output schema:
 * the tool ran.
 *
 * @param message with or without the prefix of a client.
 */
export function refusesResult(message: string): boolean {
  return OF_RESULT.test(message.replace(MCP_PREFIX, ""));
}

/**
 * The error of a client of the Model Context Protocol, if it says more than that the server failed: an HTTP status,
 * the client's time limit, a cancelled request, a closed connection, or parameters that the server refused.
 * `undefined` for any other value.
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
  // Servers use the first code for their own errors, too.
  if (CLOSED.has(code) && message.endsWith("Connection closed")) {
    return AgentError.network(message, cause);
  }
  // The model sees this text, so it has none of the server's words.
  return code === INVALID_PARAMS && !refusesResult(message)
    ? AgentError.invalidRequest("the MCP server refused the parameters", cause)
    : undefined;
}

/** The client uses the same code for a cancelled request, with the reason of the signal as text. */
function ofTimeout(
  value: unknown,
  message: string,
  cause: { readonly cause: unknown },
): AgentError | undefined {
  const data = property(value, "data");
  const limits = [property(data, "timeout"), property(data, "maxTotalTimeout")];
  if (limits.some((ms) => typeof ms === "number")) return AgentError.network(message, cause);
  const reason = message.replace(MCP_PREFIX, "");
  // Only the text of the error is left.
  if (LIMITS.has(reason)) return AgentError.network(message, cause);
  if (reason.startsWith("TimeoutError")) return AgentError.deadlineExceeded(cause);
  return reason.startsWith("AbortError") ? AgentError.cancelled(cause) : undefined;
}
