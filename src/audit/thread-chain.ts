import type { RowAnchor, ThreadKey } from "./audit-row.ts";
import type { EntryText } from "./entry-text.ts";
import { rowAfter } from "./row-text.ts";

/** A row ready to be stored. */
export interface ChainedRow extends RowAnchor {
  readonly prev: string;
  readonly entry: EntryText;
  /** The whole line, without its newline. */
  readonly line: string;
}

/** What an append comes to: the rows that it adds, and the place to answer with. */
export interface ChainedAppend {
  readonly rows: readonly ChainedRow[];
  readonly anchor: RowAnchor;
}

/**
 * Chains entries behind a thread's head, leaving out those whose event id is known.
 *
 * @param placeOf where the event of an id already stands, if it does.
 */
export function chainEntries(
  key: ThreadKey,
  head: RowAnchor,
  entries: readonly EntryText[],
  placeOf: (eventId: string) => RowAnchor | undefined,
): ChainedAppend {
  const rows: ChainedRow[] = [];
  const added = new Map<string, RowAnchor>();
  let last = head;
  let known: RowAnchor | undefined;
  for (const entry of entries) {
    const id = entry.event_id;
    const place = id === null ? undefined : (added.get(id) ?? placeOf(id));
    if (place !== undefined) {
      if (known === undefined || place.ordinal > known.ordinal) known = place;
      continue;
    }
    const { ordinal, hash, text } = rowAfter(last, key, entry);
    rows.push({ ordinal, hash, prev: last.hash, entry, line: `${text}${entry.event_text}}` });
    last = { ordinal, hash };
    if (id !== null) added.set(id, last);
  }
  return { rows, anchor: rows.length > 0 ? last : (known ?? head) };
}
