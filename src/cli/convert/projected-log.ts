import type { AuditEntry, AuditRow, RowAnchor, ThreadKey } from "../../audit/audit-row.ts";
import type { SessionLog } from "../../audit/session-log.ts";
import { Tally } from "../../ingest/tally.ts";

/** The log that a conversion writes to: counts the rows by kind. */
export class ProjectedLog implements SessionLog {
  /** Rows so far; those that the log had already count too. */
  rows = 0;
  readonly #log: SessionLog;
  readonly #kinds = new Tally();

  constructor(log: SessionLog) {
    this.#log = log;
  }

  get kinds(): ReadonlyMap<string, number> {
    return this.#kinds.counts;
  }

  append(key: ThreadKey, entries: readonly AuditEntry[]): Promise<RowAnchor> {
    for (const { event } of entries) {
      this.rows++;
      this.#kinds.add(event.kind);
    }
    return this.#log.append(key, entries);
  }

  loadSince(key: ThreadKey, cursor: number): Promise<readonly AuditRow[]> {
    return this.#log.loadSince(key, cursor);
  }

  archiveBefore(key: ThreadKey, watermark: number): Promise<number> {
    return this.#log.archiveBefore(key, watermark);
  }
}
