import { SamplingDecision } from "@opentelemetry/sdk-trace-node";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { RunIds } from "../../../src/entries/context.ts";
import { bench, RunEvents, ZERO } from "../../support/run-events.ts";

vi.mock("../../../src/events/clock.ts", () => import("../../support/date-clock.ts"));

const RUN = "018f3c7a-0000-7000-8000-000000000002";
const OTHER = "018f3c7a-0000-7000-8000-000000000003";
const run = new RunEvents(RUN);
const other = new RunEvents(OTHER);
const DAY = 24 * 3600;

beforeEach(() => {
  vi.useFakeTimers({ now: ZERO * 1000, toFake: ["setInterval", "clearInterval", "Date"] });
});
afterEach(() => {
  vi.useRealTimers();
});

const pass = (seconds: number) => vi.advanceTimersByTime(seconds * 1000);
const aging = { mode: "live", limits: { markerAfterMs: 0, maxAgeMs: 60_000 } } as const;

describe("the age limit of a live sink", () => {
  it("goes by the clock, without any event", () => {
    const test = bench(aging);
    test.sink.send(run.started());
    pass(59);
    expect(test.spans()).toHaveLength(0);
    pass(10);
    expect(test.find("invoke_agent react")).toMatchObject({
      end: "2026-04-29T12:00:00Z",
      attributes: { "entelix.run.abandoned_reason": "age" },
    });
  });

  it("is kept away by every event", () => {
    const test = bench(aging);
    test.sink.send(run.started());
    for (let n = 1; n <= 10; n++) {
      pass(30);
      test.sink.send(run.toolStart(`call_${n}`));
    }
    expect(test.diagnostics().openRuns).toBe(1);
  });

  it("holds for all, though one sender's clock runs ahead", () => {
    const test = bench(aging);
    test.at(1000 * DAY, run.started("ahead"));
    test.sink.send(other.started("right"));
    pass(70);
    expect(test.find("invoke_agent right").attributes["entelix.run.abandoned_reason"]).toBe("age");
    pass(70);
    expect(test.find("invoke_agent ahead").attributes["entelix.run.abandoned_reason"]).toBe("age");
    expect(test.diagnostics().openRuns).toBe(0);
  });

  it("goes by when events come, though their sender's clock is days behind", () => {
    const test = bench(aging);
    test.at(-3 * DAY, run.started("behind"));
    for (let n = 1; n <= 10; n++) {
      pass(30);
      test.at(-3 * DAY + n * 30, run.toolStart(`call_${n}`));
    }
    expect(test.diagnostics()).toMatchObject({ openRuns: 1, adjustments: { aged_runs: 0 } });
    pass(70);
    expect(test.diagnostics()).toMatchObject({ openRuns: 0, adjustments: { aged_runs: 1 } });
    expect(test.find("invoke_agent behind")).toMatchObject({
      start: "2026-04-26T12:00:00Z",
      end: "2026-04-26T12:05:00Z",
      attributes: { "entelix.run.abandoned_reason": "age" },
    });
  });

  it("is looked at no more after the shutdown", async () => {
    const test = bench(aging);
    test.sink.send(run.started());
    expect(vi.getTimerCount()).toBe(1);
    await test.sink.shutdown();
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe("the marker of a run that is open for long", () => {
  const marker = "entelix.run.open";

  it("is a zero-length child, once, when 30 s have passed", () => {
    const test = bench({ mode: "live" });
    test.sink.send(run.started());
    pass(29);
    expect(test.spans()).toHaveLength(0);
    pass(10);
    expect(test.find(marker)).toMatchObject({
      span_id: RunIds.fromUuid(RUN)?.childSpanId("o", ""),
      trace: "018f3c7a000070008000000000000002",
      parent: "8000000000000002",
      status: "unset",
      start: "2026-04-29T12:00:00Z",
      end: "2026-04-29T12:00:00Z",
      attributes: {
        "entelix.run_id": RUN,
        "entelix.tenant_id": "acme",
        "gen_ai.agent.name": "react",
        "entelix.run.open": true,
      },
    });
    pass(300);
    expect(test.spans()).toHaveLength(1);
  });

  it("comes once a run, not once a segment, since its id is the run's", () => {
    const test = bench({ mode: "live" });
    test.sink.send(run.started());
    pass(40);
    test.sink.send(run.interrupted());
    pass(1);
    test.sink.send(run.started());
    pass(300);
    expect(test.spans().filter((span) => span.name === marker)).toHaveLength(1);
  });

  it("is not written for a run that ends in time, nor when it is turned off", () => {
    const quick = bench({ mode: "live" });
    quick.sink.send(run.started());
    pass(20);
    quick.sink.send(run.complete());
    const off = bench({ mode: "live", limits: { markerAfterMs: 0 } });
    off.sink.send(other.started());
    pass(3600);
    expect(quick.spans().map((span) => span.name)).toEqual(["invoke_agent react"]);
    expect(off.spans()).toEqual([]);
  });

  it("is never written by a replay", () => {
    const test = bench({ mode: "replay" });
    test.at(0, run.started());
    pass(3600);
    expect(vi.getTimerCount()).toBe(0);
    test.at(3000, run.complete());
    expect(test.spans().map((span) => span.name)).toEqual(["invoke_agent react"]);
  });

  it("is not written for a run that is not sampled", () => {
    const sampler = { shouldSample: () => ({ decision: SamplingDecision.NOT_RECORD }) };
    const test = bench({ mode: "live" }, { sampler });
    test.sink.send(run.started());
    pass(60);
    expect([...test.started.keys()]).toEqual([]);
  });

  it("does not stop other runs' markers when the provider fails at one", () => {
    const test = bench({ mode: "live" });
    test.sink.send(run.started("one"));
    test.sink.send(other.started("two"));
    const provider = test.provider.getTracer("entelix-otel");
    let failures = 0;
    const start = vi.spyOn(Object.getPrototypeOf(provider), "startSpan");
    start.mockImplementationOnce(() => {
      failures++;
      throw new Error("no more spans");
    });
    pass(40);
    start.mockRestore();
    expect(failures).toBe(1);
    expect(test.spans().filter((span) => span.name === marker)).toHaveLength(1);
    expect(test.diagnostics().providerFailures).toBe(1);
  });
});
