import type { ErrorEnvelope } from "../../errors/error-kinds.ts";
import type { ExceptionDetails } from "../../errors/exception-of.ts";
import type { Run } from "../../lifecycle/run.ts";
import type { CallEnd, RunEnd } from "../../lifecycle/signal.ts";
import { failureKindOf, originOf, toolErrorKindOf } from "./run-outcomes.ts";

/** Longest part of a fingerprint, in characters. */
const LONGEST_PART = 64;
/** A name of code or a word of a protocol. Anything else may be free text or an id. */
const NAME = /^[\w$.-]+(?:[:/][\w$.-]+)*$/;

/**
 * What failures of one cause have in common: kind, origin, the tool or model, the class of the error and its wire code,
 * such as `model_dispatch|model|small-1|RateLimitError|rate_limited`. It holds no message and no id, and follows from the
 * events alone, so that a replay says the same. A part that is not known is empty.
 */
function fingerprint(
  kind: string,
  origin: string,
  name: string | undefined,
  envelope: ErrorEnvelope | undefined,
  exception: ExceptionDetails | undefined,
): string {
  return [kind, origin, name, exception?.type, envelope?.wire_code].map(part).join("|");
}

function part(given: unknown): string {
  return typeof given === "string" && given.length <= LONGEST_PART && NAME.test(given) ? given : "";
}

/** Of a run that failed. Its model is that of its own last call that failed. */
export function runFingerprint<H>(
  run: Run<H>,
  end: RunEnd & { readonly outcome: "failed" },
): string {
  const { envelope, exception, kind } = end;
  const origin = originOf(end);
  const tool = kind?.type === "tool_error_terminal" ? kind.tool_name : undefined;
  const name = origin === "model" ? run.used?.failedModel : tool;
  return fingerprint(failureKindOf(kind), origin, name, envelope, exception);
}

/** Of a tool call that failed. */
export function callFingerprint(
  tool: string,
  end: CallEnd & { readonly outcome: "error" },
): string {
  return fingerprint(toolErrorKindOf(end.kind), "tool", tool, end.envelope, end.exception);
}
