import type { Dialect } from "../../dialects/dialect.ts";
import type { EventJournal } from "../../ingest/journal/event-journal.ts";
import type { IdCache } from "../../lifecycle/id-cache.ts";
import type { RecordedEvent } from "../../runtimes/runtimes.ts";
import { decodeLogLine } from "../log-processor/decode-log-line.ts";
import type { Backlog } from "./backlog.ts";
import { identityOf } from "./check-line.ts";

/** What a start found in the journal. */
export interface Recovered {
  /** Lines that are there. */
  readonly lines: number;
  /** Of them, those that are still needed: of open runs, or not stored yet. */
  readonly needed: number;
  /** Damaged places in the last write. */
  readonly torn: number;
  /** Their bytes, which are set aside. */
  readonly tornBytes: number;
  /** Lines that are known to be missing there. */
  readonly missing: number;
}

/** Learns from the journal which events were accepted lately, and how much of it is still needed. */
export async function recoverJournal(
  journal: EventJournal,
  ids: IdCache,
  backlog: Backlog,
  dialects: readonly Dialect<RecordedEvent>[],
  tenant: string,
): Promise<Recovered> {
  const { first, next, position, torn } = journal;
  const lately = Math.max(first, next - ids.limit);
  const from = Math.max(first, Math.min(position, lately));
  let lines = from - first;
  let needed = 0;
  for await (const line of journal.read(from)) {
    lines += 1;
    if (line.offset >= position) {
      needed += 1;
      backlog.add(line.offset, Buffer.byteLength(line.text));
    }
    if (line.offset < lately) continue;
    const decoded = decodeLogLine(line, dialects);
    if (decoded.event === undefined) continue;
    const { tenant: owner, eventId } = identityOf(decoded, line.tenant ?? tenant);
    if (eventId !== undefined) ids.add(owner, eventId);
  }
  return {
    lines,
    needed,
    torn: torn.length,
    tornBytes: torn.reduce((sum, { bytes }) => sum + bytes, 0),
    missing: torn.reduce((sum, { missing = 0 }) => sum + missing, 0),
  };
}
