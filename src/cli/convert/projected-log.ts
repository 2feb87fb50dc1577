import { createHash } from "node:crypto";
import type { AuditEntry, AuditRow, RowAnchor, ThreadKey } from "../../audit/audit-row.ts";
import type { SessionLog } from "../../audit/session-log.ts";
import { threadText } from "../../audit/thread-text.ts";
import { encodeGraphEvent } from "../../audit/wire/encode-graph-event.ts";
import { Tally } from "../../ingest/tally.ts";
import { RecentMap } from "../../lifecycle/recent-map.ts";

/** Threads whose rows are numbered on, at least; a thread that is forgotten begins again. */
const THREADS = 20_000;

/**
 * The log that a conversion writes to: counts the rows by kind, and gives those that come without an
 * event id one of their own, so that converting a file again does not write its rows again.
 */
export class ProjectedLog implements SessionLog {
  /** Rows so far; those that the log had already count too. */
  rows = 0;
  readonly #log: SessionLog;
  readonly #kinds = new Tally();
  readonly #numbers = new RecentMap<number>(THREADS);

  constructor(log: SessionLog) {
    this.#log = log;
  }

  get kinds(): ReadonlyMap<string, number> {
    return this.#kinds.counts;
  }

  append(key: ThreadKey, entries: readonly AuditEntry[]): Promise<RowAnchor> {
    const thread = threadText(key);
    const known = entries.map((entry) => {
      this.rows++;
      this.#kinds.add(entry.event.kind);
      const number = this.#numbers.get(thread) ?? 0;
      this.#numbers.set(thread, number + 1);
      return entry.event_id ? entry : { ...entry, event_id: rowId(thread, number, entry) };
    });
    return this.#log.append(key, known);
  }

  loadSince(key: ThreadKey, cursor: number): Promise<readonly AuditRow[]> {
    return this.#log.loadSince(key, cursor);
  }

  archiveBefore(key: ThreadKey, watermark: number): Promise<number> {
    return this.#log.archiveBefore(key, watermark);
  }
}

/** What a row is known by that has no id: its thread, its place there and what it says. */
function rowId(thread: string, number: number, { event }: AuditEntry): string {
  const hash = createHash("sha256").update(`${thread}\0${number}\0${encodeGraphEvent(event)}`);
  return `row-${hash.digest("hex").slice(0, 32)}`;
}
