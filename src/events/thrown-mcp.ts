import { AgentError, isHttpFailure } from "./agent-error.ts";
import { hasName } from "./thrown-name.ts";
import { property, textProperty } from "./thrown-property.ts";

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
  // Not in the server's words: this text is told to the model.
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
