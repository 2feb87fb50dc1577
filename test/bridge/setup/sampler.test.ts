import { ROOT_CONTEXT, SpanKind, TraceFlags, trace } from "@opentelemetry/api";
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  ParentBasedSampler,
  type Sampler,
  SamplingDecision,
  TraceIdRatioBasedSampler,
} from "@opentelemetry/sdk-trace-node";
import fc from "fast-check";
import { v7 } from "uuid";
import { describe, expect, it } from "vitest";
import { createSampler, samplerFromEnvironment } from "../../../src/bridge/setup/sampler.ts";
import { SpanHandle } from "../../../src/bridge/spans/span-handle.ts";
import { runs } from "../../support/runs.ts";
import { isolateProcess, keepDiag } from "./isolation.ts";

isolateProcess();

const KEEP = SamplingDecision.RECORD_AND_SAMPLED;
const DROP = SamplingDecision.NOT_RECORD;
const SPAN_ID = "00f067aa0ba902b7";
const TRACE_ID = "018f3c7a00007000800000000000002a";

function decide(sampler: Sampler, traceId: string, context = ROOT_CONTEXT): SamplingDecision {
  return sampler.shouldSample(context, traceId, "span", SpanKind.INTERNAL, {}, []).decision;
}

function under(traceId: string, sampled: boolean, isRemote = true) {
  const traceFlags = sampled ? TraceFlags.SAMPLED : TraceFlags.NONE;
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId: SPAN_ID, traceFlags, isRemote });
}

const derived = (traceId: string) =>
  SpanHandle.remote({ traceId, spanId: SPAN_ID, traceFlags: 1, isRemote: true }, true);

/** UUIDs as runs have them, the same in each run of the test. */
function* runIds(count: number): Generator<string> {
  let state = 0x2545f491;
  const random = new Uint8Array(16);
  for (let i = 0; i < count; i++) {
    for (let at = 0; at < 16; at++) {
      state ^= state << 13;
      state ^= state >>> 17;
      state ^= state << 5;
      random[at] = state & 0xff;
    }
    yield v7({ random, msecs: 1_763_700_000_000 + Math.floor(i / 50) }).replaceAll("-", "");
  }
}

describe("createSampler", () => {
  it("keeps its share of 200,000 runs with UUID v7 ids", () => {
    const sampler = createSampler(new TraceIdRatioBasedSampler(0.1));
    let kept = 0;
    for (const id of runIds(200_000)) if (decide(sampler, id) === KEEP) kept++;
    // Five times the standard deviation of a fair draw.
    expect(Math.abs(kept / 200_000 - 0.1)).toBeLessThan(0.0034);
  });

  it("follows a parent that is known, whatever the root sampler says", () => {
    for (const isRemote of [true, false]) {
      const off = createSampler(new AlwaysOffSampler());
      expect(decide(off, TRACE_ID, under(TRACE_ID, true, isRemote))).toBe(KEEP);
      const on = createSampler(new AlwaysOnSampler());
      expect(decide(on, TRACE_ID, under(TRACE_ID, false, isRemote))).toBe(DROP);
    }
  });

  it("decides under a derived parent as the process of the root does", () => {
    const sampler = createSampler(new TraceIdRatioBasedSampler(0.3));
    const seen = new Set<SamplingDecision>();
    for (const id of runIds(200)) {
      const asRoot = decide(sampler, id);
      seen.add(asRoot);
      expect(decide(sampler, id, derived(id))).toBe(asRoot);
    }
    expect(seen).toEqual(new Set([KEEP, DROP]));
  });

  it("shows a root sampler no parent where the parent is derived", () => {
    const root = new ParentBasedSampler({ root: new AlwaysOffSampler() });
    expect(decide(createSampler(root), TRACE_ID, derived(TRACE_ID))).toBe(DROP);
  });

  it("hands name, kind, attributes and links on, and what the root sampler adds back", () => {
    const asked: unknown[] = [];
    const root: Sampler = {
      shouldSample: (_context, ...rest) => {
        asked.push(rest);
        return { decision: KEEP, attributes: { by: "root" } };
      },
      toString: () => "Mine",
    };
    const sampler = createSampler(root);
    const links = [{ context: { traceId: TRACE_ID, spanId: SPAN_ID, traceFlags: 1 } }];
    const args = [TRACE_ID, "invoke_agent a", SpanKind.CLIENT, { a: 1 }, links] as const;
    const [traceId, name, kind, attributes] = args;
    for (const context of [ROOT_CONTEXT, derived(TRACE_ID)]) {
      const result = sampler.shouldSample(context, traceId, name, kind, attributes, links);
      expect(result).toEqual({ decision: KEEP, attributes: { by: "root" } });
    }
    expect(asked).toEqual([args, args]);
    expect(sampler.toString()).toBe("Following{root=Mine}");
  });
});

describe("samplerFromEnvironment", () => {
  const known = (traceId: string, sampled: boolean) => under(traceId, sampled);
  const cases: [string | undefined, root: string, sampledParent: string, unsampled: string][] = [
    [undefined, "keep", "keep", "drop"],
    ["", "keep", "keep", "drop"],
    ["always_on", "keep", "keep", "keep"],
    ["always_off", "drop", "drop", "drop"],
    ["parentbased_always_on", "keep", "keep", "drop"],
    ["parentbased_always_off", "drop", "keep", "drop"],
  ];
  it.each(cases)("%s", (name, root, sampled, unsampled) => {
    if (name !== undefined) process.env.OTEL_TRACES_SAMPLER = name;
    const lines = keepDiag();
    const sampler = samplerFromEnvironment();
    const word = (decision: SamplingDecision) => (decision === KEEP ? "keep" : "drop");
    expect(word(decide(sampler, TRACE_ID))).toBe(root);
    expect(word(decide(sampler, TRACE_ID, known(TRACE_ID, true)))).toBe(sampled);
    expect(word(decide(sampler, TRACE_ID, known(TRACE_ID, false)))).toBe(unsampled);
    expect(lines).toEqual([]);
  });

  it("traceidratio decides for every span, parentbased_traceidratio where none is followed", () => {
    process.env.OTEL_TRACES_SAMPLER_ARG = "0.25";
    process.env.OTEL_TRACES_SAMPLER = "traceidratio";
    const each = samplerFromEnvironment();
    process.env.OTEL_TRACES_SAMPLER = "parentbased_traceidratio";
    const based = samplerFromEnvironment();
    const plain = new TraceIdRatioBasedSampler(0.25);
    for (const id of runIds(100)) {
      const expected = decide(plain, id);
      expect(decide(each, id, under(id, true))).toBe(expected);
      expect(decide(based, id)).toBe(expected);
      expect(decide(based, id, derived(id))).toBe(expected);
      expect(decide(based, id, under(id, true))).toBe(KEEP);
      expect(decide(based, id, under(id, false))).toBe(DROP);
    }
  });

  it.each(["0", "1", "0.5", "1e-3"])("takes the ratio %s without a word", (ratio) => {
    process.env.OTEL_TRACES_SAMPLER = "traceidratio";
    process.env.OTEL_TRACES_SAMPLER_ARG = ratio;
    const lines = keepDiag();
    expect(String(samplerFromEnvironment())).toBe(`TraceIdRatioBased{${Number(ratio)}}`);
    expect(lines).toEqual([]);
  });

  it.each([undefined, "", "-0.1", "1.01", "many", "NaN"])(
    "warns of the ratio %s and keeps everything",
    (ratio) => {
      process.env.OTEL_TRACES_SAMPLER = "parentbased_traceidratio";
      if (ratio !== undefined) process.env.OTEL_TRACES_SAMPLER_ARG = ratio;
      const lines = keepDiag();
      const sampler = samplerFromEnvironment();
      expect(String(sampler)).toBe("Following{root=TraceIdRatioBased{1}}");
      expect(lines).toEqual([
        "entelix-otel: OTEL_TRACES_SAMPLER_ARG: expected a number from 0 to 1, " +
          `got "${ratio ?? ""}"; using 1`,
      ]);
    },
  );

  it("warns of any other name and takes the default", () => {
    const names = ["always_on", "always_off", "traceidratio"];
    const other = fc
      .stringMatching(/^[a-z_]{1,20}$/)
      .filter((name) => !names.includes(name.replace("parentbased_", "")));
    fc.assert(
      fc.property(other, (name) => {
        process.env.OTEL_TRACES_SAMPLER = name;
        const lines = keepDiag();
        lines.length = 0;
        expect(String(samplerFromEnvironment())).toBe("Following{root=AlwaysOnSampler}");
        expect(lines).toHaveLength(1);
        expect(lines[0]).toContain(`got "${name}"; using parentbased_always_on`);
      }),
      { numRuns: runs(50) },
    );
  });
});
