import {
  type Attributes,
  type HrTime,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  type TracerProvider,
  trace,
} from "@opentelemetry/api";
import { resourceFromAttributes } from "@opentelemetry/resources";
import type { ReadableSpan } from "@opentelemetry/sdk-trace-node";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { encodeTraceRequest } from "../../../src/bridge/export/request-format.ts";
import { createReplayProvider } from "../../../src/bridge/output/replay-provider.ts";
import { idSlot } from "../../../src/bridge/spans/id-generator.ts";
import { RUNTIMES } from "../../../src/replay/door.ts";
import { drawnLog } from "../../service/processor/support/drawn-log.ts";
import { playText } from "../../support/played.ts";
import { runs } from "../../support/runs.ts";
import { createSdkReplayProvider } from "../../support/sdk-replay-provider.ts";

const RESOURCE = resourceFromAttributes({ "service.name": "parity" });
const PROVIDERS = [createReplayProvider, createSdkReplayProvider] as const;

type Make = (typeof PROVIDERS)[number];

describe("a replay's spans", () => {
  for (const runtime of RUNTIMES) {
    it(`are those that the SDK makes (${runtime.dialect.name})`, async () => {
      let spans = 0;
      for (const seed of [1, 2, 3, 4]) {
        const lines = drawnLog({ seed, streams: 30, eventIds: seed % 2 === 0 });
        const text = lines.map((line) => `${line.text}\n`).join("");
        const [own, stock] = await Promise.all(
          PROVIDERS.map((make) => ended(make, (provider) => playText(runtime, text, provider))),
        );
        expect(own).toEqual(stock);
        spans += own?.length ?? 0;
      }
      expect(spans).toBeGreaterThan(20);
    });
  }
});

const name = fc.constantFrom(..."abcdef", ...Array.from({ length: 140 }, (_, n) => `k${n}`));
const value = fc.oneof(
  fc.string(),
  fc.integer(),
  fc.double(),
  fc.boolean(),
  fc.array(fc.string(), { maxLength: 3 }),
  fc.constant(undefined),
);
const attributes = fc.dictionary(name, value, { maxKeys: 5 });
/** The driver leaves out what has no value; the SDK does so in a span's own attributes alone. */
const values = fc.dictionary(
  name,
  value.filter((each) => each !== undefined),
  { maxKeys: 5 },
);
const time = fc.tuple(fc.integer({ min: 0, max: 5 }), fc.integer({ min: 0, max: 3 }));
const link = fc.record({
  context: fc.constant({ traceId: "1".repeat(32), spanId: "2".repeat(16), traceFlags: 1 }),
  attributes: values,
});
const step = fc.oneof(
  fc.record({ do: fc.constant("set" as const), name, value }),
  fc.record({ do: fc.constant("all" as const), attributes }),
  fc.record({ do: fc.constant("many" as const), attributes: fc.constant(numbered(130)) }),
  fc.record({ do: fc.constant("event" as const), name: fc.string(), attributes: values, time }),
  fc.record({ do: fc.constant("events" as const), count: fc.integer({ min: 120, max: 140 }) }),
  fc.record({ do: fc.constant("link" as const), link }),
  fc.record({ do: fc.constant("links" as const), link, count: fc.integer({ min: 1, max: 130 }) }),
  fc.record({
    do: fc.constant("status" as const),
    status: fc.constantFrom(
      { code: SpanStatusCode.ERROR, message: "no" },
      { code: SpanStatusCode.ERROR },
      { code: SpanStatusCode.UNSET },
    ),
  }),
  fc.record({ do: fc.constant("name" as const), name: fc.string() }),
  fc.record({ do: fc.constant("end" as const), time }),
);

describe("a span record", () => {
  it("says what the SDK's span says, whatever is done with it", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.record({
          start: time,
          end: time,
          attributes,
          links: fc.array(link, { maxLength: 2 }),
          parent: fc.boolean(),
        }),
        fc.array(step, { maxLength: 12 }),
        async (begin, steps) => {
          const [own, stock] = await Promise.all(
            PROVIDERS.map((make) => ended(make, async (provider) => drive(provider, begin, steps))),
          );
          expect(own).toHaveLength(1);
          expect(own).toEqual(stock);
        },
      ),
      { numRuns: runs(300) },
    );
  });

  it("takes its duration from start and end", () => {
    const spans: ReadableSpan[] = [];
    const provider = createReplayProvider(RESOURCE, { onEnd: (span) => void spans.push(span) });
    const tracer = provider.getTracer("t");
    tracer.startSpan("a", { startTime: [10, 900_000_000] }).end([12, 100_000_000]);
    expect(spans[0]?.duration).toEqual([1, 200_000_000]);
    expect(spans[0]?.ended).toBe(true);
  });

  it("needs a start of seconds and nanoseconds", () => {
    const tracer = createReplayProvider(RESOURCE, { onEnd: () => {} }).getTracer("t");
    expect(() => tracer.startSpan("a")).toThrow("startTime: expected [s, ns]");
    expect(() => tracer.startActiveSpan("a", () => 1)).toThrow("a replay has no active spans");
  });
});

interface Begin {
  readonly start: HrTime;
  readonly end: HrTime;
  readonly attributes: Attributes;
  readonly links: Parameters<ReturnType<typeof trace.wrapSpanContext>["addLinks"]>[0];
  readonly parent: boolean;
}

function drive(
  provider: TracerProvider,
  begin: Begin,
  steps: readonly (typeof step extends fc.Arbitrary<infer S> ? S : never)[],
): void {
  idSlot.traceId = "a".repeat(32);
  idSlot.spanId = "b".repeat(16);
  const parent = { traceId: "c".repeat(32), spanId: "d".repeat(16), traceFlags: 1 };
  const context = begin.parent ? trace.setSpanContext(ROOT_CONTEXT, parent) : ROOT_CONTEXT;
  const span = provider.getTracer("parity", "1").startSpan(
    "first",
    {
      kind: SpanKind.CLIENT,
      startTime: begin.start,
      attributes: { ...begin.attributes },
      links: begin.links.map((one) => ({ ...one })),
    },
    context,
  );
  for (const each of steps) {
    if (each.do === "set") {
      if (each.value !== undefined) span.setAttribute(each.name, each.value);
    } else if (each.do === "all" || each.do === "many") span.setAttributes(each.attributes);
    else if (each.do === "event") span.addEvent(each.name, { ...each.attributes }, each.time);
    else if (each.do === "events") {
      for (let n = 0; n < each.count; n += 1) span.addEvent(`e${n}`, undefined, [7, n]);
    } else if (each.do === "link") span.addLink({ ...each.link });
    else if (each.do === "links") span.addLinks(Array(each.count).fill(each.link));
    else if (each.do === "status") span.setStatus(each.status);
    else if (each.do === "name") span.updateName(each.name);
    else span.end(each.time);
  }
  expect(span.isRecording()).toBe(!steps.some((each) => each.do === "end"));
  if (span.isRecording()) span.end(begin.end);
  idSlot.traceId = undefined;
  idSlot.spanId = undefined;
}

function numbered(count: number): Attributes {
  return Object.fromEntries(Array.from({ length: count }, (_, n) => [`n${n}`, n]));
}

/** What the spans say that end while `work` runs, in order. */
async function ended(make: Make, work: (provider: TracerProvider) => Promise<void>) {
  const spans: ReadableSpan[] = [];
  const provider = make(RESOURCE, { onEnd: (span) => void spans.push(span) });
  await work(provider);
  return spans.map((span) => encodeTraceRequest([span]));
}
