import { createHash } from "node:crypto";
import {
  type AuditEntry,
  type AuditRow,
  encodeGraphEvent,
  isUpstreamKind,
  type RowAnchor,
  type RowWaiter,
  reportWhenStored,
  type SessionLog,
  type ThreadKey,
  threadText,
} from "../../audit/door.ts";
import type { Bridge } from "../../bridge/door.ts";
import { RecentMap } from "../../events/door.ts";
import {
  type AnyRuntime,
  type Mapping,
  playerOf,
  type RecordedEvent,
  type SignalPlayer,
  Tally,
} from "../../replay/door.ts";

/** The audit log of a replay: counts the rows by kind. */
export class ProjectedLog implements SessionLog {
  /** Rows so far, including those that the log already contained. */
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

/** Counts the events without an audit row, by type. */
export class Unprojected {
  readonly #log: ProjectedLog;
  readonly #types = new Tally();
  /** Events that the mapping counts as unprojected although their signals made a row. */
  readonly #withRows = new Tally();
  readonly #mappings: Mapping<RecordedEvent>[] = [];

  constructor(log: ProjectedLog) {
    this.#log = log;
  }

  /** The runtime with counted events. */
  counted(runtime: AnyRuntime): AnyRuntime {
    return { ...runtime, player: (bridge, tenant) => this.#player(runtime, bridge, tenant) };
  }

  /** Events without a row, by type. Complete after the end of the replay. */
  get counts(): Readonly<Record<string, number>> {
    const all = new Map(this.#types.counts);
    for (const { unprojected } of this.#mappings) {
      for (const [type, count] of unprojected) all.set(type, (all.get(type) ?? 0) + count);
    }
    for (const [type, count] of this.#withRows.counts) all.set(type, (all.get(type) ?? 0) - count);
    return Object.fromEntries([...all].filter(([, count]) => count > 0));
  }

  #player(runtime: AnyRuntime, bridge: Bridge, tenant: string): SignalPlayer<RecordedEvent> {
    if (runtime.mapping !== undefined) {
      const mapping = runtime.mapping(tenant);
      this.#mappings.push(mapping);
      return this.#watched(playerOf(bridge, mapping, tenant), mapping);
    }
    const player = runtime.player(bridge, tenant);
    return {
      take: (event, envelope) => {
        const before = this.#log.rows;
        const taken = player.take(event, envelope);
        // `take` appends the row of an event before it returns.
        if (this.#log.rows === before) this.#types.add(typeOf(event));
        return taken;
      },
      keepAlive: (value, envelope) => player.keepAlive(value, envelope),
      end: () => player.end(),
    };
  }

  /** The start or end of a run makes rows even if its event has no row. */
  #watched(
    player: SignalPlayer<RecordedEvent>,
    { unprojected }: Mapping<RecordedEvent>,
  ): SignalPlayer<RecordedEvent> {
    return {
      take: (event, envelope) => {
        const type = typeOf(event);
        const rows = this.#log.rows;
        const counted = unprojected.get(type) ?? 0;
        const taken = player.take(event, envelope);
        if (this.#log.rows > rows && (unprojected.get(type) ?? 0) > counted)
          this.#withRows.add(type);
        return taken;
      },
      keepAlive: (value, envelope) => player.keepAlive(value, envelope),
      end: () => player.end(),
    };
  }
}

function typeOf(event: RecordedEvent): string {
  return "type" in event ? event.type : "_other";
}

/** Least number of threads whose row numbers are kept. A dropped thread starts again at 0. */
const THREADS = 20_000;

/**
 * Gives an event ID to rows without one, so that another replay of a file does not write them again.
 */
export class NamedRows implements SessionLog {
  readonly #log: SessionLog;
  readonly #numbers = new RecentMap<number>(THREADS);

  constructor(log: SessionLog) {
    this.#log = log;
  }

  append(key: ThreadKey, entries: readonly AuditEntry[]): Promise<RowAnchor> {
    return this.#log.append(key, this.#named(key, entries));
  }

  appendFor(key: ThreadKey, entries: readonly AuditEntry[], waiter: RowWaiter): Promise<void> {
    const named = this.#named(key, entries);
    return (
      this.#log.appendFor?.(key, named, waiter) ??
      reportWhenStored(this.#log.append(key, named), waiter)
    );
  }

  loadSince(key: ThreadKey, cursor: number): Promise<readonly AuditRow[]> {
    return this.#log.loadSince(key, cursor);
  }

  archiveBefore(key: ThreadKey, watermark: number): Promise<number> {
    return this.#log.archiveBefore(key, watermark);
  }

  #named(key: ThreadKey, entries: readonly AuditEntry[]): readonly AuditEntry[] {
    const thread = threadText(key);
    return entries.map((entry) => {
      // Rows of this package's kinds have their own numbers, so that they do not change the IDs of other rows.
      const series = isUpstreamKind(entry.event.kind) ? thread : `${thread}\0own`;
      const number = this.#numbers.get(series) ?? 0;
      this.#numbers.set(series, number + 1);
      return entry.event_id ? entry : { ...entry, event_id: rowId(series, number, entry) };
    });
  }
}

/** An ID from thread, number in the thread, and event. */
function rowId(thread: string, number: number, { event }: AuditEntry): string {
  const hash = createHash("sha256").update(`${thread}\0${number}\0${encodeGraphEvent(event)}`);
  return `row-${hash.digest("hex").slice(0, 32)}`;
}
