import { LangfuseSpanProcessor } from "@langfuse/otel";

const nothing = async () => {};

/** Langfuse's span processor, as its users have it, with an exporter that hands on what it is given. */
export function langfuseProcessor(next) {
  const exporter = {
    export(spans, done) {
      for (const span of spans) next.onEnd(span);
      done({ code: 0 });
    },
    forceFlush: nothing,
    shutdown: nothing,
  };
  return new LangfuseSpanProcessor({
    exporter,
    publicKey: "pk-x",
    secretKey: "sk-x",
    baseUrl: "http://127.0.0.1:9",
    flushAt: 512,
    flushInterval: 5,
    // It drops what it does not know to be a model's, an agent's or its own.
    shouldExportSpan: () => true,
  });
}
