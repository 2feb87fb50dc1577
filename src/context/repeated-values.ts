import { isAbsent, WRONG } from "./check-run-context.ts";
import type { TellIgnored } from "./ignored-field.ts";
import type { RunContextField } from "./run-context.ts";
import { isTraceparent, traceIdOf } from "./trace-headers.ts";

/** What a value stands for; `undefined` when it can't be read. */
export type ReadText = (text: string) => string | undefined;

/** Bytes that the values of one header may have: an id, encoded, and twice at that. */
const MOST_LENGTH = 16_384;

/**
 * The one value of a header that may have come several times: as a list, or with commas between, as
 * servers join them. No value of ours has a comma in it, but a `tracestate` has: its lists are joined.
 *
 * Of several `traceparent` in one trace the last counts: an instrumentation of the HTTP client adds its
 * own behind one that was set by hand, and it names the span that is nearer to the receiver.
 */
export function oneOfMany(
  field: RunContextField,
  values: readonly unknown[],
  read: ReadText,
  name: string,
  tell: TellIgnored,
): unknown {
  const texts: string[] = [];
  let length = 0;
  for (const value of values) {
    if (isAbsent(value)) continue;
    if (typeof value !== "string") return refused(name, "malformed", tell);
    length += value.length;
    if (length > MOST_LENGTH) return refused(name, "too_long", tell);
    texts.push(value);
  }
  if (field === "tracestate") return texts.length === 0 ? undefined : texts.join(",");
  const parts = texts.flatMap((text) => text.split(",")).map((part) => part.trim());
  const different = [...new Set(parts.filter((part) => part !== ""))];
  const last = different.at(-1);
  if (last === undefined) return undefined;
  if (different.length > 1 && !(field === "traceparent" && isOneTrace(different))) {
    return refused(name, "repeated", tell);
  }
  return read(last) ?? refused(name, "malformed", tell);
}

function isOneTrace(traceparents: readonly string[]): boolean {
  const traceIds = new Set(traceparents.map(traceIdOf));
  return traceIds.size === 1 && traceparents.every(isTraceparent);
}

/** It was told: the checks that follow need not do so again. */
function refused(
  name: string,
  reason: "malformed" | "too_long" | "repeated",
  tell: TellIgnored,
): typeof WRONG {
  tell(name, reason);
  return WRONG;
}
