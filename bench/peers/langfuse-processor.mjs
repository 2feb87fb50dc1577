import { LangfuseSpanProcessor } from "@langfuse/otel";
import { exporterTo } from "./seen-spans.mjs";

/** Langfuse's span processor, as its users have it, with an exporter that hands on what it is given. */
export function langfuseProcessor(next) {
  return new LangfuseSpanProcessor({
    exporter: exporterTo(next),
    publicKey: "pk-x",
    secretKey: "sk-x",
    baseUrl: "http://127.0.0.1:9",
    flushAt: 512,
    flushInterval: 5,
    // It drops what it does not know to be a model's, an agent's or its own.
    shouldExportSpan: () => true,
  });
}
