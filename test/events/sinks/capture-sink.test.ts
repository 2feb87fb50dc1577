import { describe, expect, it } from "vitest";
import { CaptureSink } from "../../../src/events/sinks/capture-sink.ts";
import { StateErasureSink } from "../../../src/events/sinks/state-erasure-sink.ts";
import { complete, envelopeNo, everyEvent, numbered, started } from "./sample-events.ts";

describe("CaptureSink", () => {
  it("keeps events and envelopes in order", () => {
    const sink = new CaptureSink();
    sink.send(started, envelopeNo(0));
    sink.send(numbered(1));
    expect(sink.events).toEqual([started, numbered(1)]);
    expect(sink.items).toEqual([
      { event: started, envelope: envelopeNo(0) },
      { event: numbered(1) },
    ]);
  });

  it("keeps at most its limit, and counts the rest", () => {
    const sink = new CaptureSink({ limit: 2 });
    for (const n of [1, 2, 3, 4]) sink.send(numbered(n));
    expect(sink.events).toEqual([numbered(1), numbered(2)]);
    expect(sink.dropped).toBe(2);
    sink.clear();
    expect(sink.items).toEqual([]);
    expect(sink.dropped).toBe(0);
    sink.send(started);
    expect(sink.events).toEqual([started]);
  });

  it("hands out copies", () => {
    const sink = new CaptureSink();
    sink.send(started);
    sink.events.pop();
    sink.items.pop();
    expect(sink.events).toHaveLength(1);
  });

  it("refuses a limit that is none", () => {
    expect(() => new CaptureSink({ limit: -1 })).toThrow(
      "limit: expected a whole number from 0, got -1",
    );
  });
});

describe("StateErasureSink", () => {
  it("takes the state out of complete alone, and passes the envelope on", () => {
    const inner = new CaptureSink<null>();
    const sink = new StateErasureSink<{ secret: string }>(inner);
    const envelope = envelopeNo(1);
    expect(sink.send(complete, envelope)).toBeUndefined();
    expect(inner.items).toEqual([{ event: { ...complete, state: null }, envelope }]);
    expect(inner.items[0]?.envelope).toBe(envelope);
    expect(complete.state).toEqual({ secret: "s" });
  });

  it("passes every other event on as it is", () => {
    const inner = new CaptureSink<null>();
    const sink = new StateErasureSink(inner);
    for (const event of everyEvent) expect(sink.send(event)).toBeUndefined();
    const others = everyEvent.filter((event) => event.type !== "complete");
    for (const [index, event] of others.entries()) expect(inner.events[index]).toBe(event);
  });

  it("returns the promise and the errors of the sink inside, and closes it", async () => {
    const boom = new Error("boom");
    const calls: string[] = [];
    const sink = new StateErasureSink({
      send: () => Promise.reject(boom),
      forceFlush: async () => void calls.push("flush"),
      shutdown: async () => void calls.push("shutdown"),
    });
    await expect(sink.send(complete)).rejects.toBe(boom);
    await sink.forceFlush();
    await sink.shutdown();
    expect(calls).toEqual(["flush", "shutdown"]);
  });
});
