import { hashOfId, type RunIds } from "../../events/door.ts";
import type { Call } from "./part.ts";
import { Run } from "./run.ts";
import { Tree } from "./tree.ts";

/** Makes a driver's handle of a closed run small, and restores it. */
export interface RunMemory<H> {
  /** A number if the handle's IDs can be derived again, else the handle itself. */
  condense(run: Run<H>): H | number;
  restore(run: Run<H>, memory: H | number): H;
}

/** Receives the runs that are dropped. */
interface Forgetting<H> {
  /** A run that was stored as an object. */
  run(run: Run<H>): void;
  /** The foreign trace of a dropped run. */
  inOtherTrace(traceId: string): void;
}

/** Data of a closed run that does not fit into numbers. */
interface Rest<H> {
  /** The trace, if it is not the run's own. */
  readonly traceId: string | undefined;
  readonly parentRunId: string | undefined;
  readonly rootRunId: string;
  readonly root: boolean;
  readonly handle: H | undefined;
}

/** Words of a slot: the run's 16 bytes, its numbers, the range of its calls in the ring, one unused. */
const WORDS = 8;
const NUMBERS = 4;
const CALLS_FROM = 5;
const CALLS_TO = 6;
const REFUSED = 1 << 29;
const FAILED = 1 << 30;
const SEGMENT_SHIFT = 9;
const MOST_SEGMENTS = 1 << 16;

/**
 * The runs that ended last. They are parents of late children, and show repeated and late events.
 *
 * A run that completed or failed is stored as numbers in typed arrays, under its 16 bytes. There are
 * thousands, and few are looked up again. As objects, every garbage collection copied them, which took a
 * tenth of the time. Runs that can continue (interrupted, abandoned, presumed ended) are stored as
 * objects. When the table is full, the run that ended first is dropped.
 */
export class ClosedRuns<H> {
  readonly #size: number;
  /** {@link WORDS} for each slot, so that one run is one piece of memory. */
  readonly #words: Int32Array;
  /**
   * Hash index with open addressing and linear probing. An entry is slot + 1, or 0, with bits of the
   * key's hash above it. Entries of reused slots stay until the index is rebuilt, since removing each one
   * costs two cache misses for every run. For the same reason the newest runs are added only on a
   * lookup, which is rare if IDs grow with time.
   */
  readonly #index: Int32Array;
  readonly #slotBits: number;
  /** Runs that can be added before the index is rebuilt. */
  #spare: number;
  /** Number of the newest runs that are not in the index yet. */
  #pending = 0;
  readonly #tenants: (string | undefined)[];
  readonly #agents: (string | undefined)[];
  readonly #threads: (string | undefined)[];
  /** Runs stored as objects, and data that does not fit into numbers. */
  readonly #objects: (Run<H> | Rest<H> | undefined)[];
  readonly #calls: ClosedCalls;
  readonly #memory: RunMemory<H>;
  readonly #forgetting: Forgetting<H>;
  #next = 0;
  /** The first words of the greatest ID that was ever added. */
  #greatest0 = 0;
  #greatest1 = 0;
  #greatest2 = 0;

  constructor(size: number, calls: ClosedCalls, memory: RunMemory<H>, forgetting: Forgetting<H>) {
    this.#size = size;
    this.#calls = calls;
    this.#memory = memory;
    this.#forgetting = forgetting;
    this.#words = new Int32Array(size * WORDS);
    this.#index = new Int32Array(2 ** Math.ceil(Math.log2((size + sparesOf(size)) * 2 + 1)));
    this.#slotBits = 2 ** Math.ceil(Math.log2(size + 2)) - 1;
    this.#spare = sparesOf(size);
    this.#tenants = new Array<string | undefined>(size).fill(undefined);
    this.#agents = new Array<string | undefined>(size).fill(undefined);
    this.#threads = new Array<string | undefined>(size).fill(undefined);
    this.#objects = new Array<Run<H> | Rest<H> | undefined>(size).fill(undefined);
  }

  /** The tenant of the closed run with these 16 bytes. */
  tenantOf(ids: RunIds): string | undefined {
    const slot = this.#find(ids);
    return slot < 0 ? undefined : this.#tenants[slot];
  }

  /** The closed run with these 16 bytes, as an object. */
  get(ids: RunIds, runId: string): Run<H> | undefined {
    const slot = this.#find(ids);
    if (slot < 0) return undefined;
    const kept = this.#objects[slot];
    if (kept instanceof Run) return kept;
    const run = this.#restore(slot, ids, runId, kept);
    this.#objects[slot] = run;
    return run;
  }

  /**
   * Adds a run that has just closed.
   *
   * @returns whether another run was dropped for it.
   */
  add(run: Run<H>): boolean {
    const slot = this.#next;
    this.#next = slot + 1 === this.#size ? 0 : slot + 1;
    const full = this.#tenants[slot] !== undefined;
    if (full) this.#forget(slot);
    if (this.#pending < this.#size) this.#pending += 1;
    const { w0, w1, w2, w3 } = run.ids;
    if (this.#isGreatest(w0, w1, w2)) {
      this.#greatest0 = w0;
      this.#greatest1 = w1;
      this.#greatest2 = w2;
    }
    const words = this.#words;
    const key = slot * WORDS;
    words[key] = w0;
    words[key + 1] = w1;
    words[key + 2] = w2;
    words[key + 3] = w3;
    this.#tenants[slot] = run.tenantId;
    if (isOver(run)) this.#condense(slot, run);
    else this.#objects[slot] = run;
    return full;
  }

  /** Removes a run that opens again. */
  take(run: Run<H>): void {
    const slot = this.#find(run.ids);
    if (slot < 0) return;
    this.#tenants[slot] = undefined;
    this.#agents[slot] = undefined;
    this.#threads[slot] = undefined;
    this.#objects[slot] = undefined;
  }

  #condense(slot: number, run: Run<H>): void {
    const memory = this.#memory.condense(run);
    const flags = typeof memory === "number" ? memory : 0;
    const segment = Math.min(run.segment, MOST_SEGMENTS - 1);
    const outcome = run.outcome === "failed" ? FAILED : run.outcome === "refused" ? REFUSED : 0;
    const words = this.#words;
    const at = slot * WORDS;
    words[at + NUMBERS] = flags | (segment << SEGMENT_SHIFT) | outcome;
    this.#agents[slot] = run.agent;
    this.#threads[slot] = run.threadId;
    words[at + CALLS_FROM] = this.#calls.position;
    if (run.toolCalls > 0) run.history.moveTo(this.#calls);
    words[at + CALLS_TO] = this.#calls.position;
    const plain = run.root && run.traceId === run.ids.traceId && typeof memory === "number";
    if (plain) return;
    this.#objects[slot] = {
      traceId: run.traceId === run.ids.traceId ? undefined : run.traceId,
      parentRunId: run.parentRunId,
      rootRunId: run.rootRunId,
      root: run.root,
      handle: typeof memory === "number" ? undefined : memory,
    };
  }

  #restore(slot: number, ids: RunIds, runId: string, rest: Rest<H> | undefined): Run<H> {
    const words = this.#words;
    const at = slot * WORDS;
    const numbers = words[at + NUMBERS] ?? 0;
    const never = new Tree<H>([0, 0]);
    const run = new Run<H>(this.#tenants[slot] ?? "", runId, ids, never.lastAt, never);
    run.open = false;
    run.agent = this.#agents[slot];
    run.threadId = this.#threads[slot];
    run.outcome = numbers & FAILED ? "failed" : numbers & REFUSED ? "refused" : "complete";
    run.segment = (numbers >> SEGMENT_SHIFT) & (MOST_SEGMENTS - 1);
    if (rest !== undefined) {
      run.traceId = rest.traceId ?? ids.traceId;
      run.parentRunId = rest.parentRunId;
      run.rootRunId = rest.rootRunId;
      run.root = rest.root;
    }
    run.history.restore(ids, this.#calls, words[at + CALLS_FROM] ?? 0, words[at + CALLS_TO] ?? 0);
    const flags = numbers & ((1 << SEGMENT_SHIFT) - 1);
    run.handle = this.#memory.restore(run, rest?.handle ?? flags);
    return run;
  }

  /**
   * Whether an ID is greater than all that were added. UUIDs of version 7 grow with time, so this shows
   * without a lookup that a new run is not in the table.
   */
  #isGreatest(w0: number, w1: number, w2: number): boolean {
    if (w0 !== this.#greatest0) return w0 >>> 0 > this.#greatest0 >>> 0;
    if (w1 !== this.#greatest1) return w1 >>> 0 > this.#greatest1 >>> 0;
    return w2 >>> 0 > this.#greatest2 >>> 0;
  }

  #find(ids: RunIds): number {
    if (this.#isGreatest(ids.w0, ids.w1, ids.w2)) return -1;
    if (this.#pending > 0) this.#enterPending();
    const index = this.#index;
    const mask = index.length - 1;
    const slots = this.#slotBits;
    const hash = hashOfId(ids, 0);
    for (let at = hash & mask; ; at = (at + 1) & mask) {
      const entry = index[at] ?? 0;
      if (entry === 0) return -1;
      if (((entry ^ hash) & ~slots) !== 0) continue;
      const slot = (entry & slots) - 1;
      const words = this.#words;
      const key = slot * WORDS;
      if (
        words[key + 3] === ids.w3 &&
        words[key + 2] === ids.w2 &&
        words[key + 1] === ids.w1 &&
        words[key] === ids.w0 &&
        this.#tenants[slot] !== undefined
      ) {
        return slot;
      }
    }
  }

  #forget(slot: number): void {
    const kept = this.#objects[slot];
    if (kept === undefined) return;
    this.#objects[slot] = undefined;
    if (kept instanceof Run) {
      this.#forgetting.run(kept);
      if (kept.traceId !== kept.ids.traceId) this.#forgetting.inOtherTrace(kept.traceId);
    } else if (kept.traceId !== undefined) this.#forgetting.inOtherTrace(kept.traceId);
  }

  #enterPending(): void {
    const pending = this.#pending;
    this.#pending = 0;
    if (pending > this.#spare) {
      this.#index.fill(0);
      this.#spare = sparesOf(this.#size);
      for (let slot = 0; slot < this.#size; slot++) this.#enter(slot);
      return;
    }
    this.#spare -= pending;
    for (let n = pending; n > 0; n--) {
      const slot = this.#next - n;
      this.#enter(slot < 0 ? slot + this.#size : slot);
    }
  }

  #enter(slot: number): void {
    if (this.#tenants[slot] === undefined) return;
    const words = this.#words;
    const key = slot * WORDS;
    const word = (n: number) => words[key + n] ?? 0;
    const hash = hashOfId({ w0: word(0), w1: word(1), w2: word(2), w3: word(3) }, 0);
    const index = this.#index;
    const mask = index.length - 1;
    let at = hash & mask;
    while (index[at] !== 0) at = (at + 1) & mask;
    index[at] = (slot + 1) | (hash & ~this.#slotBits);
  }
}

/** As many as the table holds, since a rebuild of the index costs as much as adding all of them. */
function sparesOf(size: number): number {
  return size;
}

/** Whether a run that has ended cannot continue. */
export function isOver<H>({ outcome, supposedAt }: Run<H>): boolean {
  return supposedAt === undefined && outcome !== "interrupted" && outcome !== "abandoned";
}

/**
 * The call IDs of closed runs, as words of their span IDs in one ring of numbers. The newest overwrite the
 * oldest. The ring costs no garbage collection.
 *
 * A run stores its range of the ring. When the ring has wrapped around, the run's calls are lost. A
 * collision of words only makes a late tool end count as a repeat.
 */
export class ClosedCalls {
  /** Two for each call: the first word of its span ID, and its occurrence. */
  readonly #words: Int32Array;
  readonly #mask: number;
  #written = 0;

  /** @param least number of calls that are stored at least. */
  constructor(least: number) {
    const size = 2 ** Math.ceil(Math.log2(Math.max(least, 16)));
    this.#words = new Int32Array(size * 2);
    this.#mask = size - 1;
  }

  /** Start of the next run's calls: a 32-bit number that wraps around. */
  get position(): number {
    return this.#written;
  }

  add<H>(call: Call<H>): void {
    const at = (this.#written & this.#mask) * 2;
    this.#words[at] = call.high;
    this.#words[at + 1] = call.occurrence;
    this.#written = (this.#written + 1) | 0;
  }

  /** Number of calls with this ID in a run whose calls are in the ring from `from` to `to`. */
  occurrences(ids: RunIds, id: string, from: number, to: number): number {
    const count = (to - from) >>> 0;
    const overwritten = ((this.#written - from) >>> 0) - this.#mask - 1;
    let most = 0;
    for (let n = Math.max(overwritten, 0); n < count; n++) {
      const at = ((from + n) & this.#mask) * 2;
      const occurrence = this.#words[at + 1] ?? 0;
      if (occurrence <= most) continue;
      if (this.#words[at] === ids.childWords("t", id, occurrence).h1) most = occurrence;
    }
    return most;
  }
}
