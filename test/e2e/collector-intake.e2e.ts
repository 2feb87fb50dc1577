import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { ATTRIBUTES } from "../../src/events/door.ts";
import { collector } from "./support/collector.ts";
import { collectorCounter } from "./support/collector-counter.ts";
import { namedPorts } from "./support/free-ports.ts";
import { otlpPost, otlpPostUntilTaken } from "./support/otlp-post.ts";
import { type PlacedServer, PORTS } from "./support/placed-server.ts";
import { type RawSpan, rawRun, requestOf, spansOf, WHOLE } from "./support/raw-runs.ts";
import { ServerProcess } from "./support/server-process.ts";
import { countedSpans } from "./support/span-metric-count.ts";
import { Stack, shipped } from "./support/stack.ts";
import { tally } from "./support/trace-tally.ts";
import { untilHolds } from "./support/until.ts";

/** As it is shipped, in bytes. */
const LARGEST_REQUEST = 16 * 2 ** 20;

const CONTENT: Readonly<Record<string, string>> = Object.fromEntries(
  [
    ...Object.entries(ATTRIBUTES).flatMap(([name, { content }]) => (content ? [name] : [])),
    "gen_ai.input.messages",
    "gen_ai.output.messages",
    "gen_ai.system_instructions",
    "gen_ai.prompt.0.content",
    "gen_ai.retrieval.documents",
    "gen_ai.memory.records",
  ].map((name) => [name, "a secret"]),
);

/** A request of about that many bytes. */
function requestOfSize(bytes: number): string {
  const { root } = rawRun("complete", { ballast: "x".repeat(bytes) });
  return requestOf([root]);
}

describe("the shipped collector", () => {
  let stack: Stack;

  beforeAll(async () => {
    stack = await Stack.start({ servers: ["jaeger", "collector"] });
  });
  afterAll(() => stack?.stop());

  it("counts live spans, and no replay", async () => {
    const [live, replayed] = [rawRun("failed"), rawRun("failed")];
    await otlpPostUntilTaken(stack.replayEndpoint, requestOf(spansOf(replayed)));
    await otlpPostUntilTaken(stack.endpoint, requestOf(spansOf(live)));
    await untilHolds("both are in Jaeger, one is counted", async () => {
      expect(await tally(stack, [live.traceId, replayed.traceId])).toEqual({ [WHOLE]: 2 });
      expect(await countedSpans(stack, { entelix_failure_kind: "internal" })).toBe(1);
    });
    expect(await countedSpans(stack)).toBe(WHOLE);
    expect(await countedSpans(stack, { entelix_root: "true", job: "e2e-raw" })).toBe(1);
  });

  it("tells roots from nested runs, in its metrics alone", async () => {
    const agent = "nested";
    const more = { "gen_ai.agent.name": agent };
    const root = rawRun("failed", more);
    const below = { ...more, "entelix.parent_run_id": root.runId };
    const nested = rawRun("failed", below).root;
    const strangers = rawRun("failed", below).root;
    const openedLate = rawRun("failed", below).root;
    // Its start never came: it names no parent, and stands in the trace of the root that its events name.
    const neverStarted = rawRun("failed", more).root;
    // The same without a root's name, and so in a trace that was told by somebody else.
    const elsewhere = rawRun("failed", more).root;
    const unseen = { key: "entelix.run.start_unseen", value: { boolValue: true } };
    await otlpPostUntilTaken(
      stack.endpoint,
      requestOf([
        root.root,
        { ...nested, parentSpanId: root.root.spanId },
        // Its parent is another tenant's, so it is the root of a trace of its own.
        strangers,
        { ...openedLate, attributes: [...openedLate.attributes, unseen] },
        {
          ...neverStarted,
          traceId: root.root.traceId,
          parentSpanId: root.root.traceId.slice(16),
          attributes: [...neverStarted.attributes, unseen],
        },
        {
          ...elsewhere,
          parentSpanId: "00f067aa0ba902b7",
          attributes: [...elsewhere.attributes, unseen],
        },
      ]),
    );
    const count = (entelix_root: string) =>
      countedSpans(stack, { gen_ai_operation_name: "invoke_agent", entelix_root });
    const before = 1;
    await untilHolds("all are counted", async () => {
      expect([await count("true"), await count("false")]).toEqual([before + 3, 3]);
    });
    await untilHolds("all are in Jaeger", async () =>
      expect(
        await tally(
          stack,
          [root.root, nested, strangers, openedLate, elsewhere].map((each) => each.traceId),
        ),
      ).toEqual({ 1: 4, 2: 1 }),
    );
    const [stored] = await stack.jaeger.trace(root.traceId);
    expect(Object.keys(stored?.attributes ?? {})).not.toContain("entelix.root");
  });

  it.each(["endpoint", "replayEndpoint"] as const)("takes content off at its %s", async (port) => {
    const run = rawRun("complete", CONTENT);
    await otlpPostUntilTaken(stack[port], requestOf(spansOf(run)));
    await untilHolds("the trace is in Jaeger", async () =>
      expect(await tally(stack, [run.traceId])).toEqual({ [WHOLE]: 1 }),
    );
    const spans = await stack.jaeger.trace(run.traceId);
    const names = new Set(spans.flatMap((span) => Object.keys(span.attributes)));
    expect([...names].filter((name) => name in CONTENT)).toEqual([]);
    expect(names).toContain("entelix.run_id");
  });

  it("refuses a request that is too large, packed or not, and goes on", async () => {
    const large = requestOfSize(LARGEST_REQUEST);
    const tooLarge = { status: 400, body: expect.stringContaining("request body too large") };
    expect(await otlpPost(stack.endpoint, large)).toEqual(tooLarge);
    expect(await otlpPost(stack.replayEndpoint, large)).toEqual(tooLarge);
    const packed = new Uint8Array(gzipSync(large));
    expect(packed.length).toBeLessThan(LARGEST_REQUEST / 100);
    const gzip = { "content-encoding": "gzip" };
    expect(await otlpPost(stack.endpoint, packed, gzip)).toEqual(tooLarge);

    const run = rawRun("complete");
    await otlpPostUntilTaken(stack.endpoint, requestOf(spansOf(run)));
    await untilHolds("the next one is in Jaeger", async () =>
      expect(await tally(stack, [run.traceId])).toEqual({ [WHOLE]: 1 }),
    );
  });

  it("makes fit what Jaeger's storage would refuse for ever", async () => {
    const long = "é".repeat(50_000);
    const { root, traceId } = rawRun("failed", { long });
    const many = Array.from({ length: 2_000 }, (_, index) => ({
      key: `many.${index}`,
      value: { stringValue: "x".repeat(4_000) },
    }));
    const list = { values: Array.from({ length: 50 }, () => ({ stringValue: long })) };
    const spans: readonly RawSpan[] = [
      { ...root, spanId: "00000000000000a1", name: long },
      { ...root, spanId: "00000000000000a2", status: { code: 2, message: long } },
      {
        ...root,
        spanId: "00000000000000a3",
        attributes: [...root.attributes, { key: "list", value: { arrayValue: list } }],
      },
      { ...root, spanId: "00000000000000a4", attributes: [...many, ...root.attributes] },
      {
        ...root,
        spanId: "00000000000000a5",
        attributes: [...root.attributes, { key: long, value: { stringValue: "a long key" } }],
      },
    ];
    await otlpPostUntilTaken(stack.endpoint, requestOf(spans));
    await untilHolds("all are in Jaeger", async () =>
      expect(await tally(stack, [traceId])).toEqual({ [spans.length]: 1 }),
    );
    for (const { spanId, name, attributes } of await stack.jaeger.trace(traceId)) {
      expect([spanId, attributes["entelix.failure.kind"]]).toEqual([spanId, "internal"]);
      expect(Object.keys(attributes).length).toBeLessThanOrEqual(130);
      expect(name.length).toBeLessThanOrEqual(1_024);
      // Cut between characters.
      if ("long" in attributes) expect(attributes.long).toMatch(/^é{8192}$/);
    }
    expect(await collectorCounter(stack, "otelcol_exporter_send_failed_spans")).toBe(0);
  });

  it("takes no metrics where replays come in", async () => {
    const response = await fetch(`${stack.replayEndpoint}/v1/metrics`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ resourceMetrics: [] }),
    });
    expect(response.status).toBe(404);
  });
});

describe("a collector that is told to keep content", () => {
  it("lets it pass", async () => {
    await using stack = await Stack.start({
      servers: ["jaeger", "collector"],
      collectorEnv: { SPAN_CONTENT: "keep" },
    });
    const run = rawRun("complete", CONTENT);
    await otlpPostUntilTaken(stack.endpoint, requestOf([run.root]));
    await untilHolds("the trace is in Jaeger", async () => {
      const [stored] = await stack.jaeger.trace(run.traceId);
      expect(stored?.attributes).toMatchObject(CONTENT);
    });
  });
});

describe("a collector with a token", () => {
  let folder: string;
  let server: ServerProcess;
  let ports: PlacedServer["ports"];

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "entelix-otel-auth-"));
    ports = await namedPorts(PORTS);
    const { collector: program = "" } = inject("serverPaths");
    const { options } = collector({ program, folder, ports, shipped }, { OTLP_TOKEN: "s3cret" });
    const overlay = shipped("deploy/collector/auth.yaml");
    server = new ServerProcess({ ...options, args: [...options.args, "--config", overlay] });
    await server.start();
  });
  afterAll(async () => {
    await server?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  it.each(["otlpHttp", "replayHttp"] as const)("refuses who has none at %s", async (port) => {
    const endpoint = `http://127.0.0.1:${ports(port)}`;
    const request = requestOf([rawRun("complete").root]);
    const post = (headers: Readonly<Record<string, string>>) =>
      otlpPost(endpoint, request, headers).then(({ status }) => status);
    expect(await post({})).toBe(401);
    expect(await post({ authorization: "Bearer wrong" })).toBe(401);
    expect(await post({ authorization: "s3cret" })).toBe(401);
    expect(await post({ authorization: "Bearer s3cret" })).toBe(200);
  });
});
