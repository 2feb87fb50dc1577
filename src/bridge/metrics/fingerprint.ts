import type { CallEnd, ErrorEnvelope, ExceptionDetails, RunEnd } from "../../events/door.ts";
import type { Run } from "../lifecycle/door.ts";
import { failureKindOf, originOf, toolErrorKindOf } from "./run-outcomes.ts";

/** Longest part of a fingerprint, in characters. */
const LONGEST_PART = 64;
/** A class of errors or a code of a protocol. Other texts can be free text, and are left out. */
const CODE = /^[\w$.-]+(?:(?:::?|\/)[\w$.-]+)*$/;
/** A tool or a model, in any script, such as `mcp__docs__search`, `@cf/meta/llama` or `claude@20250514`. */
const NAME =
  /^@?[\p{L}\p{M}\p{N}_$.-]+(?:(?:::?|\/)[\p{L}\p{M}\p{N}_$.-]+)*(?:@(?:\d[\d.-]*|default|latest))?$/u;
/** A UUID, 16 or more hex digits, or a number of 9 or more digits: dates in names of models have 8. */
const IDS = [
  /[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}/i,
  /[\da-f]{16}/i,
  /\d{9}/,
] as const;

/**
 * Identifies failures of one cause: kind, origin, tool or model, class of the error and wire code, such as
 * `model_dispatch|model|small-1|RateLimitError|rate_limited`. It contains no message and no ID. It depends
 * only on the events, so a replay computes the same one. An unknown part is empty.
 */
function fingerprint(
  kind: string,
  origin: string,
  name: string | undefined,
  envelope: ErrorEnvelope | undefined,
  exception: ExceptionDetails | undefined,
): string {
  const [type, wireCode] = [part(exception?.type, CODE), part(envelope?.wire_code, CODE)];
  return [kind, origin, part(name, NAME), type, wireCode].join("|");
}

function part(given: unknown, form: RegExp): string {
  if (typeof given !== "string" || given.length > LONGEST_PART) return "";
  return form.test(given) && !IDS.some((id) => id.test(given)) ? given : "";
}

/** The fingerprint of a failed run. Its model is that of its own last failed call. */
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

/** The fingerprint of a failed tool call. */
export function callFingerprint(
  tool: string,
  end: CallEnd & { readonly outcome: "error" },
): string {
  return fingerprint(toolErrorKindOf(end.kind), "tool", tool, end.envelope, end.exception);
}
