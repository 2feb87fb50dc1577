import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { type BroadcastItem, BroadcastSink } from "../../../src/events/sinks/broadcast-sink.ts";
import { DroppingSink } from "../../../src/events/sinks/dropping-sink.ts";
import type { Receiver } from "../../../src/events/sinks/receiver.ts";
import { runs } from "../../support/runs.ts";
import { envelopeNo, numbered, numberOf, settle, started } from "./sample-events.ts";

/** Reads to the end: an event is its number, a loss is text. */
async function readAll(subscription: Receiver<BroadcastItem>): Promise<(number | string)[]> {
  const read: (number | string)[] = [];
  for await (const item of subscription) {
    read.push("lagged" in item ? `lost ${item.lagged}` : numberOf(item.event));
  }
  return read;
}

describe("BroadcastSink", () => {
  it("shows every subscriber the events sent after it subscribed, with their envelopes", async () => {
    const sink = new BroadcastSink();
    const early = sink.subscribe();
    sink.send(numbered(1), envelopeNo(1));
    const late = sink.subscribe();
    sink.send(numbered(2));
    await sink.shutdown();
    expect(await early.next()).toEqual({
      value: { event: numbered(1), envelope: envelopeNo(1) },
      done: false,
    });
    expect(await readAll(early)).toEqual([2]);
    expect(await readAll(late)).toEqual([2]);
  });

  it("never waits: a slow subscriber loses the oldest, and is told how many", async () => {
    const sink = new BroadcastSink({ capacity: 2 });
    const slow = sink.subscribe();
    for (const n of [1, 2, 3, 4, 5]) expect(sink.send(numbered(n))).toBeUndefined();
    expect(await slow.next()).toEqual({ value: { lagged: 3 }, done: false });
    sink.send(numbered(6));
    await sink.shutdown();
    expect(await readAll(slow)).toEqual(["lost 1", 5, 6]);
  });

  it("wakes a subscriber that waits", async () => {
    const sink = new BroadcastSink();
    const waiting = sink.subscribe().next();
    sink.send(started);
    expect(await waiting).toEqual({ value: { event: started }, done: false });
  });

  it("forgets a subscriber that closes or leaves its loop", async () => {
    const sink = new BroadcastSink();
    const [a, b, c] = [sink.subscribe(), sink.subscribe(), sink.subscribe()];
    sink.send(started);
    expect(sink.subscribers).toBe(3);
    a.close();
    for await (const item of b) {
      expect(item).toEqual({ event: started });
      break;
    }
    expect(sink.subscribers).toBe(1);
    sink.send(started);
    expect(await readAll(a)).toEqual([]);
    expect(await b.next()).toEqual({ value: undefined, done: true });
    await sink.shutdown();
    expect((await c.next()).done).toBe(false);
  });

  it("ends a subscriber that waits, on close and on shutdown", async () => {
    const sink = new BroadcastSink();
    const closed = sink.subscribe();
    const reads = [closed.next(), sink.subscribe().next()];
    closed.close();
    await sink.shutdown();
    const done = { value: undefined, done: true };
    expect(await Promise.all(reads)).toEqual([done, done]);
  });

  it("drops events and refuses no subscriber after a shutdown", async () => {
    const sink = new BroadcastSink();
    await sink.shutdown();
    const after = sink.subscribe();
    expect(sink.send(started)).toBeUndefined();
    expect(await readAll(after)).toEqual([]);
    expect(sink.subscribers).toBe(0);
  });

  it("refuses a capacity of 0", () => {
    expect(() => new BroadcastSink({ capacity: 0 })).toThrow(
      "capacity: expected a whole number from 1 to 16777216, got 0",
    );
  });

  it("loses only what it counts, for any pace of any subscriber", async () => {
    const step = fc.record({
      subscriber: fc.integer({ min: 0, max: 2 }),
      action: fc.constantFrom("send", "send", "read", "subscribe", "close", "pause"),
    });
    const size = fc.integer({ min: 1, max: 4 });
    await fc.assert(
      fc.asyncProperty(size, fc.array(step, { maxLength: 60 }), async (capacity, steps) => {
        const sink = new BroadcastSink({ capacity });
        const subscribers: {
          readonly subscription: Receiver<BroadcastItem>;
          next: number;
          open: boolean;
        }[] = [];
        let sent = 0;
        const check = (at: { next: number }, item: BroadcastItem | undefined) => {
          if (item === undefined) return;
          if ("lagged" in item) {
            expect(item.lagged).toBeGreaterThan(0);
            at.next += item.lagged;
          } else expect(numberOf(item.event)).toBe(at.next++);
        };
        for (const { action, subscriber } of steps) {
          const at = subscribers[subscriber];
          if (action === "send") expect(sink.send(numbered(sent++))).toBeUndefined();
          else if (action === "pause") await settle();
          else if (action === "subscribe") {
            subscribers.push({ subscription: sink.subscribe(), next: sent, open: true });
          } else if (at?.open && action === "close") {
            at.subscription.close();
            at.open = false;
          } else if (at?.open && at.next < sent) {
            check(at, (await at.subscription.next()).value);
          }
        }
        expect(sink.subscribers).toBe(subscribers.filter((at) => at.open).length);
        await sink.shutdown();
        for (const at of subscribers) {
          for await (const item of at.subscription) check(at, item);
          if (at.open) expect(at.next).toBe(sent);
        }
      }),
      { numRuns: runs(60) },
    );
  });
});

describe("the debug line of sinks that drop events", () => {
  it("is said once a process and kind of sink, also by another copy of the package", async () => {
    const lines: string[] = [];
    const onDebug = (line: string) => lines.push(line);
    new BroadcastSink().send(started);
    new DroppingSink().send();
    expect(lines).toEqual([]);
    for (const _ of [1, 2]) {
      new BroadcastSink({ onDebug }).send(started);
      new DroppingSink({ onDebug }).send();
    }
    vi.resetModules();
    const other = await import("../../../src/events/sinks/dropping-sink.ts");
    expect(other.DroppingSink).not.toBe(DroppingSink);
    new other.DroppingSink({ onDebug }).send();
    expect(lines).toEqual([
      "BroadcastSink: agent events are dropped, for nobody subscribed",
      "DroppingSink: agent events are dropped, for no sink is registered",
    ]);
  });

  it("contains a listener that throws", async () => {
    vi.resetModules();
    const { debugOnce } = await import("../../../src/events/sinks/dropping-sink.ts");
    const listener = vi.fn(() => {
      throw new Error("logger down");
    });
    debugOnce(listener, "a line of this test");
    debugOnce(listener, "a line of this test");
    expect(listener.mock.calls).toEqual([["a line of this test"]]);
  });

  it("contains a listener whose promise rejects", async () => {
    const unhandled: unknown[] = [];
    const note = (reason: unknown) => unhandled.push(reason);
    process.on("unhandledRejection", note);
    try {
      vi.resetModules();
      const { debugOnce } = await import("../../../src/events/sinks/dropping-sink.ts");
      debugOnce(async () => Promise.reject(new Error("logger down")), "another line of this test");
      await settle();
      expect(unhandled).toEqual([]);
    } finally {
      process.off("unhandledRejection", note);
    }
  });
});
