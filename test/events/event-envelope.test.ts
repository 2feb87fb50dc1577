import { describe, expect, it } from "vitest";
import { AuditSink, MemorySessionLog } from "../../src/entries/audit.ts";
import { type EventEnvelope, readEventTime } from "../../src/events/event-envelope.ts";
import { bench, RunEvents, second } from "../support/run-events.ts";

const sent = "2026-04-29T12:00:09Z";
const waited = (happened_at: string): EventEnvelope => ({
  timestamp: sent,
  details: { happened_at },
});

describe("the time of an event that was sent later than it happened", () => {
  it.each([
    ["when it happened", "2026-04-29T12:00:02.000000005Z", [second(2)[0], 5]],
    ["when it was sent, if that is no time", "soon", second(9)],
    ["when it was sent, if no span can have that time", "0001-01-01T00:00:00Z", second(9)],
  ])("is %s", (_, happened_at, at) => {
    expect(readEventTime(waited(happened_at))).toEqual(at);
  });

  it("is on its span and in its rows", async () => {
    const run = new RunEvents("018f3c7a-0000-7000-8000-000000000002");
    const test = bench();
    const log = new MemorySessionLog();
    const audit = new AuditSink({ log });
    const failed = run.toolError("t1");
    test.sink.send(run.started(), { timestamp: second(0) });
    test.sink.send(failed, waited("2026-04-29T12:00:02Z"));
    expect(test.find("execute_tool fetch")).toMatchObject({
      start: "2026-04-29T12:00:01Z",
      end: "2026-04-29T12:00:02Z",
    });
    await audit.send(failed, waited("2026-04-29T12:00:02Z"));
    const key = { tenant_id: "acme", thread_id: failed.run_id };
    const rows = await log.loadSince(key, 0);
    expect(rows.map(({ event }) => event.timestamp)).toEqual(["2026-04-29T12:00:02Z"]);
  });
});
