import { AlwaysOffSampler } from "@opentelemetry/sdk-trace-node";
import { describe, expect, it, vi } from "vitest";
import { RunEvents } from "../../support/run-events.ts";
import { meteredBench } from "./meter.ts";

const DURATION = "gen_ai.client.inference.duration";
const OPERATION_DURATION = "gen_ai.client.operation.duration";
const OPERATION = "gen_ai.client.inference.operation";
const INPUT = "gen_ai.client.inference.usage.input_tokens";
const OUTPUT = "gen_ai.client.inference.usage.output_tokens";

const SMALL = {
  "gen_ai.operation.name": "chat",
  "gen_ai.provider.name": "openai",
  "gen_ai.request.model": "small-1",
};
const TOKENS = { ...SMALL, "gen_ai.token.modality": "unknown" };

describe("a model call", () => {
  it("is measured from its start to its end, with its own tokens", async () => {
    const bench = meteredBench();
    const run = new RunEvents("r");
    bench.at(0, run.started());
    bench.at(1, run.modelStart("m1", { provider: "openai" }));
    bench.at(1.5, run.modelStart("m2", { provider: "openai" }));
    const usage = { input_tokens: 31, output_tokens: 7n };
    bench.at(2, run.modelComplete("m1", { usage }));
    bench.at(4, run.modelComplete("m2", { usage: { input_tokens: 9, output_tokens: null } }));
    // The run's own figures are not the sum that is counted here.
    const whole = { requests: 2, input_tokens: 40, output_tokens: 7, tool_calls: 0, cost_usd: "0" };
    bench.at(5, run.complete({ usage: whole }));
    const seen = await bench.collect();
    expect(seen.point(DURATION, SMALL)?.histogram).toMatchObject({ count: 2, sum: 3.5 });
    expect(seen.points(INPUT)).toEqual([{ attributes: TOKENS, value: 40, histogram: undefined }]);
    expect(seen.points(OUTPUT)).toEqual([{ attributes: TOKENS, value: 7, histogram: undefined }]);
    expect(bench.reports).toEqual([]);
  });

  it("for embeddings has series of its own", async () => {
    const bench = meteredBench();
    const run = new RunEvents("r");
    bench.at(0, run.started());
    for (const operation of ["embeddings", "chat"] as const)
      bench.at(1, run.modelStart(operation, { provider: "openai", operation }));
    const usage = { input_tokens: 31 };
    for (const operation of ["embeddings", "chat"] as const)
      bench.at(2, run.modelComplete(operation, { usage }));
    bench.at(3, run.complete());
    const seen = await bench.collect();
    const embeddings = { "gen_ai.operation.name": "embeddings" };
    expect(seen.point(OPERATION_DURATION, { ...SMALL, ...embeddings })?.histogram?.count).toBe(1);
    expect(seen.sum(OPERATION_DURATION)).toBe(1);
    expect(seen.point(DURATION, SMALL)?.histogram?.count).toBe(1);
    expect(seen.points(INPUT).map(({ attributes, value }) => [attributes, value])).toEqual([
      [{ ...TOKENS, ...embeddings }, 31],
      [TOKENS, 31],
    ]);
    expect(seen.sum("entelix.tokens")).toBe(62);
  });

  it("that stands for several has its tokens counted, but is no measurement of one call", async () => {
    vi.stubEnv("OTEL_SEMCONV_STABILITY_OPT_IN", "gen_ai/dup");
    const bench = meteredBench();
    vi.unstubAllEnvs();
    const run = new RunEvents("r");
    bench.at(0, run.started());
    bench.at(1, run.modelStart("m1", { provider: "openai" }));
    const usage = { input_tokens: 31, output_tokens: 7 };
    const answer = run.modelComplete("m1", { usage, first_output_ms: 5 });
    bench.at(9, answer, { details: { sums_calls: true } });
    bench.at(10, run.complete());
    const seen = await bench.collect();
    expect([seen.sum(INPUT), seen.sum(OUTPUT), seen.sum("entelix.tokens")]).toEqual([31, 7, 38]);
    const earlier = seen.points("gen_ai.client.token.usage").map(({ histogram }) => histogram?.sum);
    expect(earlier).toEqual([31, 7]);
    for (const name of [DURATION, OPERATION_DURATION, `${OPERATION}.input_tokens`]) {
      expect([name, seen.points(name)]).toEqual([name, []]);
    }
  });

  it("counts once, however often its events come, and though no span is made", async () => {
    const bench = meteredBench({}, { sampler: new AlwaysOffSampler() });
    const run = new RunEvents("r");
    for (const time of [0, 0]) bench.at(time, run.started());
    for (const time of [1, 1]) bench.at(time, run.modelStart("m1", { provider: "openai" }));
    const usage = { input_tokens: 5, output_tokens: 1 };
    for (const time of [3, 3]) bench.at(time, run.modelComplete("m1", { usage }));
    bench.at(4, run.complete());
    const seen = await bench.collect();
    expect(seen.point(DURATION, SMALL)?.histogram).toMatchObject({ count: 1, sum: 2 });
    expect([seen.sum(INPUT), seen.sum(OUTPUT)]).toEqual([5, 1]);
    expect(bench.spans()).toEqual([]);
  });

  it("that failed has its tokens and its cost counted, also for its run", async () => {
    const bench = meteredBench();
    const run = new RunEvents("r");
    bench.at(0, run.started());
    bench.at(1, run.modelStart("m1", { provider: "openai" }));
    const usage = { input_tokens: 100, output_tokens: 3 };
    bench.at(2, run.modelError("m1", { usage, cost_usd: "0.25" }));
    bench.at(3, run.failed());
    const seen = await bench.collect();
    expect([seen.sum(INPUT), seen.sum(OUTPUT)]).toEqual([100, 3]);
    expect([seen.sum("entelix.tokens"), seen.sum("entelix.cost")]).toEqual([103, 0.25]);
    expect(
      bench.spans().find(({ name }) => name.startsWith("invoke_agent"))?.attributes,
    ).toMatchObject({
      "entelix.run.input_tokens": 100,
      "entelix.run.output_tokens": 3,
      "entelix.run.cost": "0.25",
    });
  });

  it("that failed has its kind as error.type, unless the kind is benign here", async () => {
    const bench = meteredBench({ benignFailureKinds: ["cancelled"] });
    const run = new RunEvents("r");
    bench.at(0, run.started());
    bench.at(1, run.modelStart("m1", { provider: "openai" }));
    bench.at(2, run.modelError("m1"));
    bench.at(3, run.modelStart("m2", { provider: "openai" }));
    bench.at(4, run.modelError("m2", { kind: { type: "cancelled" } }));
    bench.at(5, run.modelStart("m3", { provider: "openai" }));
    bench.at(6, Object.assign(run.modelError("m3"), { kind: { type: "of a newer agent" } }));
    const seen = await bench.collect();
    const of = (more: object) => seen.point(DURATION, { ...SMALL, ...more })?.value;
    expect(of({ "error.type": "model_dispatch" })).toBe(1);
    expect(of({ "error.type": "_OTHER" })).toBe(1);
    expect(of({})).toBe(1);
    expect(seen.sum(DURATION)).toBe(3);
  });

  it("that a pause called off has no error.type, so that no human review shows as a failure", async () => {
    const bench = meteredBench();
    const run = new RunEvents("r");
    bench.at(0, run.started());
    bench.at(1, run.modelStart("m1", { provider: "openai" }));
    const envelope = { wire_code: "interrupted", wire_class: "client" } as const;
    bench.at(3, run.modelError("m1", { kind: { type: "unclassified" }, envelope }));
    bench.at(3, run.interrupted());
    const seen = await bench.collect();
    expect(seen.points(DURATION).map(({ attributes }) => attributes)).toEqual([SMALL]);
    expect(seen.point(DURATION, SMALL)?.histogram).toMatchObject({ count: 1, sum: 2 });
  });

  it("whose end nobody told is not measured", async () => {
    const bench = meteredBench();
    const run = new RunEvents("r");
    bench.at(0, run.started());
    bench.at(1, run.modelStart("m1"));
    bench.at(2, run.complete());
    expect((await bench.collect()).points(DURATION)).toEqual([]);
  });

  it("of which only the end is seen has the model that the end names", async () => {
    const bench = meteredBench();
    const run = new RunEvents("r");
    bench.at(0, run.started());
    bench.at(3, run.modelComplete("m1", { model: "large-2", duration_ms: 2000 }));
    bench.at(4, run.modelComplete("m2", { model: null, duration_ms: 500 }));
    const seen = await bench.collect();
    const of = (model: string) =>
      seen.point(DURATION, {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "unknown",
        "gen_ai.request.model": model,
      })?.histogram?.sum;
    expect([of("large-2"), of("unknown")]).toEqual([2, 0.5]);
  });
});

describe("the labels of model calls", () => {
  it("show the first models and providers, and the rest as _other", async () => {
    const bench = meteredBench({ metrics: { models: 2 } });
    const run = new RunEvents("r");
    bench.at(0, run.started());
    for (let n = 0; n < 30; n++) {
      bench.at(n, run.modelStart(`m${n}`, { provider: `p${n}`, model: `model-${n}` }));
      bench.at(n + 1, run.modelComplete(`m${n}`, { usage: { input_tokens: 1 } }));
    }
    const seen = await bench.collect();
    const values = (name: string) => {
      const all = seen.points(DURATION).map(({ attributes }) => attributes[name]);
      return new Set(all);
    };
    expect(values("gen_ai.request.model")).toEqual(new Set(["model-0", "model-1", "_other"]));
    expect(values("gen_ai.provider.name").size).toBe(21);
    expect(seen.sum(DURATION)).toBe(30);
    expect(seen.sum(INPUT)).toBe(30);
    // Of 28 calls the model's name, of ten the provider's, each on its duration, its tokens and their sum.
    expect(bench.sink.diagnostics().labelOverflow.model).toBe(3 * (28 + 10));
  });

  it("count an answering model apart from the requested ones", async () => {
    const bench = meteredBench({ metrics: { models: ["small-1"] } });
    const run = new RunEvents("r");
    bench.at(0, run.started());
    bench.at(1, run.modelStart("m1", { model: "small-1" }));
    bench.at(2, run.modelComplete("m1", { response_model: "small-1-2026-01-01" }));
    const [point] = (await bench.collect()).points(DURATION);
    expect(point?.attributes).toMatchObject({
      "gen_ai.request.model": "small-1",
      "gen_ai.response.model": "_other",
    });
    // The answer has a longer name than the list: that is no overflow to be alerted of.
    expect(bench.sink.diagnostics().labelOverflow.model).toBe(0);
  });

  it("stay within what a metric can have, and lose no call", async () => {
    const bench = meteredBench({ metrics: { models: 1900 } });
    const run = new RunEvents("r");
    bench.at(0, run.started());
    for (let n = 0; n < 5_000; n++) {
      bench.at(n, run.modelStart(`m${n}`, { provider: `p${n % 20}`, model: `model-${n}` }));
      bench.at(n, run.modelComplete(`m${n}`, { usage: { output_tokens: 2 } }));
    }
    const seen = await bench.collect();
    expect(seen.points(DURATION).length).toBeLessThanOrEqual(1_900);
    expect(seen.sum(DURATION)).toBe(5_000);
    expect(seen.sum(OUTPUT)).toBe(10_000);
  });
});
