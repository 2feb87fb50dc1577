import { afterEach, describe, expect, it, vi } from "vitest";
import { METRICS } from "../../../src/bridge/metrics/metric-names.ts";
import { EARLIER_NAMES, standingOf } from "../../../src/bridge/standing.ts";
import { RunEvents } from "../../support/run-events.ts";
import { type Collected, meteredBench } from "./meter.ts";

const CHAT = {
  "gen_ai.operation.name": "chat",
  "gen_ai.provider.name": "openai",
  "gen_ai.request.model": "small-1",
  "gen_ai.response.model": "small-1-2026",
  "server.address": "api.example.com",
  "server.port": 443,
};
const USAGE = {
  input_tokens: 100,
  output_tokens: 20,
  cache_read_input_tokens: 60,
  cache_write_input_tokens: 30,
  reasoning_output_tokens: 5,
};
const SERVER = { provider: "openai", server_address: "api.example.com", server_port: 443 };

/** The metrics of one streamed call and one for embeddings, of 2 s each. */
async function measured(optIn: string | undefined): Promise<Collected> {
  vi.stubEnv("OTEL_SEMCONV_STABILITY_OPT_IN", optIn);
  const bench = meteredBench();
  const run = new RunEvents("r");
  bench.at(0, run.started());
  bench.at(1, run.modelStart("m1", SERVER));
  const answer = { response_model: "small-1-2026", first_output_ms: 250, usage: USAGE };
  bench.at(3, run.modelComplete("m1", answer));
  bench.at(4, run.modelStart("e1", { provider: "openai", operation: "embeddings" }));
  bench.at(6, run.modelComplete("e1", { usage: { input_tokens: 7 } }));
  bench.at(7, run.complete());
  const seen = await bench.collect();
  expect(bench.reports).toEqual([]);
  return seen;
}

afterEach(() => void vi.unstubAllEnvs());

describe("the metrics of a model call", () => {
  it("have the newest merged names, with the answering model and the server", async () => {
    const seen = await measured(undefined);
    const sumOf = (name: string, more = {}) =>
      seen.point(name, { ...CHAT, ...more })?.histogram?.sum;
    expect(sumOf("gen_ai.client.inference.duration")).toBe(2);
    expect(sumOf("gen_ai.client.inference.time_to_first_chunk")).toBe(0.25);
    expect(sumOf("gen_ai.client.inference.operation.input_tokens")).toBe(100);
    expect(sumOf("gen_ai.client.inference.operation.output_tokens")).toBe(20);
    const used = (name: string) =>
      seen.point(`gen_ai.client.inference.usage.${name}`, {
        ...CHAT,
        "gen_ai.token.modality": "unknown",
      })?.value;
    expect(
      [
        "input_tokens",
        "output_tokens",
        "cache_read.input_tokens",
        "cache_write.input_tokens",
        "reasoning.output_tokens",
      ].map(used),
    ).toEqual([100, 20, 60, 30, 5]);
  });

  it("leave the duration of embeddings under the name for other operations", async () => {
    const seen = await measured("gen_ai_latest_experimental");
    const points = seen.points("gen_ai.client.operation.duration");
    expect(points.map(({ attributes, histogram }) => [attributes, histogram?.sum])).toEqual([
      [
        {
          "gen_ai.operation.name": "embeddings",
          "gen_ai.provider.name": "openai",
          "gen_ai.request.model": "small-1",
        },
        2,
      ],
    ]);
    expect(seen.sum("gen_ai.client.inference.operation.input_tokens")).toBe(1);
    expect(seen.sum("gen_ai.client.inference.usage.input_tokens")).toBe(107);
  });

  it.each([undefined, "", "http/dup", "gen_ai_latest_experimental"])(
    "have no earlier name with the opt-in %s",
    async (optIn) => {
      const { names } = await measured(optIn);
      const own = new Set(["gen_ai.client.operation.duration"]);
      expect(names.filter((name) => EARLIER_NAMES.has(name) && !own.has(name))).toEqual([]);
    },
  );

  it("have their earlier names, too, with gen_ai/dup", async () => {
    const seen = await measured("http, GEN_AI/DUP");
    const durations = seen.point("gen_ai.client.operation.duration", CHAT);
    expect(durations?.histogram).toMatchObject({ count: 1, sum: 2 });
    expect(seen.point("gen_ai.client.operation.time_to_first_chunk", CHAT)?.histogram?.sum).toBe(
      0.25,
    );
    const tokens = (type: string) =>
      seen.point("gen_ai.client.token.usage", { ...CHAT, "gen_ai.token.type": type });
    expect([tokens("input")?.histogram?.sum, tokens("output")?.histogram?.sum]).toEqual([100, 20]);
    expect(seen.point("gen_ai.client.inference.duration", CHAT)?.histogram?.sum).toBe(2);
    const expected = Object.keys(METRICS).flatMap((name) => standingOf(name)?.before ?? []);
    expect(seen.names).toEqual(expect.arrayContaining(expected));
  });

  it("name the answering model where none was asked for by name", async () => {
    const bench = meteredBench();
    const run = new RunEvents("r");
    bench.at(0, run.started());
    bench.at(1, run.modelStart("m1", { model: null }));
    bench.at(2, run.modelComplete("m1", { model: null, response_model: "small-1-2026" }));
    const seen = await bench.collect();
    const [point] = seen.points("gen_ai.client.inference.duration");
    expect(point?.attributes["gen_ai.request.model"]).toBe("small-1-2026");
  });

  it("name at most 20 servers, and no port of the others", async () => {
    const bench = meteredBench();
    const run = new RunEvents("r");
    bench.at(0, run.started());
    for (let n = 0; n < 30; n++) {
      const server = { server_address: `host-${n}`, server_port: 1000 + n };
      bench.at(n, run.modelStart(`m${n}`, server));
      bench.at(n, run.modelComplete(`m${n}`, {}));
    }
    const seen = await bench.collect();
    const points = seen.points("gen_ai.client.inference.duration");
    const others = points.filter(({ attributes }) => attributes["server.address"] === "_other");
    expect(points.length).toBe(21);
    expect(others.map(({ attributes, value }) => [attributes["server.port"], value])).toEqual([
      [undefined, 10],
    ]);
  });
});

describe("the model calls of a run", () => {
  const name = "gen_ai.invoke_agent.inference_calls";

  it("are counted for each segment, without embeddings and those of child runs", async () => {
    const bench = meteredBench();
    const run = new RunEvents("r");
    const child = new RunEvents("c");
    bench.at(0, run.started("planner"));
    bench.at(1, run.modelComplete("m1", {}));
    bench.at(1, run.modelComplete("e1", { operation: "embeddings" }));
    bench.at(1, run.modelError("m2"));
    bench.at(2, child.started("expert", "r"));
    bench.at(2, child.modelComplete("m1", {}));
    bench.at(3, child.complete());
    bench.at(4, run.interrupted());
    bench.at(5, run.started("planner"));
    bench.at(6, run.modelComplete("m3", {}));
    bench.at(7, run.complete());
    const seen = await bench.collect();
    const of = (agent: string) => seen.point(name, { "gen_ai.agent.name": agent })?.histogram;
    expect(of("planner")).toMatchObject({ count: 2, sum: 3 });
    expect(of("expert")).toMatchObject({ count: 1, sum: 1 });
  });

  it("are not measured where no source reports any", async () => {
    const bench = meteredBench();
    const run = new RunEvents("r");
    bench.at(0, run.started());
    bench.at(1, run.toolComplete("a"));
    bench.at(2, run.complete());
    expect((await bench.collect()).points(name)).toEqual([]);
  });
});
