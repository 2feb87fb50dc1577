import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { Counters } from "../../../src/bridge/lifecycle/counters.ts";
import { NOTHING_REPLACED } from "../../../src/bridge/metrics/bridge-metrics.ts";
import { EventMetrics } from "../../../src/bridge/metrics/event-metrics.ts";
import { instrumentsOf } from "../../../src/bridge/metrics/instruments.ts";
import { resolveCaps } from "../../../src/bridge/metrics/label-values.ts";
import { Reporter } from "../../../src/bridge/report.ts";
import { second, ZERO } from "../../support/run-events.ts";
import { TestLifecycle } from "../lifecycle/test-lifecycle.ts";
import { collectMetrics } from "./meter.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["Date"] }));
afterEach(() => void vi.useRealTimers());

/** A lifecycle that is measured, as that of a bridge is, and what is open at a second. */
function measured(agents = 50) {
  const { collect, provider } = collectMetrics();
  const instruments = instrumentsOf(provider);
  if (instruments === undefined) throw new Error("no instruments");
  const lifecycle = new TestLifecycle();
  const reporter = new Reporter(() => {});
  const caps = resolveCaps({ agents });
  lifecycle.observe(new EventMetrics({ instruments, caps, benign: new Set(), reporter }));
  const { adjustments, ignored } = new Counters();
  const none = { events: 0, openRuns: 0, auditFailures: 0, labelOverflow: NOTHING_REPLACED };
  const leave = instruments.join({
    counts: () => ({ ...none, adjustments, ignored }),
    openTrees: () => lifecycle.runs.openTrees(),
  });
  const shown = (attributes: Readonly<Record<string, unknown>>) =>
    `${attributes["gen_ai.agent.name"]} ${attributes["entelix.run.waits_for"]}`;
  return {
    lifecycle,
    leave,
    /** How many wait and for how long the longest was silent, by agent and kind. */
    at: async (seconds: number) => {
      vi.setSystemTime((ZERO + seconds) * 1000);
      const seen = await collect();
      const idle = seen.points("entelix.runs.idle.max");
      return Object.fromEntries(
        seen
          .points("entelix.runs.waiting")
          .map(({ attributes, value }) => [
            shown(attributes),
            [value, idle.find((one) => shown(one.attributes) === shown(attributes))?.value],
          ]),
      );
    },
  };
}

it("open runs are counted by agent and by what they wait for, with the longest silence", async () => {
  const { at, lifecycle } = measured();
  lifecycle.startRun("acme", "a", second(0), "react");
  lifecycle.startRun("globex", "b", second(10), "react");
  lifecycle.startRun("acme", "c", second(20), "plan");
  expect(await at(60)).toEqual({ "react nothing": [2, 60], "plan nothing": [1, 40] });
  lifecycle.startCall("acme", "a", second(61), "t");
  lifecycle.startModelCall("globex", "b", second(62), "m");
  const asked = { tenantId: "acme", runId: "c", at: second(63), callId: "t", name: "pay" };
  lifecycle.say({ signal: "call_asked", ...asked });
  expect(await at(100)).toEqual({
    "react nothing": [0, 0],
    "plan nothing": [0, 0],
    "react tool": [1, 39],
    "react model": [1, 38],
    "plan approval": [1, 37],
  });
  for (const [tenant, run] of [
    ["acme", "a"],
    ["globex", "b"],
    ["acme", "c"],
  ] as const) {
    lifecycle.endRun(tenant, run, second(101), { outcome: "complete" });
  }
  expect(Object.values(await at(110)).flat()).toEqual(Array(10).fill(0));
});

it("a run that waited for a person is counted like others", async () => {
  const { at, lifecycle } = measured();
  lifecycle.startRun("acme", "a", second(0), "react");
  const call = { tenantId: "acme", runId: "a", callId: "t", name: "pay" };
  lifecycle.say({ signal: "call_asked", ...call, at: second(1) });
  lifecycle.say({ signal: "call_approved", ...call, at: second(9), waitMs: 8000 });
  lifecycle.startCall("acme", "a", second(10), "t");
  expect(await at(30)).toEqual({ "react tool": [1, 20] });
});

it("agents past the cap are one, and a bridge that leaves has no open runs", async () => {
  const { at, leave, lifecycle } = measured(1);
  lifecycle.startRun("acme", "a", second(0), "react");
  lifecycle.startRun("acme", "b", second(5), "plan");
  lifecycle.startRun("acme", "c", second(9), "write");
  expect(await at(10)).toEqual({ "react nothing": [1, 10], "_other nothing": [2, 5] });
  leave();
  expect(await at(20)).toEqual({ "react nothing": [0, 0], "_other nothing": [0, 0] });
});
