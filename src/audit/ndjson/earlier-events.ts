import { hashedWords, hashOfId, IdTable, RecentMap } from "../../events/door.ts";
import type { NamedThread, RowAnchor } from "../audit-row.ts";
import type { EntryText } from "../row-text.ts";
import { type EventCache, type EventRow, rowsWithEvents } from "./event-cache.ts";
import type { SealedSegment, SegmentStore } from "./segment-store.ts";
import type { ThreadTable } from "./thread-table.ts";

export interface EarlierEventsOptions {
  readonly store: SegmentStore;
  readonly table: ThreadTable;
  readonly events: EventCache;
  /** Memory for the tables of segments. */
  readonly maxBytes: number;
}

/** The sealed segments that may hold a thread, newest first. */
interface HoldingSegments {
  readonly segments: readonly SealedSegment[];
  /** More segments may hold the thread than the tables have memory for. */
  readonly more: boolean;
  /** The list of sealed segments from which this was computed. */
  readonly of: readonly SealedSegment[];
}

interface KeptTable {
  /** `undefined` if the segment's file is gone. */
  readonly table: Promise<EventTable | undefined>;
  readonly bytes: number;
}

/** Threads whose segments are cached. */
const THREADS = 20_000;

/**
 * Finds the rows of events in sealed segments. It builds a table of each segment when it is needed, from the segment
 * itself. So it does not depend on files that may be missing or wrong.
 *
 * It searches the newest segments that hold the thread, as many as fit into `maxBytes`. No segment holds a new
 * thread.
 */
export class EarlierEvents {
  readonly #options: EarlierEventsOptions;
  readonly #holding = new RecentMap<HoldingSegments>(THREADS);
  /** By segment number. The tables that were used last are at the end. */
  readonly #tables = new Map<number, KeptTable>();
  #bytes = 0;
  #reading: Promise<unknown> = Promise.resolve();
  #unsearched = 0;

  constructor(options: EarlierEventsOptions) {
    this.#options = options;
  }

  /** Events treated as new although not all segments with their thread could be searched. */
  get unsearched(): number {
    return this.#unsearched;
  }

  /** Whether segments have to be searched to know that the entries are new. */
  mustSearch(thread: NamedThread, entries: readonly EntryText[]): boolean {
    return this.#holdingOf(thread).segments.length > 0 && this.#unknown(entries).length > 0;
  }

  /**
   * Finds the stored rows of the entries' events, in the cache and in sealed segments. Every other event is queued or
   * new.
   */
  async search(
    thread: NamedThread,
    entries: readonly EntryText[],
  ): Promise<ReadonlyMap<string, RowAnchor>> {
    const found = new Map<string, RowAnchor>();
    for (;;) {
      const { more, of, segments } = this.#holdingOf(thread);
      let left = this.#unknown(entries);
      let allRead = !more;
      for (const segment of segments) {
        if (left.length === 0) break;
        const table = await this.#tableOf(segment);
        if (table === undefined) {
          allRead = false;
          continue;
        }
        for (const name of left) {
          const anchor = table.anchorOf(name);
          if (anchor !== undefined) found.set(name, anchor);
        }
        left = left.filter((name) => !found.has(name));
      }
      // A segment was sealed meanwhile, which removed its events from the cache.
      if (of !== this.#options.table.sealed) continue;
      if (!allRead) this.#unsearched += left.length;
      // A segment may be sealed before the caller goes on, which removes events from the cache.
      for (const { event_name: name } of entries) {
        if (name === null || this.#options.events.isQueued(name)) continue;
        const anchor = this.#options.events.anchorOf(name);
        if (anchor !== undefined) found.set(name, anchor);
      }
      return found;
    }
  }

  #unknown(entries: readonly EntryText[]): readonly string[] {
    const names: string[] = [];
    for (const { event_name: name } of entries) {
      if (name !== null && this.#options.events.anchorOf(name) === undefined) names.push(name);
    }
    return names;
  }

  #holdingOf(thread: NamedThread): HoldingSegments {
    const { maxBytes, table } = this.#options;
    const known = this.#holding.get(thread.name);
    if (known?.of === table.sealed) return known;
    const all = table.sealedWith(thread).toReversed();
    let bytes = 0;
    const past = all.findIndex((segment) => {
      bytes += bytesOf(segment);
      return bytes > maxBytes;
    });
    const segments = past < 0 ? all : all.slice(0, Math.max(1, past));
    const holding = { segments, more: segments.length < all.length, of: table.sealed };
    this.#holding.set(thread.name, holding);
    return holding;
  }

  #tableOf(segment: SealedSegment): Promise<EventTable | undefined> {
    const { number } = segment;
    const kept = this.#tables.get(number) ?? this.#read(segment);
    this.#tables.delete(number);
    this.#tables.set(number, kept);
    return kept.table;
  }

  #read(segment: SealedSegment): KeptTable {
    const { maxBytes, store } = this.#options;
    // One at a time: reading a segment takes more memory than its table.
    const table = this.#reading.then(async () => {
      const rows = await rowsWithEvents(store, segment.number);
      return rows && new EventTable(rows);
    });
    this.#reading = table.catch(() => this.#drop(segment.number));
    const bytes = bytesOf(segment);
    this.#bytes += bytes;
    for (const number of this.#tables.keys()) {
      if (this.#bytes <= maxBytes) break;
      this.#drop(number);
    }
    return { table, bytes };
  }

  #drop(number: number): void {
    this.#bytes -= this.#tables.get(number)?.bytes ?? 0;
    this.#tables.delete(number);
  }
}

function bytesOf({ rows }: SealedSegment): number {
  return rows * TABLE_ROW_BYTES;
}

const HASH_BYTES = 32;
/** A table needs only one owner for all its names. */
const OWNER = 0;

/** Bytes of a table for each of its rows, at most. */
const TABLE_ROW_BYTES = 72;

/**
 * The rows of a sealed segment's events. It never drops an event. Names are stored as 128 bits of their SHA-256, so
 * that the memory of a row does not depend on the length of its IDs.
 */
class EventTable {
  readonly #names: IdTable;
  /** By position of the name: the hash and the ordinal of its last row. */
  readonly #hashes: Buffer;
  readonly #ordinals: Float64Array;

  constructor(rows: readonly EventRow[]) {
    this.#names = new IdTable(rows.length);
    this.#hashes = Buffer.alloc(rows.length * HASH_BYTES);
    this.#ordinals = new Float64Array(rows.length);
    for (const { name, anchor } of rows) {
      const id = hashedWords(name);
      const hash = hashOfId(id, OWNER);
      this.#names.add(id, OWNER, hash);
      const position = this.#names.positionOf(id, OWNER, hash);
      this.#hashes.write(anchor.hash, position * HASH_BYTES, "hex");
      this.#ordinals[position] = anchor.ordinal;
    }
  }

  /** The last row in the segment of the event with this name. */
  anchorOf(name: string): RowAnchor | undefined {
    const id = hashedWords(name);
    const position = this.#names.positionOf(id, OWNER, hashOfId(id, OWNER));
    const ordinal = this.#ordinals[position];
    if (ordinal === undefined) return undefined;
    const at = position * HASH_BYTES;
    return { ordinal, hash: this.#hashes.toString("hex", at, at + HASH_BYTES) };
  }
}
