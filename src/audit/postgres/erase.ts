import { isObject, parseJson, readTimestamp } from "../../events/door.ts";
import type { ErasedEvent } from "../audit-row.ts";
import { int8Array, textArray } from "./binary-array.ts";
import { type RunStatement, rowPages } from "./row-pages.ts";

/**
 * Erases the payloads of a thread's rows, page by page. The kind and time of each event remain. The hashes stay
 * valid, because they cover the digest of the event.
 *
 * @param thread its number in the database.
 * @returns how many payloads this call erased.
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
 * Longest kind that is kept, in characters. The text of an erased event must be shorter than 1,024 bytes, and a
 * character may take six.
 */
const KEPT = 64;

/** The text that replaces an erased event. It has the event's kind and time. */
export function erasedText(eventText: string): string {
  // A damaged event may have neither. It is erased, too.
  const event = parseJson(eventText);
  const { kind, timestamp } = isObject(event) ? event : {};
  const erased: ErasedEvent = { erased: true, kind: nameIn(kind), timestamp: timeIn(timestamp) };
  return JSON.stringify(erased);
}

function nameIn(value: unknown): string {
  return typeof value === "string" ? value.slice(0, KEPT) : "";
}

/** In an event of an application's own kind this field may have any value. Only a time is kept. */
function timeIn(value: unknown): string {
  if (typeof value !== "string" || value.length > KEPT) return "";
  return readTimestamp(value) === undefined ? "" : value;
}
