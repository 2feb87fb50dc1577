import { int8Array, textArray } from "./binary-array.ts";
import { erasedText } from "./erased-event.ts";
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
