import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  OpenAIAgentsProcessor,
  type SdkSpan,
  type SdkTrace,
} from "../../../src/entries/openai-agents.ts";
import { type AgentEvent, Bridge } from "../../../src/index.ts";
import { runs } from "../../support/runs.ts";
import { collectSpans } from "../../support/spans.ts";

const TYPES = ["agent", "function", "response", "generation", "handoff", "guardrail", "custom"];
const ERRORS = [
  null,
  { message: "Error in agent run", data: { error: "RangeError: x" } },
  { message: "Error running tool (non-fatal)", data: { error: "Error: 503 x" } },
  { message: "x" },
];
const SPANS = 8;

/** A span of one of two traces, with any other span as its parent, or none. */
const spanArbitrary = fc.record({
  type: fc.constantFrom(...TYPES),
  trace: fc.integer({ min: 0, max: 1 }),
  parent: fc.option(fc.integer({ min: 0, max: SPANS - 1 })),
  error: fc.constantFrom(...ERRORS),
});

const callbackArbitrary = fc.oneof(
  fc.record({
    name: fc.constantFrom("onTraceStart" as const, "onTraceEnd" as const),
    at: fc.integer({ min: 0, max: 1 }),
  }),
  fc.record({
    name: fc.constantFrom("onSpanStart" as const, "onSpanEnd" as const),
    at: fc.integer({ min: 0, max: SPANS - 1 }),
  }),
);

const DATA = {
  name: "n",
  to_agent: "next",
  triggered: true,
  _response: { output: [{ type: "function_call", call_id: "c", name: "n" }], usage: {} },
};

describe("callbacks in any order", () => {
  it("never throw, start each run once at a time, and leave no span open", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(spanArbitrary, { minLength: SPANS, maxLength: SPANS }),
        fc.array(callbackArbitrary, { maxLength: 60 }),
        async (specs, callbacks) => {
          const traces: SdkTrace[] = ["Agent workflow", "Named"].map((name, index) => ({
            traceId: `trace_${index}`,
            name,
          }));
          const spans: SdkSpan[] = specs.map(({ type, trace, parent, error }, index) => ({
            spanId: `span_${index}`,
            traceId: `trace_${trace}`,
            parentId: parent === null ? null : `span_${parent}`,
            spanData: { type, ...DATA },
            error,
            startedAt: null,
            endedAt: null,
          }));
          const collected = collectSpans();
          const bridge = new Bridge({ tracerProvider: collected.provider });
          const events: AgentEvent[] = [];
          const sink = {
            send(event: AgentEvent) {
              events.push(event);
              return bridge.send(event);
            },
          };
          const processor = new OpenAIAgentsProcessor({ sink, tenant: "acme" });
          for (const { name, at } of callbacks) {
            if (name === "onTraceStart" || name === "onTraceEnd") {
              await processor[name](traces[at] ?? NO_TRACE);
            } else {
              await processor[name](spans[at] ?? NO_SPAN);
            }
          }
          await processor.forceFlush();
          await bridge.shutdown();
          expect(processor.counts.faults).toBe(0);
          const open = new Set<string>();
          for (const { type, run_id } of events) {
            if (type === "started") {
              expect(open.has(run_id)).toBe(false);
              open.add(run_id);
            } else if (type === "complete" || type === "failed" || type === "interrupted") {
              expect(open.delete(run_id)).toBe(true);
            }
          }
          for (const ended of collected.ended.values()) expect(ended).toBe(1);
          expect(collected.ended.size).toBe(collected.started.size);
        },
      ),
      { numRuns: runs(300) },
    );
  });
});

const NO_TRACE: SdkTrace = { traceId: "trace_none", name: "none" };
const NO_SPAN: SdkSpan = {
  spanId: "span_none",
  traceId: "trace_none",
  parentId: null,
  spanData: { type: "custom" },
  error: null,
  startedAt: null,
  endedAt: null,
};
