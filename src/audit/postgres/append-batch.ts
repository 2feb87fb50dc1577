import { createHash } from "node:crypto";
import { isCount } from "../../events/door.ts";
import type { NamedThread, RowAnchor } from "../audit-row.ts";
import type { EntryText } from "../row-text.ts";
import { binaryArray, int4Array, TYPES, textArray } from "./binary-array.ts";
import type { PgResult } from "./pg-pool.ts";
import { storedText } from "./stored-rows.ts";

/** The entries of one call. Without entries it is a probe. */
export interface AppendCall {
  readonly thread: NamedThread;
  readonly entries: readonly EntryText[];
}

/** A thread's name in the database: SHA-256 of `JSON.stringify([tenant_id, thread_id])`. */
export function threadName(thread: Pick<NamedThread, "tenant_id" | "thread_id">): Buffer {
  return sha256(JSON.stringify([thread.tenant_id, thread.thread_id]));
}

/** Several calls as the parameters of one statement, and its result as their answers. */
export class AppendBatch {
  readonly #calls: readonly AppendCall[];
  /** Positions of the threads in the statement, from 1, by thread name. */
  readonly #positions = new Map<string, number>();
  readonly #threads: NamedThread[] = [];

  constructor(calls: readonly AppendCall[]) {
    this.#calls = calls;
    for (const { thread } of calls) {
      if (this.#positions.has(thread.name)) continue;
      this.#threads.push(thread);
      this.#positions.set(thread.name, this.#threads.length);
    }
  }

  /** In the order of the parameters of `append_rows`, from `p_names` on. */
  parameters(): Buffer[] {
    const positions: number[] = [];
    const entries: EntryText[] = [];
    for (const call of this.#calls) {
      const position = this.#positionOf(call);
      for (const entry of call.entries) {
        positions.push(position);
        entries.push(entry);
      }
    }
    const ids = (pick: (entry: EntryText) => string | null) =>
      textArray(entries.map((entry) => stored(pick(entry))));
    return [
      binaryArray(TYPES.bytea, this.#threads.map(threadName)),
      textArray(this.#threads.map(({ tenant_id }) => storedText(tenant_id))),
      textArray(this.#threads.map(({ thread_id }) => storedText(thread_id))),
      int4Array(positions),
      ids(({ run_id }) => run_id),
      ids(({ event_id }) => event_id),
      binaryArray(
        TYPES.uuid,
        entries.map(({ event_id }) => (event_id === null ? null : eventKey(event_id))),
      ),
      ids(({ trace_id }) => trace_id),
      ids(({ span_id }) => span_id),
      binaryArray(
        TYPES.bytea,
        entries.map(({ digest }) => Buffer.from(digest, "hex")),
      ),
      textArray(entries.map(({ event_text }) => event_text)),
    ];
  }

  /**
   * The answer to each call, in their order. `undefined` if its thread was left out because another transaction has
   * locked it. Then nothing of the call was stored.
   *
   * @throws Error if the result does not answer the calls.
   */
  anchors({ rows }: PgResult): (RowAnchor | undefined)[] {
    const found = new Map<number, RowAnchor>();
    for (const { hash, ordinal, place: position } of rows) {
      const at = Number(ordinal);
      if (typeof position !== "number" || typeof hash !== "string" || !isCount(at)) {
        throw new Error("audit log: append_rows answered with something else than rows");
      }
      found.set(position, { ordinal: at, hash });
    }
    const heads = this.#threads.map((_, index) => found.get(-1 - index));
    let next = 1;
    return this.#calls.map((call) => {
      const thread = this.#positionOf(call) - 1;
      const head = heads[thread];
      if (head === undefined) {
        next += call.entries.length;
        return undefined;
      }
      let highest: RowAnchor | undefined;
      for (const _ of call.entries) {
        const anchor = found.get(next);
        if (anchor === undefined) throw new Error(`audit log: no answer for entry ${next}`);
        if (highest === undefined || anchor.ordinal > highest.ordinal) highest = anchor;
        next += 1;
      }
      if (highest !== undefined && highest.ordinal > head.ordinal) heads[thread] = highest;
      return highest ?? head;
    });
  }

  #positionOf({ thread }: AppendCall): number {
    const position = this.#positions.get(thread.name);
    if (position === undefined) throw new Error(`no position for thread ${thread.name}`);
    return position;
  }
}

function stored(id: string | null): string | null {
  return id === null ? null : storedText(id);
}

/** The key of an event in its thread: the first 16 bytes of the SHA-256 of its stored ID. */
export function eventKey(id: string): Buffer {
  return sha256(storedText(id)).subarray(0, 16);
}

function sha256(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
