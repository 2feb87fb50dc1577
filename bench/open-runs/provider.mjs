// The bridge without an audit side, its spans thrown away, with room for every run and without the markers of
// runs that stay open: those would be spans of their own.
import { ROOT_CONTEXT } from "@opentelemetry/api";
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BasicTracerProvider,
} from "@opentelemetry/sdk-trace-node";
import { built } from "../built.mjs";

const { Bridge, createIdGenerator } = await built("index.mjs");

export function openSink(sampled, openRuns = 10_000) {
  const limits = { openRuns, markerAfterMs: 0 };
  return new Bridge({ tracerProvider: provider(sampled), limits });
}

/** What a program keeps that makes the spans of runs by hand. */
export function openSpans() {
  const tracer = provider(true).getTracer("entelix-otel");
  const spans = new Map();
  return {
    send({ run_id, tenant_id, agent }) {
      const attributes = {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": agent,
        "entelix.run_id": run_id,
        "entelix.tenant_id": tenant_id,
      };
      spans.set(run_id, tracer.startSpan(`invoke_agent ${agent}`, { attributes }, ROOT_CONTEXT));
    },
    diagnostics: () => ({ openRuns: spans.size }),
    shutdown: async () => {},
  };
}

function provider(sampled) {
  return new BasicTracerProvider({
    sampler: sampled ? new AlwaysOnSampler() : new AlwaysOffSampler(),
    idGenerator: createIdGenerator(),
    spanProcessors: [
      { onStart() {}, onEnd() {}, forceFlush: async () => {}, shutdown: async () => {} },
    ],
  });
}
