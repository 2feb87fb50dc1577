import { AlwaysOffSampler } from "@opentelemetry/sdk-trace-node";
import { describe, expect, it, vi } from "vitest";
import { Bridge, internalsOf } from "../../src/bridge/bridge.ts";
import { setupTracing } from "../../src/bridge/setup/setup-tracing.ts";
import type { TelemetryOptions } from "../../src/bridge/telemetry-options.ts";
import { fromMilliseconds } from "../../src/events/door.ts";
import type { AgentEvent, EventEnvelope } from "../../src/index.ts";
import { RunEvents, second } from "../support/run-events.ts";
import { collectSpans } from "../support/spans.ts";

const id = (n: number) => `018f3c7a-0000-7000-8000-${String(n).padStart(12, "0")}`;
const run = new RunEvents(id(1));

/** A bridge in a replay, which takes each event at its second. */
function replayed(options: TelemetryOptions = {}) {
  const { provider } = collectSpans();
  const bridge = new Bridge({ mode: "replay", tracerProvider: provider, ...options });
  const { telemetry } = internalsOf(bridge);
  return {
    bridge,
    at: (at: number, event: AgentEvent, more: EventEnvelope = {}) =>
      void bridge.send(event, { timestamp: second(at), ...more }),
    /** The open runs at that second. */
    open: (at: number) => telemetry.openRuns({}, second(at)),
    waits: (at: number) => telemetry.openRuns({}, second(at)).map(({ waitsFor }) => waitsFor),
  };
}

describe("openRuns", () => {
  it("says all that is known of a run", () => {
    const { at, open } = replayed();
    at(0, run.started("react"), { thread_id: "t-1" });
    at(1, run.modelStart("m1"));
    const usage = { input_tokens: 120, output_tokens: 30 };
    at(2, run.modelComplete("m1", { usage, cost_usd: "0.05" }));
    at(3, run.toolStart("c1", "search"));
    expect(open(63)).toEqual([
      {
        tenantId: "acme",
        runId: id(1),
        parentRunId: undefined,
        rootRunId: id(1),
        traceId: "018f3c7a000070008000000000000001",
        spanId: "8000000000000001",
        sampled: true,
        agent: "react",
        threadId: "t-1",
        startedAt: "2026-04-29T12:00:00Z",
        ageMs: 63_000,
        idleMs: 60_000,
        waitsFor: { kind: "tool", name: "search", sinceMs: 60_000 },
        tokens: { input: 120, output: 30 },
        cost: "0.05",
      },
    ]);
  });

  it("has the run that was silent longest first, within its limit and of one tenant", () => {
    const { at, bridge } = replayed();
    const other = new RunEvents(id(3), "globex");
    at(0, run.started());
    at(1, new RunEvents(id(2)).started());
    at(2, other.started());
    at(3, run.toolStart("c1"));
    const ids = (options = {}) => bridge.openRuns(options).map(({ runId }) => runId);
    expect(ids()).toEqual([id(2), id(3), id(1)]);
    expect(ids({ limit: 2 })).toEqual([id(2), id(3)]);
    expect(ids({ tenantId: "globex" })).toEqual([id(3)]);
    expect(ids({ tenantId: "nobody" })).toEqual([]);
    at(4, other.complete());
    expect(ids({ tenantId: "globex" })).toEqual([]);
  });

  it("refuses options that can't be used", () => {
    const { bridge } = replayed();
    expect(() => bridge.openRuns({ limit: 0 })).toThrow(
      "limit: expected a whole number from 1, got 0",
    );
    expect(() => bridge.openRuns({ limit: 1.5 })).toThrow(RangeError);
    const wrong: object = { tenantId: 1 };
    expect(() => bridge.openRuns(wrong)).toThrow("tenantId: expected a text, got number");
  });

  it("has the runs of all bridges of a process", async () => {
    vi.stubEnv("OTEL_TRACES_EXPORTER", "none");
    const tracing = setupTracing({ register: false });
    const [one, two] = [tracing.createBridge(), tracing.createBridge()];
    const since = (ms: number) => ({ timestamp: fromMilliseconds(Date.now() - ms) });
    void one.send(run.started(), since(5_000));
    void two.send(new RunEvents(id(2)).started(), since(9_000));
    void one.send(new RunEvents(id(3)).started(), since(1_000));
    expect(tracing.openRuns().map(({ runId }) => runId)).toEqual([id(2), id(1), id(3)]);
    expect(tracing.openRuns({ limit: 1 }).map(({ runId }) => runId)).toEqual([id(2)]);
    await tracing.shutdown();
    expect(tracing.openRuns()).toEqual([]);
    vi.unstubAllEnvs();
  });

  it("says so of a run whose calls nobody follows", () => {
    const { provider } = collectSpans({ sampler: new AlwaysOffSampler() });
    const { at, open } = replayed({ tracerProvider: provider });
    at(0, run.started());
    at(1, run.toolStart("c1"));
    const [found] = open(2);
    expect([found?.sampled, found?.waitsFor]).toEqual([
      false,
      { kind: "unknown", name: undefined, sinceMs: 1000 },
    ]);
  });
});

describe("what a run waits for", () => {
  it("is nothing between calls, since its last event", () => {
    const { at, waits } = replayed();
    at(0, run.started());
    at(1, run.toolStart("c1"));
    at(2, run.toolComplete("c1"));
    expect(waits(5)).toEqual([{ kind: "nothing", name: undefined, sinceMs: 3000 }]);
  });

  it("is the oldest open tool call, before an open model call", () => {
    const { at, waits } = replayed();
    at(0, run.started());
    at(1, run.modelStart("m1"));
    expect(waits(5)).toEqual([{ kind: "model", name: "small-1", sinceMs: 4000 }]);
    at(2, run.toolStart("c1", "search"));
    at(3, run.toolStart("c2", "fetch"));
    expect(waits(5)).toEqual([{ kind: "tool", name: "search", sinceMs: 3000 }]);
    at(4, run.toolComplete("c1", "search"));
    expect(waits(5)).toEqual([{ kind: "tool", name: "fetch", sinceMs: 2000 }]);
  });

  const child = new RunEvents(id(2));

  it("is a child, where that stands under the tool call", () => {
    const { at, waits } = replayed();
    at(0, run.started("top"));
    at(1, run.toolStart("c1", "delegate"));
    at(2, child.started("expert", id(1)), { parent_tool_use_id: "c1" });
    at(3, child.toolStart("c1", "search"));
    expect(waits(9)).toEqual([
      { kind: "child", name: "expert", sinceMs: 7000 },
      { kind: "tool", name: "search", sinceMs: 6000 },
    ]);
    at(4, run.toolStart("c2", "fetch"));
    expect(waits(9)[1]).toEqual({ kind: "tool", name: "fetch", sinceMs: 5000 });
    at(5, child.complete());
    expect(waits(9)).toEqual([{ kind: "tool", name: "delegate", sinceMs: 8000 }]);
  });

  it("is a child that does not say which call it stands under, in place of the oldest call", () => {
    const { at, waits } = replayed();
    at(0, run.started("top"));
    at(1, run.toolStart("c1", "delegate"));
    at(2, child.started("expert", id(1)));
    expect(waits(9).map(({ kind }) => kind)).toEqual(["nothing", "child"]);
    at(3, run.toolStart("c2", "fetch"));
    expect(waits(9).map(({ kind, name }) => [kind, name])).toEqual([
      ["nothing", undefined],
      ["tool", "fetch"],
    ]);
  });
});
