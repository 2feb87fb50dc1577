import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { RunEvents } from "../support/run-events.ts";
import { collectorCounter } from "./support/collector-counter.ts";
import { freshRun, happening } from "./support/events.ts";
import { traceId } from "./support/fresh-ids.ts";
import { otlpPostUntilTaken } from "./support/otlp-post.ts";
import { Player } from "./support/player.ts";
import { rawRun, requestOf, spansOf, WHOLE } from "./support/raw-runs.ts";
import { Stack } from "./support/stack.ts";
import { tally } from "./support/trace-tally.ts";
import { untilHolds } from "./support/until.ts";

/** What the processor waits by itself, where nothing else is said. */
const STOCK_DECISION_WAIT_MS = 30_000;
const DECIDED = "otelcol_processor_tail_sampling_global_count_traces_sampled";
const GIVEN_UP = "otelcol_processor_tail_sampling_sampling_trace_dropped_too_early";
const LATE = "otelcol_processor_tail_sampling_early_releases_from_cache_decision";
/** Spans of a run below: its own, and those of its tool calls. */
const SPANS = 3;

const ids = (runs: readonly RunEvents[]) => runs.map((run) => traceId(run.run_id));
const some = (count: number) => Array.from({ length: count }, () => freshRun());

function player(stack: Stack): Player {
  return new Player({
    options: { serviceName: "e2e-sampled", endpoint: stack.endpoint },
    bridge: { limits: { markerAfterMs: 0 } },
    // Tool spans are exported as they end, long before their run's.
    env: { OTEL_BSP_SCHEDULE_DELAY: "100" },
  });
}

function begin(agent: Player, runs: readonly RunEvents[]): void {
  for (const run of runs) {
    const events = [run.started("long")];
    const tools = ["tu-1", "tu-2"].flatMap((id) => [run.toolStart(id), run.toolComplete(id)]);
    agent.tell([...events, ...tools].map(happening));
  }
}

/** Resolves when the sampler has decided on so many traces since its start. */
function decided(stack: Stack, traces: number) {
  return untilHolds(
    `the sampler has decided on ${traces} traces`,
    async () => expect(await collectorCounter(stack, DECIDED)).toBeGreaterThanOrEqual(traces),
    { timeoutMs: 60_000 },
  );
}

describe("tail sampling that keeps no healthy run", () => {
  let stack: Stack;

  beforeAll(async () => {
    stack = await Stack.start({
      servers: ["jaeger", "collector"],
      collectorEnv: { TRACE_SAMPLER: "tail_sampling", KEEP_PERCENT: "0" },
    });
  });
  afterAll(() => stack?.stop());

  it("keeps every failed and every interrupted trace whole, half of them longer than the stock wait", async () => {
    const failed = { long: some(25), short: some(25) };
    const paused = { long: some(5), short: some(5) };
    const healthy = { long: some(10), short: some(10) };
    const agent = player(stack);
    const end = (kind: "long" | "short") =>
      agent.tell(
        [
          ...failed[kind].map((run) => run.failed()),
          ...paused[kind].map((run) => run.interrupted()),
          ...healthy[kind].map((run) => run.complete()),
        ].map(happening),
      );

    begin(
      agent,
      [failed, paused, healthy].flatMap(({ long, short }) => [...long, ...short]),
    );
    end("short");
    await agent.flush();
    await sleep(STOCK_DECISION_WAIT_MS + 2_000);
    end("long");
    const { spans } = await agent.end();
    expect(spans).toMatchObject({ exported: 80 * SPANS });

    await decided(stack, 80);
    await untilHolds("what is kept is in Jaeger", async () => {
      expect(await tally(stack, ids([...failed.long, ...failed.short]))).toEqual({ [SPANS]: 50 });
      expect(await tally(stack, ids([...paused.long, ...paused.short]))).toEqual({ [SPANS]: 10 });
    });
    expect(await tally(stack, ids([...healthy.long, ...healthy.short]))).toEqual({ 0: 20 });
    expect(await collectorCounter(stack, GIVEN_UP)).toBe(0);
  });

  it("waits for what another process holds when the root is there", async () => {
    const run = rawRun("complete");
    const [first, ...others] = run.tools;
    if (first === undefined) throw new Error("a run without tools");
    await otlpPostUntilTaken(stack.endpoint, requestOf([run.root]));
    // A batch span processor holds spans for so long.
    await sleep(5_000);
    const broken = { ...first, status: { code: 2, message: "in another process" } } as const;
    await otlpPostUntilTaken(stack.endpoint, requestOf([broken, ...others]));
    await untilHolds(
      "the whole trace is in Jaeger",
      async () => expect(await tally(stack, [run.traceId])).toEqual({ [WHOLE]: 1 }),
      { timeoutMs: 60_000 },
    );
  });
});

describe("tail sampling with a wait that is shorter than runs", () => {
  let stack: Stack;

  beforeAll(async () => {
    stack = await Stack.start({
      servers: ["jaeger", "collector"],
      collectorEnv: {
        TRACE_SAMPLER: "tail_sampling",
        KEEP_PERCENT: "0",
        DECISION_WAIT: "2s",
        ROOT_WAIT: "1s",
        NUM_TRACES: "20",
      },
    });
  });
  afterAll(() => stack?.stop());

  it("keeps what is not finished, so that a late failure is whole", async () => {
    const runs = some(10);
    const agent = player(stack);
    begin(agent, runs);
    await agent.flush();
    await decided(stack, 10);
    agent.tell(runs.map((run) => happening(run.failed())));
    await agent.end();
    await untilHolds("all are whole", async () =>
      expect(await tally(stack, ids(runs))).toEqual({ [SPANS]: 10 }),
    );
    expect(await collectorCounter(stack, `${LATE}{sampled="true"}`)).toBe(10);
  });

  it("counts the traces that it gives up for want of room, and keeps the failure of each", async () => {
    const runs = Array.from({ length: 60 }, () => rawRun("failed"));
    for (const { tools } of runs) await otlpPostUntilTaken(stack.endpoint, requestOf(tools));
    for (const { root } of runs) await otlpPostUntilTaken(stack.endpoint, requestOf([root]));
    await untilHolds("each root is in Jaeger", async () => {
      const found = await tally(
        stack,
        runs.map((run) => run.traceId),
      );
      expect(Object.values(found).reduce((sum, count) => sum + count)).toBe(60);
      expect(found[0]).toBeUndefined();
    });
    await untilHolds("they are counted", async () =>
      expect(await collectorCounter(stack, GIVEN_UP)).toBeGreaterThan(0),
    );
  });

  it("drops a healthy trace as a whole", async () => {
    const runs = Array.from({ length: 10 }, () => rawRun("complete"));
    const kept = rawRun("failed");
    const before = await collectorCounter(stack, DECIDED);
    await otlpPostUntilTaken(stack.endpoint, requestOf([...runs, kept].flatMap(spansOf)));
    await decided(stack, before + 11);
    await untilHolds("the failed one is whole", async () =>
      expect(await tally(stack, [kept.traceId])).toEqual({ [WHOLE]: 1 }),
    );
    const healthy = runs.map((run) => run.traceId);
    expect(await tally(stack, healthy)).toEqual({ 0: 10 });
  });
});
