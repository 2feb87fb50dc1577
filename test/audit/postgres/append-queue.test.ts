import { setImmediate as turn } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import type { RowAnchor } from "../../../src/audit/audit-row.ts";
import type { AppendCall } from "../../../src/audit/postgres/append-batch.ts";
import { AppendQueue, type AppendQueueOptions } from "../../../src/audit/postgres/append-queue.ts";
import { coded } from "./support/fake-pool.ts";
import { call } from "./support/named-entries.ts";

/** A store that is told when to answer: each write waits for its turn. */
class Store {
  readonly writes: (readonly AppendCall[])[] = [];
  readonly #waiting: ((answer: Error | undefined) => void)[] = [];
  readonly write = async (calls: readonly AppendCall[]): Promise<readonly RowAnchor[]> => {
    this.writes.push(calls);
    const error = await new Promise<Error | undefined>((answer) => this.#waiting.push(answer));
    if (error !== undefined) throw error;
    return calls.map((_, n) => ({ ordinal: n + 1, hash: `write ${this.writes.length}` }));
  };

  async answer(error?: Error): Promise<void> {
    await turn();
    const next = this.#waiting.shift();
    if (next === undefined) throw new Error("nothing is being written");
    next(error);
    await turn();
  }

  threads(): string[][] {
    return this.writes.map((calls) => calls.map(({ thread }) => thread.thread_id));
  }
}

function queueOf(
  write: AppendQueueOptions["write"],
  options: Partial<AppendQueueOptions> = {},
): AppendQueue {
  return new AppendQueue({ write, each: false, lockMs: 30_000, maxLockedBytes: 1e6, ...options });
}

function outcome(promise: Promise<RowAnchor>): Promise<string> {
  return promise.then(
    ({ hash, ordinal }) => `${hash}, ${ordinal}`,
    (error: unknown) => String(error),
  );
}

describe("AppendQueue", () => {
  it("stores together what waits together, one write at a time", async () => {
    const store = new Store();
    const queue = queueOf(store.write);
    const first = [outcome(queue.push(call("a", "1"))), outcome(queue.push(call("b", "2")))];
    await turn();
    const later = [outcome(queue.push(call("c", "3"))), outcome(queue.push(call("a")))];
    await turn();
    expect(store.threads()).toEqual([["a", "b"]]);
    expect(queue.bytes).toBeGreaterThan(4 * 256);
    await store.answer();
    expect(store.threads()).toEqual([
      ["a", "b"],
      ["c", "a"],
    ]);
    await store.answer();
    expect(await Promise.all(first)).toEqual(["write 1, 1", "write 1, 2"]);
    expect(await Promise.all(later)).toEqual(["write 2, 1", "write 2, 2"]);
    await queue.drained();
    expect(queue.bytes).toBe(0);
  });

  it("bounds a write by its entries and its bytes, and takes one call at least", async () => {
    const store = new Store();
    const queue = queueOf(store.write);
    const many = Array.from({ length: 600 }, (_, n) => `e${n}`);
    const large = call("large", "x".repeat(4000));
    const [one] = large.entries;
    if (one === undefined) throw new Error("no entry");
    const text = "x".repeat(5 * 1024 * 1024);
    const huge = { ...large, entries: [{ ...one, event_text: text }] };
    const pushed = [call("a", ...many), call("b", ...many), huge, call("c", "1")].map((each) =>
      outcome(queue.push(each)),
    );
    for (let n = 0; n < 4; n += 1) await store.answer();
    await Promise.all(pushed);
    expect(store.threads()).toEqual([["a"], ["b"], ["large"], ["c"]]);
  });

  it("gives each call a write of its own where that is wanted", async () => {
    const store = new Store();
    const queue = queueOf(store.write, { each: true });
    const pushed = [call("a", "1"), call("a", "2")].map((each) => outcome(queue.push(each)));
    await store.answer();
    await store.answer();
    expect(await Promise.all(pushed)).toEqual(["write 1, 1", "write 2, 1"]);
  });

  it("rejects with a failed write all that waits behind it, and goes on with what comes later", async () => {
    const store = new Store();
    const queue = queueOf(store.write);
    const first = outcome(queue.push(call("a", "1")));
    await turn();
    const behind = outcome(queue.push(call("a", "2")));
    await store.answer(new Error("away"));
    expect(await first).toBe("Error: away");
    expect(await behind).toBe("Error: away");
    expect(store.writes).toHaveLength(1);
    expect(queue.bytes).toBe(0);
    const later = outcome(queue.push(call("a", "2")));
    await store.answer();
    expect(await later).toBe("write 2, 1");
  });

  it("finds the one call that can't be stored, and stores the others in their order", async () => {
    const writes: string[][] = [];
    const queue = queueOf(async (calls) => {
      const threads = calls.map(({ thread }) => thread.thread_id);
      writes.push(threads);
      if (threads.includes("bad")) throw coded("23000", "refused");
      return calls.map(() => ({ ordinal: 1, hash: "stored" }));
    });
    const names = ["a", "b", "c", "bad", "d"];
    const pushed = names.map((name) => outcome(queue.push(call(name, "1"))));
    expect(await Promise.all(pushed)).toEqual([
      "stored, 1",
      "stored, 1",
      "stored, 1",
      "Error: refused",
      "stored, 1",
    ]);
    expect(writes).toEqual([names, ["a", "b", "c"], ["bad", "d"], ["bad"], ["d"]]);
    expect(queue.bytes).toBe(0);
  });

  it("stops dividing when the server goes away meanwhile", async () => {
    const writes: string[][] = [];
    const queue = queueOf(async (calls) => {
      writes.push(calls.map(({ thread }) => thread.thread_id));
      throw writes.length === 1 ? coded("23000", "refused") : new Error("away");
    });
    const pushed = ["a", "b", "c"].map((name) => outcome(queue.push(call(name, "1"))));
    expect(await Promise.all(pushed)).toEqual(Array(3).fill("Error: away"));
    expect(writes).toEqual([
      ["a", "b", "c"],
      ["a", "b"],
    ]);
    expect(queue.bytes).toBe(0);
  });
});
