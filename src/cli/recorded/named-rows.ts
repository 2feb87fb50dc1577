import { createHash } from "node:crypto";
import type { AuditEntry, AuditRow, RowAnchor, ThreadKey } from "../../audit/audit-row.ts";
import type { NdjsonSessionLog } from "../../audit/ndjson/ndjson-session-log.ts";
import type { RowWaiter } from "../../audit/row-waiter.ts";
import type { SessionLog } from "../../audit/session-log.ts";
import { threadText } from "../../audit/thread-text.ts";
import { encodeGraphEvent } from "../../audit/wire/encode-graph-event.ts";
import { RecentMap } from "../../lifecycle/recent-map.ts";

/** Threads whose rows are numbered on, at least; a thread that is forgotten begins again. */
const THREADS = 20_000;

/**
 * The log that the rows of recordings are written to: those that come without an event id get one of
 * their own, so that reading a file again does not write its rows again.
 */
export class NamedRows implements SessionLog {
  readonly #log: NdjsonSessionLog;
  readonly #numbers = new RecentMap<number>(THREADS);

  constructor(log: NdjsonSessionLog) {
    this.#log = log;
  }

  append(key: ThreadKey, entries: readonly AuditEntry[]): Promise<RowAnchor> {
    return this.#log.append(key, this.#named(key, entries));
  }

  appendFor(key: ThreadKey, entries: readonly AuditEntry[], waiter: RowWaiter): Promise<void> {
    return this.#log.appendFor(key, this.#named(key, entries), waiter);
  }

  loadSince(key: ThreadKey, cursor: number): Promise<readonly AuditRow[]> {
    return this.#log.loadSince(key, cursor);
  }

  archiveBefore(key: ThreadKey, watermark: number): Promise<number> {
    return this.#log.archiveBefore(key, watermark);
  }

  #named(key: ThreadKey, entries: readonly AuditEntry[]): readonly AuditEntry[] {
    const thread = threadText(key);
    const first = this.#numbers.get(thread) ?? 0;
    this.#numbers.set(thread, first + entries.length);
    return entries.map((entry, n) =>
      entry.event_id ? entry : { ...entry, event_id: rowId(thread, first + n, entry) },
    );
  }
}

/** What a row is known by that has no id: its thread, its place there and what it says. */
function rowId(thread: string, number: number, { event }: AuditEntry): string {
  const hash = createHash("sha256").update(`${thread}\0${number}\0${encodeGraphEvent(event)}`);
  return `row-${hash.digest("hex").slice(0, 32)}`;
}
