import { isObject, parseJson, readTimestamp } from "../../events/door.ts";
import type { ErasedEvent } from "../audit-row.ts";
import { int8Array, textArray } from "./binary-array.ts";
import { type RunStatement, rowPages } from "./row-pages.ts";

/**
 * Erases the payloads of a thread's rows, page by page: what is left says which kind of event it was
 * and when. The hashes hold, since they cover the digest of the event and not the event.
 *
 * @param thread its number in the database.
 * @returns how many were erased; those that were erased before do not count.
 */
export async function eraseThread(
  run: RunStatement,
  schema: string,
  thread: string,
): Promise<number> {
  let erased = 0;
  for await (const page of rowPages(run, schema, { thread }, { thread, ordinal: 0 })) {
    const [row] = await run({
      text: `select ${schema}.erase_events($1::bigint, $2, $3)::text as erased`,
      values: [
        thread,
        int8Array(page.map(({ ordinal }) => ordinal)),
        textArray(page.map(({ event }) => erasedText(event))),
      ],
    });
    erased += Number(row?.erased);
  }
  return erased;
}

/**
 * Longest kind that is kept, in characters. What stands in an event's place has to be shorter than 1,024
 * bytes, and each character may take six.
 */
const KEPT = 64;

/** The text that stands in place of an erased event: its kind and its time are left. */
export function erasedText(eventText: string): string {
  // Of an event that was damaged by hand the rest is erased as well, though nothing can be told of it.
  const event = parseJson(eventText);
  const { kind, timestamp } = isObject(event) ? event : {};
  const erased: ErasedEvent = { erased: true, kind: nameIn(kind), timestamp: timeIn(timestamp) };
  return JSON.stringify(erased);
}

function nameIn(value: unknown): string {
  return typeof value === "string" ? value.slice(0, KEPT) : "";
}

/** An event of an application's own kind may have anything in that place: only a time is left. */
function timeIn(value: unknown): string {
  if (typeof value !== "string" || value.length > KEPT) return "";
  return readTimestamp(value) === undefined ? "" : value;
}
