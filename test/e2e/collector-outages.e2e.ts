import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { collectorCounter } from "./support/collector-counter.ts";
import { freshRun, happening } from "./support/events.ts";
import { traceId } from "./support/fresh-ids.ts";
import { otlpPost, otlpPostUntilTaken } from "./support/otlp-post.ts";
import { Player } from "./support/player.ts";
import { type RawRun, rawRun, requestOf, spansOf, WHOLE } from "./support/raw-runs.ts";
import { countedSpans } from "./support/span-metric-count.ts";
import { Stack } from "./support/stack.ts";
import { tally } from "./support/trace-tally.ts";
import { untilHolds } from "./support/until.ts";

/** So small that it is full in a test: about 1,500 spans. Not below the collector's smallest batch. */
const SMALL_QUEUE = { QUEUE_BYTES: "600000", MAX_REQUEST_BYTES: "600000" };
const QUEUED = "otelcol_exporter_queue_size";
/** Spans of a run of {@link load}: its own, and that of its tool call. */
const SPANS = 2;

const ids = (runs: readonly RawRun[]) => runs.map((run) => run.traceId);
const some = (count: number, outcome: Parameters<typeof rawRun>[0] = "complete") =>
  Array.from({ length: count }, () => rawRun(outcome));

function player(stack: Stack, env: Readonly<Record<string, string>> = {}): Player {
  return new Player({
    setup: "setupTelemetry",
    options: { serviceName: "e2e-outage", endpoint: stack.endpoint },
    env: { OTEL_BSP_SCHEDULE_DELAY: "200", ...env },
  });
}

/** Gives the agent runs, ten a second, for so long. @returns their trace ids. */
async function load(agent: Player, seconds: number): Promise<string[]> {
  const traces: string[] = [];
  for (let tenths = 0; tenths < seconds * 10; tenths++) {
    const run = freshRun();
    traces.push(traceId(run.run_id));
    agent.tell(
      [
        run.started("busy"),
        run.toolStart("tu-1"),
        run.toolComplete("tu-1"),
        tenths % 5 === 0 ? run.failed() : run.complete(),
      ].map(happening),
    );
    await sleep(100);
  }
  return traces;
}

function whole(stack: Stack, traces: readonly string[], spans: number) {
  return untilHolds(
    "every trace is whole",
    async () => expect(await tally(stack, traces)).toEqual({ [spans]: traces.length }),
    { timeoutMs: 60_000, everyMs: 1_000 },
  );
}

describe("Jaeger, stopped for a minute under load,", () => {
  it("costs nothing: what it missed waits on disk", async () => {
    await using stack = await Stack.start({ servers: ["jaeger", "collector"] });
    const agent = player(stack);
    const before = await load(agent, 3);
    await stack.server("jaeger").stop();
    const during = await load(agent, 60);
    expect(await collectorCounter(stack, QUEUED)).toBeGreaterThan(0);
    await stack.server("jaeger").start();
    const after = await load(agent, 3);

    const traces = [...before, ...during, ...after];
    const { spans } = await agent.end();
    expect(spans).toMatchObject({ exported: traces.length * SPANS, lost: {} });
    await whole(stack, traces, SPANS);
    await untilHolds("as many are counted", async () =>
      expect(await countedSpans(stack)).toBe(traces.length * SPANS),
    );
    expect(await collectorCounter(stack, QUEUED)).toBe(0);
  }, 240_000);

  it("killed in place of stopped, costs nothing either", async () => {
    await using stack = await Stack.start({ servers: ["jaeger", "collector"] });
    const agent = player(stack);
    const before = await load(agent, 3);
    await stack.server("jaeger").kill();
    const during = await load(agent, 2);
    await stack.server("jaeger").start();
    await agent.end();
    await whole(stack, [...before, ...during], SPANS);
  });
});

describe("a collector killed with its queue full", () => {
  it("has on disk what it confirmed, and what it did not confirm is sent again", async () => {
    await using stack = await Stack.start({
      servers: ["jaeger", "collector"],
      collectorEnv: SMALL_QUEUE,
    });
    await stack.server("jaeger").stop();
    const confirmed: RawRun[] = [];
    const refused: RawRun[] = [];
    while (refused.length === 0) {
      const runs = some(50);
      // Where there is no room it does not answer: it waits for room.
      const request = requestOf(runs.flatMap(spansOf));
      const { status } = await otlpPost(stack.endpoint, request, {}, 2_000);
      (status === 200 ? confirmed : refused).push(...runs);
    }
    expect(confirmed.length).toBeGreaterThan(100);

    await stack.server("collector").kill();
    await stack.server("jaeger").start();
    await stack.server("collector").start();
    await whole(stack, ids(confirmed), WHOLE);
    await otlpPostUntilTaken(stack.endpoint, requestOf(refused.flatMap(spansOf)));
    await whole(stack, ids(refused), WHOLE);
  });

  it("killed again and again under load, loses nothing", async () => {
    await using stack = await Stack.start({ servers: ["jaeger", "collector"] });
    const sent: RawRun[] = [];
    const sending: Promise<void>[] = [];
    for (let round = 0; round < 3; round++) {
      for (let request = 0; request < 40; request++) {
        const runs = some(5);
        sent.push(...runs);
        sending.push(otlpPostUntilTaken(stack.endpoint, requestOf(runs.flatMap(spansOf))));
        await sleep(20);
      }
      await stack.server("collector").kill();
      await stack.server("collector").start();
    }
    await Promise.all(sending);
    await whole(stack, ids(sent), WHOLE);
  });

  it("that samples loses healthy spans of undecided traces, and no failure", async () => {
    await using stack = await Stack.start({
      servers: ["jaeger", "collector"],
      collectorEnv: { TRACE_SAMPLER: "tail_sampling", KEEP_PERCENT: "100", ROOT_WAIT: "2s" },
    });
    const decided = some(20, "failed");
    await otlpPostUntilTaken(stack.endpoint, requestOf(decided.flatMap(spansOf)));
    await whole(stack, ids(decided), WHOLE);

    const undecided = { failed: some(20, "failed"), healthy: some(20) };
    const spans = [...undecided.failed, ...undecided.healthy].flatMap(spansOf);
    await otlpPostUntilTaken(stack.endpoint, requestOf(spans));
    await stack.server("collector").kill();
    await stack.server("collector").start();
    // The span of each failed run went past the sampler. The rest is what the design gives up.
    await untilHolds("the failures are in Jaeger", async () =>
      expect(await tally(stack, ids(undecided.failed))).toEqual({ 1: 20 }),
    );
    expect(await tally(stack, ids(undecided.healthy))).toEqual({ 0: 20 });
    expect(await tally(stack, ids(decided))).toEqual({ [WHOLE]: 20 });
  });

  it("that samples and is stopped in place of killed, loses nothing", async () => {
    await using stack = await Stack.start({
      servers: ["jaeger", "collector"],
      collectorEnv: { TRACE_SAMPLER: "tail_sampling", KEEP_PERCENT: "100", ROOT_WAIT: "60s" },
    });
    const undecided = [...some(20, "failed"), ...some(20)];
    await otlpPostUntilTaken(stack.endpoint, requestOf(undecided.flatMap(spansOf)));
    await stack.server("collector").stop();
    await stack.server("collector").start();
    await whole(stack, ids(undecided), WHOLE);
  });

  it("that samples waits where the queue is full, so that nothing is lost behind the sampler", async () => {
    await using stack = await Stack.start({
      servers: ["jaeger", "collector"],
      collectorEnv: {
        ...SMALL_QUEUE,
        TRACE_SAMPLER: "tail_sampling",
        KEEP_PERCENT: "100",
        ROOT_WAIT: "1s",
      },
    });
    await stack.server("jaeger").stop();
    const sent: RawRun[] = [];
    const sending: Promise<void>[] = [];
    for (let request = 0; request < 30; request++) {
      const runs = some(50);
      sent.push(...runs);
      sending.push(otlpPostUntilTaken(stack.endpoint, requestOf(runs.flatMap(spansOf))));
      await sleep(100);
    }
    await untilHolds("the queue is full", async () =>
      expect(await collectorCounter(stack, QUEUED)).toBeGreaterThan(500_000),
    );
    await stack.server("jaeger").start();
    await Promise.all(sending);
    await whole(stack, ids(sent), WHOLE);
  });
});

describe("a collector that cannot be reached when the agent starts", () => {
  it("but soon, costs nothing", async () => {
    await using stack = await Stack.start({ servers: ["jaeger", "collector"] });
    await stack.server("collector").stop();
    const agent = player(stack);
    const traces = await load(agent, 3);
    await stack.server("collector").start();
    traces.push(...(await load(agent, 2)));
    const { spans } = await agent.end();
    expect(spans).toMatchObject({ exported: traces.length * SPANS, lost: {} });
    await whole(stack, traces, SPANS);
  });

  it("for longer than the agent can hold, costs spans that are counted, and somebody is told", async () => {
    await using stack = await Stack.start();
    await stack.server("collector").stop();
    // The agent holds as much as it makes in a second, in place of 64 MiB.
    const agent = player(stack, { OTEL_BSP_MAX_QUEUE_SIZE: "20" });
    const missed = await load(agent, 4);
    await stack.server("collector").start();
    const seen = await load(agent, 4);

    await untilHolds("the loss is a metric", async () =>
      expect(
        await stack.prometheus.value("sum(entelix_bridge_spans_dropped_total)"),
      ).toBeGreaterThan(0),
    );
    await untilHolds("somebody is told", () =>
      expect(stack.webhook.firings().map(({ labels }) => labels.alertname)).toContain(
        "EntelixSpansDropped",
      ),
    );
    const { spans } = await agent.end();
    const { exported, lost } = spans;
    if (typeof lost !== "object" || lost === null) throw new TypeError("expected what was lost");
    const dropped = Object.values(lost).reduce((sum: number, count) => sum + Number(count), 0);
    expect(dropped).toBeGreaterThan(0);
    const all = (missed.length + seen.length) * SPANS;
    expect(Number(exported) + dropped).toBe(all);
    await untilHolds("Jaeger has what was exported", async () => {
      const found = await tally(stack, [...missed, ...seen]);
      const stored = Object.entries(found).map(([count, traces]) => Number(count) * traces);
      expect(stored.reduce((sum, count) => sum + count, 0)).toBe(exported);
    });
    // The figures from events do not come from spans: they have what Jaeger has not.
    await untilHolds("every run is counted", async () =>
      expect(await stack.prometheus.value("sum(entelix_runs_total)")).toBe(
        missed.length + seen.length,
      ),
    );
  });
});
