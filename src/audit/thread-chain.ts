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
 * @param placeOf where the event of a name already stands, if it does.
 */
export function chainEntries(
  key: ThreadKey,
  head: RowAnchor,
  entries: readonly EntryText[],
  placeOf: (eventName: string) => RowAnchor | undefined,
): ChainedAppend {
  const rows: ChainedRow[] = [];
  // A call with one entry, the usual one, cannot repeat itself.
  const added = entries.length > 1 ? new Map<string, RowAnchor>() : undefined;
  let last = head;
  let known: RowAnchor | undefined;
  for (const entry of entries) {
    const name = entry.event_name;
    const place = name === null ? undefined : (added?.get(name) ?? placeOf(name));
    if (place !== undefined) {
      if (known === undefined || place.ordinal > known.ordinal) known = place;
      continue;
    }
    const { ordinal, hash, text } = rowAfter(last, key, entry);
    rows.push({ ordinal, hash, prev: last.hash, entry, line: `${text}${entry.event_text}}` });
    last = { ordinal, hash };
    if (name !== null) added?.set(name, last);
  }
  return { rows, anchor: rows.length > 0 ? last : (known ?? head) };
}
