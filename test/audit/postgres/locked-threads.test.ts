import { describe, expect, it } from "vitest";
import type { RowAnchor } from "../../../src/audit/audit-row.ts";
import { AppendQueue, type AppendQueueOptions } from "../../../src/audit/postgres/append-queue.ts";
import { coded } from "./support/fake-pool.ts";
import { call } from "./support/named-entries.ts";

/** A store with threads that are locked, and what was written to it. */
class Store {
  readonly locked: Set<string>;
  /** Threads of each write and, behind them, how long it waited. */
  readonly writes: string[] = [];
  /** Event ids of what was stored, in order. */
  readonly stored: string[] = [];
  /** Called before each write. */
  before: (threads: readonly string[]) => void = () => {};

  constructor(...locked: string[]) {
    this.locked = new Set(locked);
  }

  readonly write: AppendQueueOptions["write"] = async (calls, waitMs) => {
    const threads = calls.map(({ thread }) => thread.thread_id);
    this.before(threads);
    this.writes.push(`${threads.join(" ")} ${waitMs}`);
    await Promise.resolve();
    return calls.map(({ entries, thread }) => {
      if (this.locked.has(thread.thread_id)) return undefined;
      this.stored.push(...entries.map(({ event_id }) => event_id ?? ""));
      return { ordinal: this.stored.length, hash: thread.thread_id };
    });
  };

  queue(options: Partial<AppendQueueOptions> = {}): AppendQueue {
    const defaults = { each: false, lockMs: 30_000, maxLockedBytes: 1e6 };
    return new AppendQueue({ write: this.write, ...defaults, ...options });
  }
}

function outcome(promise: Promise<RowAnchor>): Promise<string> {
  return promise.then(
    ({ hash, ordinal }) => `${hash} ${ordinal}`,
    (error: unknown) => String(error),
  );
}

describe("a locked thread", () => {
  it("holds back its own calls only, and they go on in their order", async () => {
    const store = new Store("a");
    const queue = store.queue();
    const held = [outcome(queue.push(call("a", "a1"))), outcome(queue.push(call("a", "a2")))];
    expect(await outcome(queue.push(call("b", "b1")))).toBe("b 1");
    held.push(outcome(queue.push(call("a", "a3"))));
    expect(await outcome(queue.push(call("b", "b2")))).toBe("b 2");
    expect(queue.lockedThreads).toBe(1);
    store.locked.clear();
    held.push(outcome(queue.push(call("a", "a4"))));
    await Promise.all(held);
    await queue.drained();
    expect(store.stored).toEqual(["b1", "b2", "a1", "a2", "a3", "a4"]);
    expect([queue.lockedThreads, queue.bytes]).toEqual([0, 0]);
    // What comes now goes the usual way.
    await queue.push(call("a", "a5"));
    expect(store.writes.at(-1)).toBe("a 50");
  });

  it("takes along its calls that wait behind the running transaction", async () => {
    const store = new Store("a");
    const queue = store.queue();
    let more: Promise<string>[] = [];
    store.before = () => {
      store.before = () => {};
      more = [outcome(queue.push(call("a", "a2"))), outcome(queue.push(call("b", "b1")))];
    };
    const first = outcome(queue.push(call("a", "a1")));
    await Promise.resolve();
    await Promise.resolve();
    expect(await more[1]).toBe("b 1");
    const last = outcome(queue.push(call("a", "a3")));
    store.locked.clear();
    await Promise.all([first, ...more, last]);
    expect(store.stored).toEqual(["b1", "a1", "a2", "a3"]);
  });

  it("is waited for only where no other locked thread can be had", async () => {
    const store = new Store("a", "b");
    const queue = store.queue();
    const held = [outcome(queue.push(call("a", "a1"))), outcome(queue.push(call("b", "b1")))];
    store.before = (threads) => {
      // The first try of both: then one is free.
      if (threads.length === 2 && store.writes.length === 1) store.locked.delete("b");
    };
    expect(await held[1]).toBe("b 1");
    store.locked.clear();
    await Promise.all(held);
    expect(store.writes.slice(0, 3)).toEqual(["a b 50", "a b 250", "a 250"]);
  });

  it("rejects with all that waits behind it when its time is over, and names it", async () => {
    const store = new Store("a");
    const queue = store.queue({ lockMs: 0 });
    const held = ["a1", "a2"].map((id) => outcome(queue.push(call("a", id))));
    const text =
      "Error: audit log: tenant acme, thread a: for 0 ms another transaction has held its lock, or one on the log's tables, and the rows that waited were not stored: find it with pg_blocking_pids() and end it";
    expect(await Promise.all(held)).toEqual([text, text]);
    expect([queue.lockedThreads, queue.bytes]).toEqual([0, 0]);
    store.locked.clear();
    expect(await outcome(queue.push(call("a", "a3")))).toBe("a 1");
  });

  it("never takes all the memory", async () => {
    const store = new Store("a");
    const queue = store.queue({ maxLockedBytes: 3000 });
    const held = ["a1", "a2", "a3", "a4"].map((id) => outcome(queue.push(call("a", id))));
    expect(await held.at(-1)).toContain("of at most 3000 wait for such threads");
    expect(queue.bytes).toBeLessThan(3000);
    expect(await outcome(queue.push(call("b", "b1")))).toBe("b 1");
    store.locked.clear();
    await queue.drained();
    expect(store.stored.slice(0, 2)).toEqual(["b1", "a1"]);
  });

  it("fails alone when the server goes away while it is tried", async () => {
    const store = new Store("a");
    const queue = store.queue();
    store.before = (threads) => {
      if (threads.length === 1 && threads[0] === "a") throw new Error("away");
    };
    const held = ["a1", "a2"].map((id) => outcome(queue.push(call("a", id))));
    expect(await outcome(queue.push(call("b", "b1")))).toBe("b 1");
    held.push(outcome(queue.push(call("a", "a3"))));
    expect(await Promise.all(held)).toEqual(Array(3).fill("Error: away"));
    expect([queue.lockedThreads, queue.bytes]).toEqual([0, 0]);
  });

  it("has one call in each transaction where each gets its own", async () => {
    const store = new Store("a");
    const queue = store.queue({ each: true });
    const held = ["a1", "a2"].map((id) => outcome(queue.push(call("a", id))));
    expect(await outcome(queue.push(call("b", "b1")))).toBe("b 1");
    store.locked.clear();
    await Promise.all(held);
    expect(store.stored).toEqual(["b1", "a1", "a2"]);
    expect(store.writes.every((write) => write.split(" ").length === 2)).toBe(true);
  });
});

describe("a lock on more than a thread", () => {
  it("is waited for beside the queue, and those that can be stored are found by halves", async () => {
    const store = new Store();
    const queue = store.queue();
    let met = 0;
    store.before = (threads) => {
      if (!threads.includes("bad") || met > 8) return;
      met += 1;
      throw coded("55P03", "lock timeout");
    };
    const names = ["a", "b", "bad", "c"];
    const pushed = names.map((name) => outcome(queue.push(call(name, `${name}1`))));
    await Promise.all([pushed[0], pushed[1], pushed[3]]);
    expect(store.stored).toEqual(["a1", "b1", "c1"]);
    expect(await outcome(queue.push(call("d", "d1")))).toBe("d 4");
    expect(await pushed[2]).toBe("bad 5");
  });

  it("rejects what waited when its time is over, however many", async () => {
    const store = new Store();
    const queue = store.queue({ lockMs: 0 });
    store.before = () => {
      throw coded("55P03", "lock timeout");
    };
    const names = Array.from({ length: 100 }, (_, n) => `t${n}`);
    const pushed = names.map((name) => outcome(queue.push(call(name, "1"))));
    for (const [n, text] of (await Promise.all(pushed)).entries()) {
      expect(text).toContain(`thread t${n}: for 0 ms another transaction has held its lock`);
    }
    // Not each by itself, once the time is over.
    expect(store.writes).toEqual([]);
    expect([queue.lockedThreads, queue.bytes]).toEqual([0, 0]);
  });
});
