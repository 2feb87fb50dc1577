import { describe, expect, it } from "vitest";
import { HeldEvents } from "../../../src/agents/claude-agent/held-events.ts";
import type { OpenEnvelope } from "../../../src/agents/writer/event-writer.ts";
import { compareInstants, readEventTime } from "../../../src/events/door.ts";
import { RunEvents, second } from "../../support/run-events.ts";

const run = new RunEvents("018f3c7a-0000-7000-8000-000000000002");

describe("events that wait", () => {
  it("are sent in order, as of now, and say when they happened", () => {
    const sent: OpenEnvelope[] = [];
    const events = new HeldEvents({ send: (_, envelope) => void sent.push(envelope) });
    const envelope = (id: string, at: number) => ({ event_id: id, timestamp: second(at) });
    events.send(run.started(), envelope("e0", 0));
    const held = events.hold(() => events.send(run.toolStart("t1"), envelope("e1", 1)), 60_000);
    events.send(run.toolComplete("t1"), envelope("e2", 2));
    expect(sent.map(({ event_id }) => event_id)).toEqual(["e0"]);
    held.release();
    expect(sent.map(({ event_id }) => event_id)).toEqual(["e0", "e1", "e2"]);
    expect(sent.map((one) => readEventTime(one))).toEqual([second(0), second(1), second(2)]);
    const [first, ...waited] = sent;
    expect(first?.details).toBeUndefined();
    const [one, two] = waited.map(({ timestamp }) => timestamp);
    expect(one).not.toEqual(second(1));
    expect(String(one) <= String(two)).toBe(true);
  });

  it("have a later event of an earlier time behind them, also for readers of a recording", () => {
    const sent: OpenEnvelope[] = [];
    const events = new HeldEvents({ send: (_, envelope) => void sent.push(envelope) });
    const held = events.hold(
      () => events.send(run.modelStart("m1"), { event_id: "e0", timestamp: second(0) }),
      60_000,
    );
    held.release();
    events.send(run.modelComplete("m1"), { event_id: "e1", timestamp: second(1) });
    expect(sent.map((one) => readEventTime(one))).toEqual([second(0), second(1)]);
    const [start, end] = sent.map(({ timestamp }) => readEventTime({ timestamp }));
    expect(start && end && compareInstants(start, end)).toBeLessThanOrEqual(0);
  });
});
