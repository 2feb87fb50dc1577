import { hashedWords, hashOfId, IdTable, RecentMap } from "../../events/door.ts";
import type { NamedThread, RowAnchor } from "../audit-row.ts";
import type { EntryText } from "../entry-text.ts";
import { type EventCache, type EventRow, rowsWithEvents } from "./event-cache.ts";
import type { SealedSegment, SegmentStore } from "./segment-store.ts";
import type { ThreadTable } from "./thread-table.ts";

export interface EarlierEventsOptions {
  readonly store: SegmentStore;
  readonly table: ThreadTable;
  readonly events: EventCache;
  /** For the tables of segments. */
  readonly maxBytes: number;
}

/** The sealed segments that may hold a thread, the newest first. */
interface HoldingSegments {
  readonly segments: readonly SealedSegment[];
  /** There are more than the tables have room for. */
  readonly more: boolean;
  /** The list of sealed segments that this was computed from. */
  readonly of: readonly SealedSegment[];
}

interface KeptTable {
  /** `undefined` where the segment's file is gone. */
  readonly table: Promise<EventTable | undefined>;
  readonly bytes: number;
}

/** Threads of which the segments are known without a look at each. */
const THREADS = 20_000;

/**
 * Finds the rows of events that stand in sealed segments, by tables that are made of the segments
 * themselves when they are needed: nothing on the disk that could be missing or wrong is believed.
 *
 * Searched are the segments that hold the thread, no more than there is room for; for a new thread
 * none.
 */
export class EarlierEvents {
  readonly #options: EarlierEventsOptions;
  readonly #holding = new RecentMap<HoldingSegments>(THREADS);
  /** By number of the segment, the ones used last at the end. */
  readonly #tables = new Map<number, KeptTable>();
  #bytes = 0;
  #reading: Promise<unknown> = Promise.resolve();
  #unsearched = 0;

  constructor(options: EarlierEventsOptions) {
    this.#options = options;
  }

  /** Events taken for new although not all segments with their thread could be searched. */
  get unsearched(): number {
    return this.#unsearched;
  }

  /** Whether segments have to be searched to know that the entries are new. */
  mustSearch(thread: NamedThread, entries: readonly EntryText[]): boolean {
    return this.#holdingOf(thread).segments.length > 0 && this.#unknown(entries).length > 0;
  }

  /**
   * Where events of the entries stand in sealed segments. In the moment it resolves, every other one
   * is in the cache or new.
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
      // A segment sealed meanwhile took its events out of the cache.
      if (of !== this.#options.table.sealed) continue;
      if (!allRead) this.#unsearched += left.length;
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
    // One after the other: what is read of a segment takes more memory than its table.
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
/** The names of one table have one owner. */
const OWNER = 0;

/** What a table takes for each of its rows, at most. */
const TABLE_ROW_BYTES = 72;

/**
 * Where a sealed segment's events have their rows. It forgets nothing, and goes with its segment. Names
 * are known by 128 bits of their SHA-256, so that a row costs the same whatever its ids are.
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

  /** Where the last row is that the event of this name has in the segment. */
  anchorOf(name: string): RowAnchor | undefined {
    const id = hashedWords(name);
    const position = this.#names.positionOf(id, OWNER, hashOfId(id, OWNER));
    const ordinal = this.#ordinals[position];
    if (ordinal === undefined) return undefined;
    const at = position * HASH_BYTES;
    return { ordinal, hash: this.#hashes.toString("hex", at, at + HASH_BYTES) };
  }
}
