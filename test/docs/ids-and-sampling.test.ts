import { ROOT_CONTEXT } from "@opentelemetry/api";
import { TraceIdRatioBasedSampler } from "@opentelemetry/sdk-trace-node";
import { v7 } from "uuid";
import { describe, expect, it } from "vitest";
import { RunIds } from "../../src/entries/context.ts";
import { readPage, section, tableRows } from "./pages.ts";

const page = readPage("docs/ids-and-sampling.md");

function ofUuid(runId: string): RunIds {
  const ids = RunIds.fromUuid(runId);
  if (ids === undefined) throw new TypeError(`expected a UUID, got ${runId}`);
  return ids;
}

describe("the example", () => {
  it("is what the code computes", () => {
    const [run, trace, span] = tableRows(section(page, "The trace id of a root run is its run id"));
    const ids = ofUuid(run?.[1] ?? "");
    expect([ids.traceId, ids.spanId]).toEqual([trace?.[1], span?.[1]]);
  });
});

describe("the vectors", () => {
  const rows = tableRows(section(page, "The algorithm")).filter(({ length }) => length === 4);
  const run = /all under run `([0-9a-f-]+)`/.exec(page)?.[1] ?? "";

  it("are nine", () => {
    expect(rows).toHaveLength(9);
  });

  it.each(rows)("%s %s, occurrence %s: %s", (role, cell = "", occurrence, spanId) => {
    const [, text = "", foreign] = /^(\S+)(?:, in run r1 of tenant acme (.*))?$/.exec(cell) ?? [];
    const ids = foreign === undefined ? ofUuid(run) : RunIds.hashed("acme", "r1");
    if (foreign !== undefined) expect(foreign).toContain(ids.traceId);
    if (role !== "t" && role !== "m" && role !== "s" && role !== "p") {
      throw new Error(`no role: ${role}`);
    }
    const discriminator = text === "empty" ? "" : text;
    expect(ids.childSpanId(role, discriminator, Number(occurrence))).toBe(spanId);
  });
});

describe("the ratio samplers", () => {
  const COUNT = 20_000;
  /** With a sequence of its own each, as if made at times of their own. */
  const runId = () => v7({ seq: Math.floor(Math.random() * 2 ** 32) });
  const traceIds = Array.from({ length: COUNT }, () => runId().replaceAll("-", ""));
  const rows = tableRows(section(page, "Sampling"));

  /** What the samplers of Go and Python compare with the ratio: the last 8 bytes as a fraction. */
  const lastHalf = (traceId: string) => Number(BigInt(`0x${traceId.slice(16)}`)) / 2 ** 64;

  it.each(rows)("keep at %s what the page says", (ratio, javascript, go, python) => {
    const sampler = new TraceIdRatioBasedSampler(Number(ratio));
    const kept = traceIds.filter((id) => sampler.shouldSample(ROOT_CONTEXT, id).decision > 0);
    expect(Math.abs(kept.length / COUNT - Number(javascript))).toBeLessThan(0.02);
    const bare = traceIds.filter((id) => lastHalf(id) < Number(ratio)).length / COUNT;
    expect(Math.abs(bare - Number(go))).toBeLessThan(0.02);
    expect(Math.abs(bare - Number(python))).toBeLessThan(0.02);
  });
});
