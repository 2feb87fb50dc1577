import { AgentError, property } from "../../events/door.ts";
import { type Fields, textOf } from "../core/narrow.ts";

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

/** The server can go on only once the person has opened an address (URL mode of elicitations). */
const URL_ELICITATION_REQUIRED = -32_042;

/** Errors that say that the request was wrong: not JSON-RPC, an unknown method or tool, wrong parameters. */
const OF_REQUEST: ReadonlySet<unknown> = new Set([-32_700, -32_600, -32_601, -32_602]);

/** Whether an error of a response says that a person is to be asked first: no failure. */
export function asksPerson(error: unknown): boolean {
  return property(error, "code") === URL_ELICITATION_REQUIRED;
}

/** What ends a call that such an error was the answer to. */
export function waitsForPerson(cause: unknown): AgentError {
  return AgentError.interrupted({ type: "custom" }, null, { cause });
}

/** Whether an error of a response is the caller's, and none of the server. */
export function isOfRequest(error: Fields): boolean {
  return OF_REQUEST.has(error.code);
}

/** The code of a JSON-RPC error, as text. */
export function statusCodeOf(error: Fields | undefined): string | undefined {
  return typeof error?.code === "number" ? String(error.code) : undefined;
}
