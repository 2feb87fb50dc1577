import { describe, expect, it } from "vitest";
import type { AgentEvent } from "../../../src/events/agent-event.ts";
import { now } from "../../../src/events/clock.ts";
import { type EventEnvelope, readEventTime } from "../../../src/events/event-envelope.ts";
import { isSince } from "../../../src/events/instant.ts";
import type { InnerSink } from "../../../src/events/sinks/agent-event-sink.ts";
import { CaptureSink } from "../../../src/events/sinks/capture-sink.ts";
import { FanOutSink } from "../../../src/events/sinks/fan-out-sink.ts";
import { complete, envelopeNo, everyEvent, numbered, settle, started } from "./sample-events.ts";

const boom = new Error("boom");

describe("FanOutSink", () => {
  it("is synchronous among synchronous sinks, and passes event and envelope on as they are", () => {
    const a = new CaptureSink();
    const b = new CaptureSink();
    const sink = new FanOutSink([a, b]);
    const envelope = envelopeNo(1);
    for (const event of everyEvent) expect(sink.send(event, envelope)).toBeUndefined();
    for (const [index, item] of b.items.entries()) {
      expect(item.event).toBe(everyEvent[index]);
      expect(item.envelope).toBe(envelope);
    }
    expect(a.events).toEqual(everyEvent);
    expect(b.events).toEqual(everyEvent);
  });

  it("gives an event without a time one, which all sinks have, also those behind a slow one", async () => {
    const [a, b] = [new CaptureSink(), new CaptureSink()];
    const sink = new FanOutSink([a, { send: () => settle() }, new FanOutSink([b])]);
    const from = now();
    const untyped: object = { thread_id: "t", timestamp: null };
    for (const envelope of [undefined, { event_id: "e1" }, untyped]) {
      await sink.send(started, envelope);
    }
    expect(b.items).toEqual(a.items);
    expect(a.items.map(({ envelope }) => envelope)).toEqual([
      { timestamp: expect.anything() },
      { event_id: "e1", timestamp: expect.anything() },
      { thread_id: "t", timestamp: expect.anything() },
    ]);
    for (const { envelope } of a.items) {
      expect(isSince(readEventTime(envelope ?? null), from)).toBe(true);
    }
  });

  it("passes on an envelope that throws when it is read", () => {
    const [a, b] = [new CaptureSink(), new CaptureSink()];
    const hostile: EventEnvelope = Object.defineProperty({}, "timestamp", {
      get() {
        throw boom;
      },
    });
    expect(new FanOutSink([a, b]).send(started, hostile)).toBeUndefined();
    expect(b.items.map(({ envelope }) => envelope === hostile)).toEqual([true]);
  });

  it("waits for a promise before it goes on to the next sink", async () => {
    const order: string[] = [];
    let open = () => {};
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    const note = (name: string) => ({ send: () => void order.push(name) });
    const slow = {
      send: async () => {
        order.push("slow:begin");
        await gate;
        order.push("slow:end");
      },
    };
    const sent = new FanOutSink([note("first"), slow, note("last")]).send(started);
    await settle();
    expect(order).toEqual(["first", "slow:begin"]);
    open();
    await sent;
    expect(order).toEqual(["first", "slow:begin", "slow:end", "last"]);
  });

  it("passes the envelope on to sinks after an asynchronous one", async () => {
    const last = new CaptureSink();
    await new FanOutSink([{ send: async () => {} }, last]).send(started, envelopeNo(7));
    expect(last.items).toEqual([{ event: started, envelope: envelopeNo(7) }]);
  });

  describe("of a sender that does not wait", () => {
    /** Takes each event when it is told to. */
    class Gated {
      readonly taken: PromiseWithSettle[] = [];
      send(event: AgentEvent): void | Promise<void> {
        if (event.type === "complete" || event.type === "started") return;
        return new Promise((resolve, reject) => void this.taken.push({ resolve, reject }));
      }
    }
    interface PromiseWithSettle {
      readonly resolve: () => void;
      readonly reject: (error: Error) => void;
    }

    it("keeps a run's events in order at the sinks behind a slow one", async () => {
      const slow = new Gated();
      const last = new CaptureSink();
      const sink = new FanOutSink([slow, new CaptureSink(), last]);
      const events = [started, numbered(1), numbered(2), complete];
      const sent = events.map((event) => sink.send(event, envelopeNo(events.indexOf(event))));
      expect(sent.map((each) => each instanceof Promise)).toEqual([false, true, true, true]);
      slow.taken[1]?.resolve();
      await settle();
      expect(last.events).toEqual([started]);
      slow.taken[0]?.resolve();
      await Promise.all(sent);
      expect(last.items).toEqual(events.map((event, at) => ({ event, envelope: envelopeNo(at) })));
      // Nothing is on its way any more: it is synchronous again.
      expect(sink.send(complete)).toBeUndefined();
    });

    it("lets no event overtake another where one between them was refused", async () => {
      const slow = new Gated();
      const last = new CaptureSink();
      const sink = new FanOutSink([slow, last]);
      const sent = [numbered(1), numbered(2), numbered(3)].map((event) => sink.send(event));
      slow.taken[1]?.reject(boom);
      slow.taken[2]?.resolve();
      await expect(sent[1]).rejects.toBe(boom);
      await settle();
      expect(last.events).toEqual([]);
      slow.taken[0]?.resolve();
      await sent[2];
      expect(last.events).toEqual([numbered(1), numbered(3)]);
    });

    it("lets a run wait for no other, but for its parent's events", async () => {
      const slow = new Gated();
      const last = new CaptureSink();
      const sink = new FanOutSink([slow, last]);
      const other: AgentEvent = { ...started, run_id: "r2" };
      const child: AgentEvent = { ...started, run_id: "r3", parent_run_id: "r1" };
      const othersChild: AgentEvent = { ...child, tenant_id: "globex" };
      void sink.send(numbered(1));
      expect(sink.send(other)).toBeUndefined();
      expect(sink.send(othersChild)).toBeUndefined();
      const sent = sink.send(child);
      expect(last.events).toEqual([other, othersChild]);
      slow.taken[0]?.resolve();
      await sent;
      expect(last.events).toEqual([other, othersChild, numbered(1), child]);
    });
  });

  it.each<[string, InnerSink["send"]]>([
    [
      "throws",
      () => {
        throw boom;
      },
    ],
    ["rejects", () => Promise.reject(boom)],
  ])("stops at a sink that %s", async (_, send) => {
    const before = new CaptureSink();
    const after = new CaptureSink();
    const sink = new FanOutSink([before, { send: async () => {} }, { send }, after]);
    await expect(sink.send(started)).rejects.toBe(boom);
    expect(before.events).toEqual([started]);
    expect(after.events).toEqual([]);
  });

  it("throws what a synchronous sink throws before any promise", () => {
    const sink = new FanOutSink([
      {
        send() {
          throw boom;
        },
      },
    ]);
    expect(() => sink.send(started)).toThrow(boom);
  });

  it("ends no process where nobody looks at the outcome of what an agent may lose", async () => {
    const unhandled: unknown[] = [];
    const note = (reason: unknown) => unhandled.push(reason);
    process.on("unhandledRejection", note);
    try {
      const sink = new FanOutSink([{ send: () => Promise.reject(boom) }]);
      const mayBeLost = everyEvent.filter(({ type }) => type !== "started" && type !== "complete");
      for (const event of mayBeLost) void sink.send(event);
      await settle();
      expect(unhandled).toEqual([]);
      for (const event of everyEvent) await expect(sink.send(event)).rejects.toBe(boom);
    } finally {
      process.off("unhandledRejection", note);
    }
  });

  it("keeps the sinks it was made with", () => {
    const sinks: InnerSink[] = [new CaptureSink()];
    const sink = new FanOutSink(sinks);
    sinks.push({
      send() {
        throw boom;
      },
    });
    expect(sink.send(started)).toBeUndefined();
  });

  it("flushes and shuts down all sinks that can, though one fails", async () => {
    const calls: string[] = [];
    class Closable {
      readonly #name: string;
      constructor(name: string) {
        this.#name = name;
      }
      send(_event: AgentEvent, _envelope?: EventEnvelope): void {}
      async forceFlush(): Promise<void> {
        calls.push(`flush ${this.#name}`);
        if (this.#name === "bad") throw boom;
      }
      async shutdown(): Promise<void> {
        calls.push(`shutdown ${this.#name}`);
      }
    }
    const sink = new FanOutSink([new Closable("bad"), new CaptureSink(), new Closable("good")]);
    await expect(sink.forceFlush()).rejects.toBe(boom);
    await expect(sink.shutdown()).resolves.toBeUndefined();
    expect(calls).toEqual(["flush bad", "flush good", "shutdown bad", "shutdown good"]);
  });

  it("gives every error when several sinks fail to close", async () => {
    const other = new Error("other");
    const failing = (error: Error) => ({
      send() {},
      shutdown(): Promise<void> {
        throw error;
      },
    });
    const sink = new FanOutSink([failing(boom), failing(other)]);
    const error: unknown = await sink.shutdown().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(AggregateError);
    expect(error).toMatchObject({ message: "shutdown: 2 sinks failed", errors: [boom, other] });
  });
});
