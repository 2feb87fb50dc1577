import { ProtobufTraceSerializer } from "@opentelemetry/otlp-transformer";
import type { ReadableSpan } from "@opentelemetry/sdk-trace-node";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Chunk } from "../../../src/bridge/export/chunk.ts";
import { runs } from "../../support/runs.ts";
import { randomSpans } from "./support/random-spans.ts";

/** Spans to draw: `EXPORT_TEST_SPANS=1000000` takes minutes. */
const SPANS = Number(process.env.EXPORT_TEST_SPANS ?? runs(20_000));

const MOST_AT_ONCE = 60;
const PATIENCE_MS = 1_000;

function ours(chunk: Chunk, spans: readonly ReadableSpan[]): Uint8Array {
  for (const span of spans) expect(chunk.add(span, Number.POSITIVE_INFINITY)).toBe(true);
  const { bytes, size, spans: count } = chunk.seal(PATIENCE_MS);
  if (bytes instanceof Promise) throw new Error("nothing is pending");
  expect(count).toBe(spans.length);
  expect(bytes.length).toBeLessThanOrEqual(size);
  return bytes;
}

function stock(spans: readonly ReadableSpan[]): Uint8Array {
  const bytes = ProtobufTraceSerializer.serializeRequest([...spans]);
  if (bytes === undefined) throw new Error("the stock serializer gave nothing");
  return bytes;
}

describe("the bytes of a request", () => {
  it("are those of OpenTelemetry's own serializer, for any spans", { timeout: 3_600_000 }, () => {
    // One for all: what is left in its buffer by one request must not be seen in the next.
    const chunk = new Chunk();
    let spans = 0;
    const seed = fc.integer({ min: 0, max: 2 ** 32 - 1 });
    fc.assert(
      fc.property(seed, fc.integer({ min: 1, max: MOST_AT_ONCE }), (drawn, count) => {
        const all = randomSpans(drawn, count);
        spans += count;
        expect(Buffer.compare(ours(chunk, all), stock(all))).toBe(0);
      }),
      { numRuns: Math.ceil((2 * SPANS) / MOST_AT_ONCE) },
    );
    expect(spans).toBeGreaterThan(SPANS / 2);
  });

  it("are whole also with a kind that there is not", () => {
    const kinds = [0, 126, 127, 200, 300];
    const spans: ReadableSpan[] = kinds.map((kind) =>
      Object.create(randomSpans(1, 1)[0] ?? null, { kind: { value: kind } }),
    );
    expect(Buffer.compare(ours(new Chunk(), spans), stock(spans))).toBe(0);
  });
});
