import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { RunEvents, ZERO } from "../../support/run-events.ts";
import { meteredBench } from "./meter.ts";

const FIRST = "018f3c7a-0000-7000-8000-000000000001";
const SECOND = "018f3c7a-0000-7000-8000-000000000002";
const waiting = { kind: { type: "approval_pending", tool_use_id: "call_1" } } as const;
const onThread = { thread_id: "th-1" };

/** The system's clock, in seconds after second 0 of the events. */
function clockAt(seconds: number): void {
  vi.setSystemTime((ZERO + seconds) * 1000);
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"] });
  clockAt(0);
});
afterEach(() => {
  vi.useRealTimers();
});

/** How many wait, and how long the oldest of acme's. */
async function approvals(bench: ReturnType<typeof meteredBench>) {
  const seen = await bench.collect();
  return [
    seen.sum("entelix.approvals.pending"),
    seen.point("entelix.approvals.oldest", { "entelix.tenant_id": "acme" })?.value,
  ];
}

/** A run that waits for an approval since second 10. */
function waitingBench(envelope = {}) {
  const bench = meteredBench({ limits: { closedRuns: 1 } });
  const run = new RunEvents(FIRST);
  bench.identified(0, run.started(), envelope);
  bench.identified(10, run.interrupted(waiting), envelope);
  clockAt(70);
  return bench;
}

describe("a run that waits for an approval", () => {
  it("is pending, and older each time one looks", async () => {
    const bench = waitingBench();
    expect(await approvals(bench)).toEqual([1, 60]);
    clockAt(100.5);
    const seen = await bench.collect();
    expect(seen.points("entelix.approvals.pending")).toEqual([
      {
        attributes: { "gen_ai.agent.name": "react", "entelix.tenant_id": "acme" },
        value: 1,
        histogram: undefined,
      },
    ]);
    expect(await approvals(bench)).toEqual([1, 90.5]);
  });

  it("waits no more when it goes on under its own id", async () => {
    const bench = waitingBench();
    expect(await approvals(bench)).toEqual([1, 60]);
    bench.identified(70, new RunEvents(FIRST).started());
    expect(await approvals(bench)).toEqual([0, 0]);
    bench.identified(80, new RunEvents(FIRST).interrupted(waiting));
    clockAt(90);
    expect(await approvals(bench)).toEqual([1, 10]);
  });

  it("waits no more when another run names it", async () => {
    const bench = waitingBench();
    bench.identified(70, new RunEvents(SECOND).started(), {
      resumed_from_run_id: FIRST.toUpperCase(),
    });
    expect(await approvals(bench)).toEqual([0, 0]);
  });

  it("waits no more when it becomes known that a run which has started continues it", async () => {
    const bench = waitingBench();
    const second = new RunEvents(SECOND);
    bench.identified(70, second.toolStart("a"));
    expect(await approvals(bench)).toEqual([1, 60]);
    bench.identified(71, second.started(), { resumed_from_run_id: FIRST });
    expect(await approvals(bench)).toEqual([0, 0]);
  });

  it("waits no more when the next root run of its thread starts", async () => {
    const bench = waitingBench(onThread);
    const stranger = new RunEvents("018f3c7a-0000-7000-8000-000000000009", "globex");
    bench.identified(65, stranger.started(), onThread);
    bench.identified(66, new RunEvents(SECOND).started("react", stranger.run_id));
    expect(await approvals(bench)).toEqual([1, 60]);
    bench.identified(70, new RunEvents("018f3c7a-0000-7000-8000-00000000000a").started(), onThread);
    expect(await approvals(bench)).toEqual([0, 0]);
  });

  it("waits on when a run starts on its thread that says to continue another one", async () => {
    const bench = meteredBench();
    const [first, second] = [new RunEvents(FIRST), new RunEvents(SECOND)];
    bench.identified(0, first.started(), onThread);
    bench.identified(1, second.started(), onThread);
    bench.identified(10, first.interrupted(waiting), onThread);
    bench.identified(30, second.interrupted(waiting), onThread);
    clockAt(70);
    expect(await approvals(bench)).toEqual([2, 60]);
    const next = new RunEvents("018f3c7a-0000-7000-8000-00000000000a");
    bench.identified(70, next.started(), { ...onThread, resumed_from_run_id: FIRST });
    expect(await approvals(bench)).toEqual([1, 40]);
    // What it names is nothing that waits here: it was resumed in another process before.
    const last = new RunEvents("018f3c7a-0000-7000-8000-00000000000b");
    const before = { resumed_from_run_id: "018f3c7a-0000-7000-8000-00000000000c" };
    bench.identified(70, last.started(), { ...onThread, ...before });
    expect(await approvals(bench)).toEqual([0, 0]);
  });

  it("waits on when another run of its thread goes on under its own id", async () => {
    const bench = meteredBench();
    const [first, second] = [new RunEvents(FIRST), new RunEvents(SECOND)];
    bench.identified(0, first.started(), onThread);
    bench.identified(1, second.started(), onThread);
    bench.identified(10, first.interrupted(waiting), onThread);
    bench.identified(30, second.interrupted(waiting), onThread);
    clockAt(70);
    bench.identified(70, first.started(), onThread);
    expect(await approvals(bench)).toEqual([1, 40]);
  });

  it("is known after the lifecycle has forgotten its run", async () => {
    const bench = waitingBench();
    for (const n of [3, 4, 5]) {
      const other = new RunEvents(`018f3c7a-0000-7000-8000-00000000000${n}`);
      bench.identified(20, other.started());
      bench.identified(21, other.complete());
    }
    expect(bench.sink.diagnostics().adjustments.forgotten_runs).toBeGreaterThan(0);
    expect(await approvals(bench)).toEqual([1, 60]);
    bench.identified(70, new RunEvents(FIRST).started());
    expect(await approvals(bench)).toEqual([0, 0]);
  });

  it("is given up after seven days, and counted as forgotten", async () => {
    const bench = waitingBench();
    clockAt(10 + 7 * 86_400);
    expect(await approvals(bench)).toEqual([1, 604_800]);
    clockAt(11 + 7 * 86_400);
    expect(await approvals(bench)).toEqual([0, 0]);
    const seen = await bench.collect();
    const forgotten = { "entelix.reason": "forgotten_pending" };
    expect(seen.point("entelix.bridge.adjustments", forgotten)?.value).toBe(1);
  });

  it("is 0 s old where the clocks disagree", async () => {
    const bench = waitingBench();
    clockAt(5);
    expect(await approvals(bench)).toEqual([1, 0]);
  });
});

describe("what is no approval", () => {
  it("is a pause of another kind, a child below one that waits, or an end", async () => {
    const bench = meteredBench();
    const [root, child] = [new RunEvents(FIRST), new RunEvents(SECOND)];
    bench.at(0, root.started("coordinator"));
    bench.at(1, child.started("team", FIRST));
    bench.at(2, child.interrupted(waiting));
    expect((await approvals(bench))[0]).toBe(0);
    bench.at(
      3,
      root.interrupted({ kind: { type: "scheduled_pause", phase: "before", node: "n" } }),
    );
    expect((await approvals(bench))[0]).toBe(0);
    const seen = await bench.collect();
    expect(seen.sum("entelix.runs", { "entelix.run.outcome": "interrupted" })).toBe(2);
  });
});

describe("many that wait", () => {
  it("are counted by agent and tenant, the oldest of each tenant", async () => {
    const bench = meteredBench();
    const id = (n: number) => `018f3c7a-0000-7000-8000-0000000001${n}`;
    const start = (n: number, tenant: string, agent: string) => {
      const run = new RunEvents(id(n), tenant);
      bench.at(0, run.started(agent));
      bench.at(n, run.interrupted(waiting));
    };
    start(30, "acme", "a");
    start(20, "acme", "b");
    start(25, "acme", "b");
    start(10, "globex", "a");
    clockAt(40);
    const seen = await bench.collect();
    expect(seen.nonZero("entelix.approvals.pending")).toEqual({
      "entelix.tenant_id=acme,gen_ai.agent.name=a": 1,
      "entelix.tenant_id=acme,gen_ai.agent.name=b": 2,
      "entelix.tenant_id=globex,gen_ai.agent.name=a": 1,
    });
    expect(seen.nonZero("entelix.approvals.oldest")).toEqual({
      "entelix.tenant_id=acme": 20,
      "entelix.tenant_id=globex": 30,
    });
  });

  it("are bounded: past 10,000 the first are forgotten, and counted", async () => {
    const bench = meteredBench({ limits: { closedRuns: 10 } });
    for (let n = 0; n < 10_003; n++) {
      const run = new RunEvents(`run-${n}`);
      bench.at(0, run.started());
      bench.at(1, run.interrupted(waiting));
    }
    const seen = await bench.collect();
    expect(seen.sum("entelix.approvals.pending")).toBe(10_000);
    const forgotten = { "entelix.reason": "forgotten_pending" };
    expect(seen.point("entelix.bridge.adjustments", forgotten)?.value).toBe(3);
  });
});
