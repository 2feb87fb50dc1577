import { checkEach, checkWhole, RecentMap, wholeFrom } from "../events/door.ts";
import {
  type AuditEntry,
  type AuditRow,
  EMPTY_THREAD,
  namedThread,
  type RowAnchor,
  type ThreadKey,
} from "./audit-row.ts";
import { type ChainEnd, chainEntries, encodeEntry } from "./row-text.ts";
import { DEFAULT_EVENT_IDS, type SessionLog } from "./session-log.ts";
import { type StoredRow, withEvent } from "./stored-row.ts";

interface MemoryThread extends ChainEnd {
  readonly rows: StoredRow[];
  watermark: number;
}

/**
 * A {@link SessionLog} in memory, for tests and single runs. It keeps every row, including archived ones, so its
 * memory grows with the number of rows. For a service use `NdjsonSessionLog`.
 *
 * @example
 * const log = new MemorySessionLog();
 * await log.append({ tenant_id: "acme", thread_id: "t1" }, [{ event }]);
 */
export class MemorySessionLog implements SessionLog {
  readonly #threads = new Map<string, MemoryThread>();
  readonly #seen: RecentMap<RowAnchor>;

  /**
   * @param options.eventIds event IDs remembered, at least. Default 100,000.
   * @throws RangeError if `eventIds` is not a whole number from 1.
   */
  constructor(options: { readonly eventIds?: number } = {}) {
    const { eventIds = DEFAULT_EVENT_IDS } = checkEach(options, { eventIds: wholeFrom(1) });
    this.#seen = new RecentMap(eventIds);
  }

  async append(key: ThreadKey, entries: readonly AuditEntry[]): Promise<RowAnchor> {
    const named = namedThread(key);
    const encoded = entries.map((entry) => encodeEntry(entry, named));
    const { name, tenant_id, thread_id } = named;
    const fresh = () => ({ tenant_id, thread_id, ...EMPTY_THREAD, rows: [], watermark: 0 });
    const thread = this.#threads.get(name) ?? fresh();
    const anchor = chainEntries(thread, encoded, {
      anchorOf: (event) => this.#seen.get(event),
      addRow: ({ hash, ordinal }, { event_name, ...facts }, { hash: prev }) => {
        thread.rows.push({ tenant_id, thread_id, ordinal, prev, hash, ...facts, erased: false });
        if (event_name !== null) this.#seen.set(event_name, { ordinal, hash });
      },
    });
    if (thread.rows.length > 0) this.#threads.set(name, thread);
    return anchor;
  }

  async loadSince(key: ThreadKey, cursor: number): Promise<readonly AuditRow[]> {
    const { name } = namedThread(key);
    checkWhole(cursor, "cursor");
    const thread = this.#threads.get(name);
    if (thread === undefined) return [];
    const live = thread.rows.slice(Math.max(cursor, thread.watermark));
    return live.map(withEvent).filter((row) => row !== undefined);
  }

  async archiveBefore(key: ThreadKey, watermark: number): Promise<number> {
    const { name } = namedThread(key);
    checkWhole(watermark, "watermark");
    const thread = this.#threads.get(name);
    if (thread === undefined) return 0;
    const before = thread.watermark;
    thread.watermark = Math.max(before, Math.min(watermark, thread.rows.length));
    return thread.watermark - before;
  }
}
