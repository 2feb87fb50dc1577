import {
  AgentError,
  type ErrorEnvelope,
  notMadeEnvelope,
  property,
  refusalIn,
  refusesResult,
} from "../../events/door.ts";
import { type Fields, textOf } from "../core/door.ts";

/** The error of a JSON-RPC response, in the form that the SDK's clients throw. */
export class RpcError extends Error {
  override readonly name = "McpError";
  readonly code: number;

  /** @param error the `error` of a response. A peer may send any fields. */
  constructor(error: Fields) {
    super(textOf(error.message) ?? "the peer answered with an error");
    this.code = typeof error.code === "number" ? error.code : INTERNAL_ERROR;
  }
}

const INTERNAL_ERROR = -32603;
const INVALID_PARAMS = -32602;

/** The server can continue only after the person opened a URL (URL mode of elicitation). */
const URL_ELICITATION_REQUIRED = -32_042;

/** Codes of an invalid request: not JSON-RPC, unknown method or tool, invalid parameters. */
const OF_REQUEST: ReadonlySet<unknown> = new Set([-32_700, -32_600, -32_601, -32_602]);

/** Whether an error asks for a person's action first. That is not a failure. */
export function asksPerson(error: unknown): boolean {
  return property(error, "code") === URL_ELICITATION_REQUIRED;
}

/** The error that ends such a call. */
export function waitsForPerson(cause: unknown): AgentError {
  return AgentError.interrupted({ type: "custom" }, null, { cause });
}

/** Whether the caller caused the error. */
export function isOfRequest(error: Fields): boolean {
  const isOfResult = error.code === INVALID_PARAMS && refusesResult(textOf(error.message) ?? "");
  return OF_REQUEST.has(error.code) && !isOfResult;
}

export function statusCodeOf(error: Fields | undefined): string | undefined {
  return typeof error?.code === "number" ? String(error.code) : undefined;
}

/** The envelope for a call that the server refused. `undefined` for any other error. */
export function refusedEnvelope(error: unknown): ErrorEnvelope | undefined {
  if (property(error, "code") !== INVALID_PARAMS) return undefined;
  const message = textOf(property(error, "message")) ?? "";
  const code = refusalIn(message);
  return code === undefined ? undefined : notMadeEnvelope(code);
}
