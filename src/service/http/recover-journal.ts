import type { Dialect } from "../../dialects/dialect.ts";
import type { AcceptedIds } from "../../ingest/journal/accepted-ids.ts";
import type { EventJournal } from "../../ingest/journal/event-journal.ts";
import type { RecordedEvent } from "../../runtimes/runtimes.ts";
import { decodeLogLine } from "../lane/decode-log-line.ts";
import type { Backlog } from "./backlog.ts";
import { identityOf } from "./check-line.ts";

/** What a start found in the journal. */
export interface Recovered {
  /** Lines that are there. */
  readonly lines: number;
  /** Of them, those that are still needed: of open runs, or not stored yet. */
  readonly needed: number;
  /** Ends of lines that a crash cut short, none of them acknowledged. */
  readonly torn: number;
}

/** Learns from the journal which events were accepted lately, and how much of it is still needed. */
export async function recoverJournal(
  journal: EventJournal,
  ids: AcceptedIds,
  backlog: Backlog,
  dialects: readonly Dialect<RecordedEvent>[],
  tenant: string,
): Promise<Recovered> {
  const { first, next, position, torn } = journal;
  const lately = Math.max(first, next - ids.limit);
  for await (const line of journal.read(Math.min(position, lately))) {
    if (line.offset >= position) backlog.add(line.offset, Buffer.byteLength(line.text));
    if (line.offset < lately) continue;
    const decoded = decodeLogLine(line, dialects);
    if (decoded.event === undefined) continue;
    const { tenant: owner, eventId } = identityOf(decoded, line.tenant ?? tenant);
    if (eventId !== undefined) ids.add(owner, eventId);
  }
  return { lines: next - first, needed: next - Math.max(position, first), torn: torn.length };
}
