import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { EventMetrics } from "../../../src/bridge/metrics/event-metrics.ts";
import { instrumentsOf } from "../../../src/bridge/metrics/instruments.ts";
import { resolveCaps } from "../../../src/bridge/metrics/label-values.ts";
import { Reporter } from "../../../src/bridge/report.ts";
import { second, ZERO } from "../../support/run-events.ts";
import { TestLifecycle } from "../lifecycle/test-lifecycle.ts";
import { collectMetrics } from "./meter.ts";

// Who waits for an approval is forgotten after days: the clock is that of the events.
beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"], now: ZERO * 1000 });
});
afterEach(() => {
  vi.useRealTimers();
});

/** A lifecycle without spans, observed by metrics. */
function observed() {
  const meter = collectMetrics();
  const instruments = instrumentsOf(meter.provider);
  if (instruments === undefined) throw new Error("expected instruments");
  const reports: string[] = [];
  const lifecycle = new TestLifecycle();
  lifecycle.observe(
    new EventMetrics({
      instruments,
      caps: resolveCaps(),
      benign: new Set(),
      reporter: new Reporter((error) => void reports.push(String(error))),
    }),
  );
  lifecycle.startRun("acme", "r", second(0), "react");
  return { lifecycle, reports, collect: meter.collect };
}

describe("what other runtimes say", () => {
  it("is counted as refused where the model declined, with the usage that is known", async () => {
    const { collect, lifecycle, reports } = observed();
    const usage = { input_tokens: 5 };
    lifecycle.endRun("acme", "r", second(2), { outcome: "refused", usage });
    const seen = await collect();
    expect(seen.nonZero("entelix.runs")).toEqual({
      "entelix.root=true,entelix.run.outcome=refused,entelix.tenant_id=acme,gen_ai.agent.name=react": 1,
    });
    expect(seen.nonZero("gen_ai.invoke_agent.duration")).toEqual({ "gen_ai.agent.name=react": 1 });
    expect(seen.sum("entelix.tokens")).toBe(5);
    expect(reports).toEqual([]);
  });

  it("is _OTHER where it does not class the error of a tool", async () => {
    const { collect, lifecycle } = observed();
    const end = { outcome: "error", message: "no" } as const;
    lifecycle.endCall("acme", "r", second(3), "a", "fetch", 250, end);
    const seen = await collect();
    expect(seen.nonZero("entelix.tool.failures")).toEqual({
      "entelix.tenant_id=acme,entelix.tool.error_kind=_OTHER,gen_ai.agent.name=react,gen_ai.tool.name=fetch": 1,
    });
    const [point] = seen.points("gen_ai.execute_tool.duration");
    expect(point?.attributes["error.type"]).toBe("_OTHER");
    expect(point?.histogram?.sum).toBe(0.25);
  });

  it("is no measured call where its run closed it: paused or unfinished", async () => {
    const { collect, lifecycle } = observed();
    lifecycle.startCall("acme", "r", second(1), "a", "fetch");
    lifecycle.startCall("acme", "r", second(1), "b", "fetch");
    const kind = { type: "approval_pending", tool_use_id: "a" } as const;
    lifecycle.endRun("acme", "r", second(9), { outcome: "interrupted", kind });
    const seen = await collect();
    expect(seen.points("gen_ai.execute_tool.duration")).toEqual([]);
    expect(seen.sum("gen_ai.invoke_agent.tool_calls")).toBe(1);
    expect(seen.points("gen_ai.invoke_agent.tool_calls")[0]?.histogram?.sum).toBe(2);
  });

  it("is an approval that waits no more when the runtime tells what a run continues", async () => {
    const { collect, lifecycle } = observed();
    const kind = { type: "approval_pending", tool_use_id: "a" } as const;
    lifecycle.endRun("acme", "r", second(9), { outcome: "interrupted", kind });
    expect((await collect()).sum("entelix.approvals.pending")).toBe(1);
    lifecycle.startRun("acme", "next", second(20), "react");
    expect((await collect()).sum("entelix.approvals.pending")).toBe(1);
    lifecycle.runs.linkResumed("acme", "next", "r");
    expect((await collect()).sum("entelix.approvals.pending")).toBe(0);
  });
});
