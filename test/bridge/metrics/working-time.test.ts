import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { WaitedTime } from "../../../src/bridge/metrics/waiting-run.ts";
import { RunEvents } from "../../support/run-events.ts";
import { meteredBench } from "./meter.ts";

const PARENT = "018f3c7a-0000-7000-8000-000000000001";
const CHILD = "018f3c7a-0000-7000-8000-000000000002";
const OF_REACT = { "gen_ai.agent.name": "react", "entelix.tenant_id": "acme" };
const byUser = (wait_ms: number) => ({ details: { decision: { by: "user", wait_ms } } }) as const;

/** What was measured of the root runs of acme's `react`: how many parts, and their seconds in all. */
async function worked(bench: ReturnType<typeof meteredBench>) {
  const seen = await bench.collect();
  const histogram = seen.point("entelix.runs.working_time", OF_REACT)?.histogram;
  return histogram && { parts: histogram.count, seconds: histogram.sum };
}

describe("the working time of a run", () => {
  it("is what it took, where nobody was asked", async () => {
    const bench = meteredBench();
    const run = new RunEvents(PARENT);
    bench.at(0, run.started());
    bench.at(8, run.complete());
    expect(await worked(bench)).toEqual({ parts: 1, seconds: 8 });
  });

  it("leaves out waits for people, which overlap, and not those for a policy", async () => {
    const bench = meteredBench();
    const run = new RunEvents(PARENT);
    bench.at(0, run.started());
    bench.at(100, run.approved("a"), byUser(90_000));
    bench.at(120, run.denied("b"), byUser(100_000));
    bench.at(125, run.approved("c"), { details: { decision: { by: "policy", wait_ms: 5_000 } } });
    bench.at(130, run.complete());
    expect(await worked(bench)).toEqual({ parts: 1, seconds: 20 });
    const took = (await bench.collect()).points("gen_ai.invoke_agent.duration")[0];
    expect(took?.histogram?.sum).toBe(130);
  });

  it("leaves out what a run below waited for", async () => {
    const bench = meteredBench();
    const run = new RunEvents(PARENT);
    const child = new RunEvents(CHILD);
    bench.at(0, run.started());
    bench.at(1, child.started("helper", PARENT));
    bench.at(61, child.approved("a"), byUser(60_000));
    bench.at(62, child.complete());
    bench.at(65, run.complete());
    expect(await worked(bench)).toEqual({ parts: 1, seconds: 5 });
    expect((await bench.collect()).points("entelix.runs.working_time")).toHaveLength(1);
  });

  it("ends at a pause, and begins again after it", async () => {
    const bench = meteredBench();
    const run = new RunEvents(PARENT);
    bench.at(0, run.started());
    bench.at(3, run.interrupted());
    bench.at(30_000, run.started());
    // Told with the next part, though it was before it.
    bench.at(30_001, run.approved("a"), byUser(29_000_000));
    bench.at(30_006, run.complete());
    expect(await worked(bench)).toEqual({ parts: 2, seconds: 9 });
  });

  it("of a new run that resumes another one has nothing of the wait before it", async () => {
    const bench = meteredBench();
    const paused = new RunEvents(PARENT);
    const run = new RunEvents(CHILD);
    bench.at(0, paused.started());
    bench.at(3, paused.interrupted());
    bench.at(100, run.started(), { resumed_from_run_id: PARENT });
    // LangGraph's decision is known when the node that asked has ended. The wait was from 3 to 100.
    bench.at(102, run.approved("a"), byUser(97_000));
    // It asked again, and went on when a person had answered.
    bench.at(110, run.approved("b"), byUser(5_000));
    bench.at(112, run.complete());
    expect(await worked(bench)).toEqual({ parts: 2, seconds: 3 + 7 });
  });

  it("of a run around a paused and a resumed one leaves out the wait between them", async () => {
    const bench = meteredBench();
    const run = new RunEvents(PARENT);
    const paused = new RunEvents(CHILD);
    const next = new RunEvents("018f3c7a-0000-7000-8000-000000000003");
    bench.at(0, run.started());
    bench.at(1, paused.started("helper", PARENT));
    bench.at(3, paused.interrupted());
    bench.at(63, next.started("helper", PARENT), { resumed_from_run_id: CHILD });
    bench.at(65, next.approved("a"), byUser(60_000));
    bench.at(66, next.complete());
    bench.at(68, run.complete());
    // Work: 0 to 3, and 63 to 68.
    expect(await worked(bench)).toEqual({ parts: 1, seconds: 8 });
  });

  it("of a run that was named later is its new agent's, with its waits", async () => {
    const bench = meteredBench();
    const run = new RunEvents(PARENT);
    bench.at(0, run.toolStart("x"));
    bench.at(10, run.approved("a"), byUser(10_000));
    bench.at(11, run.started());
    bench.at(12, run.complete());
    // Where its start is not known, how long it worked is not known.
    expect(await worked(bench)).toBeUndefined();
    expect((await bench.collect()).nonZero("entelix.runs.active")).toEqual({});
  });

  it.each(["failed", "abandoned"])("is not measured where it %s", async (outcome) => {
    const bench = meteredBench();
    const run = new RunEvents(PARENT);
    bench.at(0, run.started());
    if (outcome === "failed") bench.at(5, run.failed());
    await bench.sink.shutdown();
    expect(await worked(bench)).toBeUndefined();
    expect((await bench.collect()).sum("entelix.runs", { "entelix.run.outcome": outcome })).toBe(1);
  });
});

describe("waited time", () => {
  it("is the time in at least one wait, in whatever order they are told", () => {
    const wait = fc.tuple(fc.nat(60), fc.nat(20)).map(([from, ms]) => [from, from + ms] as const);
    fc.assert(
      fc.property(fc.array(wait, { maxLength: 30 }), (waits) => {
        const waited = new WaitedTime();
        for (const [from, to] of waits) waited.add(from, to);
        const seconds = Array.from({ length: 80 }, (_, at) => at);
        const covered = seconds.filter((at) => waits.some(([from, to]) => from <= at && at < to));
        expect(waited.ms).toBe(covered.length);
      }),
    );
  });

  it("keeps the sum of more waits than it knows apart", () => {
    const waited = new WaitedTime();
    for (let at = 0; at < 1_000; at++) waited.add(at * 10, at * 10 + 3);
    expect(waited.ms).toBe(3_000);
  });

  it("takes nothing that is no time", () => {
    const waited = new WaitedTime();
    waited.add(5, 5);
    waited.add(9, 2);
    waited.add(Number.NaN, 2);
    expect(waited.ms).toBe(0);
  });
});
