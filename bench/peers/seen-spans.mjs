import { BasicTracerProvider } from "@opentelemetry/sdk-trace-node";
import { createIdGenerator } from "entelix-otel";
import { MARKS } from "./payload.mjs";

/** A span processor that does nothing: what is measured is the making of spans. */
export const NOTHING = {
  onStart() {},
  onEnd() {},
  forceFlush: async () => {},
  shutdown: async () => {},
};

/** An exporter that hands on to a span processor what it is given: for variants that bring a processor of their own. */
export function exporterTo(processor) {
  return {
    export(spans, done) {
      for (const span of spans) processor.onEnd(span);
      done({ code: 0 });
    },
    forceFlush: async () => {},
    shutdown: async () => {},
  };
}

/** @param ours whether the provider is set up as this package asks for: the ids come from the run's. */
export function providerOf(processor, { ours = false } = {}) {
  return new BasicTracerProvider({
    spanProcessors: [processor],
    ...(ours ? { idGenerator: createIdGenerator() } : {}),
  });
}

/** Keeps what ends, to see what a variant makes. */
export class SeenSpans {
  #spans = [];

  onStart() {}

  onEnd(span) {
    this.#spans.push(span);
  }

  async forceFlush() {}

  async shutdown() {}

  /**
   * What was made of so many runs: spans and traces a run, how many spans have no parent, payload that is
   * missing, text on the spans.
   *
   * @param parts of the payload that the workload has. Default: all.
   */
  told(runs, parts = Object.keys(MARKS)) {
    const spans = this.#spans;
    const texts = spans.map((span) => JSON.stringify(span.attributes));
    const all = texts.join("\n");
    return {
      spans: spans.length / runs,
      traces: new Set(spans.map((span) => span.spanContext().traceId)).size / runs,
      roots: spans.filter((span) => span.parentSpanContext === undefined).length / runs,
      names: [...new Set(spans.map((span) => span.name))].sort(),
      missing: parts.filter((part) => !all.includes(MARKS[part])),
      bytes: Math.round(all.length / runs),
    };
  }
}
