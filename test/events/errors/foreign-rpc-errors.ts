import {
  cancelled,
  deadline,
  invalid,
  network,
  quota,
  refused,
  unavailable,
  wrong,
} from "./foreign-classes.ts";
import type { ForeignCase } from "./foreign-errors.ts";

class StreamableHTTPError extends Error {}
class SseError extends Error {}

/** As `@modelcontextprotocol/sdk` 1.32 makes it: the code stands before the text. */
function mcp(code: number, text: string, data?: object): Error {
  const error = new Error(`MCP error ${code}: ${text}`);
  return Object.assign(error, { name: "McpError", code, data });
}

/** As `@modelcontextprotocol/client` 2.4 does. */
function mcp2(name: string, code: string | number, text: string, properties: object = {}): Error {
  return Object.assign(new Error(text), { name, code, ...properties });
}

/** As `@grpc/grpc-js` 1.14 does. */
function grpc(code: number, name: string): Error {
  const details = "said";
  const error = new Error(`${code} ${name}: ${details}`);
  return Object.assign(error, {
    code,
    details,
    metadata: { internalRepr: new Map(), options: {} },
  });
}

/** Clients of MCP and gRPC, in the shapes that the named versions throw against a local server. */
export const RPC_ERRORS: readonly ForeignCase[] = [
  {
    name: "MCP 1, HTTP 401",
    thrown: Object.assign(new StreamableHTTPError("Streamable HTTP error: …"), { code: 401 }),
    ...refused,
  },
  {
    name: "MCP 1, HTTP 503 of a stream of events",
    thrown: Object.assign(new SseError("SSE error: Non-200 status code (503)"), { code: 503 }),
    ...unavailable,
  },
  {
    name: "MCP 1, its time limit",
    thrown: mcp(-32001, "Request timed out", { timeout: 50 }),
    ...network,
  },
  {
    name: "MCP 1, its limit of a request that makes progress",
    thrown: mcp(-32001, "Maximum total timeout exceeded", {
      maxTotalTimeout: 100,
      totalElapsed: 101,
    }),
    ...network,
  },
  {
    name: "MCP 1, called off",
    thrown: mcp(-32001, "AbortError: This operation was aborted"),
    ...cancelled,
  },
  {
    name: "MCP 1, AbortSignal.timeout",
    thrown: mcp(-32001, "TimeoutError: The operation was aborted due to timeout"),
    ...deadline,
  },
  { name: "MCP 1, a server that ended", thrown: mcp(-32000, "Connection closed"), ...network },
  {
    name: "MCP 1, parameters that the server refused",
    thrown: mcp(-32602, "Invalid arguments for tool add: 4111 1111"),
    ...invalid,
  },
  {
    name: "MCP 2, HTTP 429",
    thrown: mcp2("SdkHttpError", "CLIENT_HTTP_NOT_IMPLEMENTED", "Error POSTing", { status: 429 }),
    ...quota,
  },
  {
    name: "MCP 2, its time limit",
    thrown: mcp2("SdkError", "REQUEST_TIMEOUT", "Request timed out", { data: { timeout: 50 } }),
    ...network,
  },
  {
    name: "MCP 2, called off",
    thrown: mcp2("SdkError", "REQUEST_TIMEOUT", "AbortError: This operation was aborted"),
    ...cancelled,
  },
  {
    name: "MCP 2, a server that ended",
    thrown: mcp2("SdkError", "CONNECTION_CLOSED", "Connection closed"),
    ...network,
  },
  {
    name: "MCP 2, parameters that the server refused",
    thrown: mcp2("ProtocolError", -32602, "bad arg"),
    ...invalid,
  },
  { name: "gRPC CANCELLED", thrown: grpc(1, "CANCELLED"), ...cancelled },
  { name: "gRPC INVALID_ARGUMENT", thrown: grpc(3, "INVALID_ARGUMENT"), ...wrong },
  { name: "gRPC DEADLINE_EXCEEDED", thrown: grpc(4, "DEADLINE_EXCEEDED"), ...unavailable },
  { name: "gRPC PERMISSION_DENIED", thrown: grpc(7, "PERMISSION_DENIED"), ...refused },
  { name: "gRPC RESOURCE_EXHAUSTED", thrown: grpc(8, "RESOURCE_EXHAUSTED"), ...quota },
  { name: "gRPC INTERNAL", thrown: grpc(13, "INTERNAL"), ...unavailable },
  { name: "gRPC UNAVAILABLE", thrown: grpc(14, "UNAVAILABLE"), ...unavailable },
  { name: "gRPC UNAUTHENTICATED", thrown: grpc(16, "UNAUTHENTICATED"), ...refused },
];

/** Errors of the same clients that say no more than that something failed. */
export const VAGUE_RPC_ERRORS: readonly unknown[] = [
  mcp(-32603, "boom"),
  mcp(-32601, "Method not found"),
  mcp(-32001, "stop"),
  mcp(-32602, "Structured content does not match the tool's output schema: n"),
  mcp(-32000, "the server's own"),
  mcp2("ProtocolError", -32603, "boom"),
  Object.assign(new Error("14 files changed"), { code: 14 }),
  Object.assign(new Error("exit"), { code: 3, metadata: {} }),
];
