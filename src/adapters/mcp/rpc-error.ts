import { type Fields, textOf } from "../narrow.ts";

/** The error of a JSON-RPC response, as the SDK's clients would throw it. */
export class RpcError extends Error {
  override readonly name = "McpError";
  readonly code: number;

  /** @param error the `error` of a response: a peer may have put anything there. */
  constructor(error: Fields) {
    super(textOf(error.message) ?? "the peer answered with an error");
    this.code = typeof error.code === "number" ? error.code : INTERNAL_ERROR;
  }
}

const INTERNAL_ERROR = -32603;

/** The code of a JSON-RPC error, as text. */
export function statusCodeOf(error: Fields | undefined): string | undefined {
  return typeof error?.code === "number" ? String(error.code) : undefined;
}
