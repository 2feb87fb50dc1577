import { createHash } from "node:crypto";
import {
  type AuditEntry,
  type AuditRow,
  encodeGraphEvent,
  isUpstreamKind,
  type NdjsonSessionLog,
  type RowAnchor,
  type RowWaiter,
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

/** Counts, by type, the events of recordings that an audit log has no row for. */
export class Unprojected {
  readonly #log: ProjectedLog;
  readonly #types = new Tally();
  /** Events that a mapping has no row for, and whose signals left one. */
  readonly #told = new Tally();
  readonly #mappings: Mapping<RecordedEvent>[] = [];

  constructor(log: ProjectedLog) {
    this.#log = log;
  }

  /** The same runtime, its events counted on their way. */
  counted(runtime: AnyRuntime): AnyRuntime {
    return { ...runtime, player: (bridge, tenant) => this.#player(runtime, bridge, tenant) };
  }

  /** How many events of each type have no row. Whole once everything was played to its end. */
  get counts(): Readonly<Record<string, number>> {
    const all = new Map(this.#types.counts);
    for (const { unprojected } of this.#mappings) {
      for (const [type, count] of unprojected) all.set(type, (all.get(type) ?? 0) + count);
    }
    for (const [type, count] of this.#told.counts) all.set(type, (all.get(type) ?? 0) - count);
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
        // The row of an event is on its way as soon as the event was taken.
        if (this.#log.rows === before) this.#types.add(typeOf(event));
        return taken;
      },
      keepAlive: (value, envelope) => player.keepAlive(value, envelope),
      end: () => player.end(),
    };
  }

  /** A start or an end leaves rows also where its event has no row of its own. */
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
        if (this.#log.rows > rows && (unprojected.get(type) ?? 0) > counted) this.#told.add(type);
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
    return entries.map((entry) => {
      // Rows of our own kinds are numbered apart: those beside them keep the ids that they had before there
      // were any.
      const series = isUpstreamKind(entry.event.kind) ? thread : `${thread}\0own`;
      const number = this.#numbers.get(series) ?? 0;
      this.#numbers.set(series, number + 1);
      return entry.event_id ? entry : { ...entry, event_id: rowId(series, number, entry) };
    });
  }
}

/** What a row is known by that has no id: its thread, its place there and what it says. */
function rowId(thread: string, number: number, { event }: AuditEntry): string {
  const hash = createHash("sha256").update(`${thread}\0${number}\0${encodeGraphEvent(event)}`);
  return `row-${hash.digest("hex").slice(0, 32)}`;
}
