/** Which event of a LangChain run it is; each has a digit that stands for it in the event's id. */
const DIGITS = {
  "run-start": "a",
  "run-end": "b",
  "call-start": "c",
  "call-end": "d",
} as const;

const UUID_LENGTH = 36;
/** Where a UUID has its version. */
const VERSION_AT = 14;

/**
 * The id of an event, the same when its callback is told again. LangChain's run ids are UUIDs, and so
 * is this: sinks remember UUIDs in a fraction of the time and room that other texts take.
 *
 * @param part of a run that goes on under its own id after a pause, from 2.
 */
export function eventId(runId: string, what: keyof typeof DIGITS, part = 1): string {
  if (part > 1) return `${runId}:${what}:${part}`;
  if (runId.length !== UUID_LENGTH) return `${runId}:${what}`;
  return `${runId.slice(0, VERSION_AT)}${DIGITS[what]}${runId.slice(VERSION_AT + 1)}`;
}
