import type { Stamp } from "../core/door.ts";

/** A digit of the event's ID for each event of a LangChain run. */
const DIGITS = {
  "run-start": "a",
  "run-end": "b",
  "call-start": "c",
  "call-end": "d",
} as const;

const UUID_LENGTH = 36;
/** Position of a UUID's version. */
const VERSION_AT = 14;

/**
 * The ID of an event, the same for every call of its callback. It is a UUID like LangChain's run IDs, because sinks
 * remember UUIDs with less time and memory than other texts.
 *
 * @param part number of the run's segment.
 */
export function eventOf(runId: string, what: keyof typeof DIGITS, part = 1): Stamp {
  if (part > 1) return { eventId: `${runId}:${what}:${part}` };
  if (runId.length !== UUID_LENGTH) return { eventId: `${runId}:${what}` };
  const digit = DIGITS[what];
  return { eventId: `${runId.slice(0, VERSION_AT)}${digit}${runId.slice(VERSION_AT + 1)}` };
}
