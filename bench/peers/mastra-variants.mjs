// Each instrumentation of Mastra as settings of its observability. Content is on in all.
import { ArizeExporter } from "@mastra/arize";
import { LangfuseExporter } from "@mastra/langfuse";
import { OtelBridge } from "@mastra/otel-bridge";
import { OtelExporter } from "@mastra/otel-exporter";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { ourVariants } from "./our-variants.mjs";
import { exporterTo, providerOf } from "./seen-spans.mjs";

const nothing = async () => {};
const endpoint = "http://127.0.0.1:9";
const provider = { custom: { endpoint, protocol: "http/protobuf" } };

/** Name to what makes the settings, given a span processor. */
export const VARIANTS = {
  none: () => ({ handler: { exporters: [] }, flush: nothing }),
  ...ourVariants("mastra", ({ MastraTelemetry }, sink) => {
    const bridge = new MastraTelemetry({ sink, tenant: "acme" });
    return { handler: { bridge }, flush: () => bridge.flush() };
  }),
  "otel-exporter"(spanProcessor) {
    const exporter = exporterTo(spanProcessor);
    return exporting(new OtelExporter({ provider, exporter, signals: { logs: false } }));
  },
  "otel-bridge"(spanProcessor) {
    const bridge = new OtelBridge({ tracerProvider: providerOf(spanProcessor) });
    return { handler: { bridge }, flush: () => bridge.flush() };
  },
  /** Mastra's exporter for backends of OpenInference. It converts spans in an exporter of its own. */
  openinference(spanProcessor) {
    const exporter = new ArizeExporter({ endpoint, signals: { logs: false } });
    sendTo(Object.getPrototypeOf(exporter.config.exporter.constructor), spanProcessor);
    return exporting(exporter);
  },
  /** Mastra's exporter for Langfuse has Langfuse's span processor in it. */
  "langfuse-processor"(spanProcessor) {
    sendTo(OTLPTraceExporter, spanProcessor);
    return exporting(
      new LangfuseExporter({ publicKey: "pk-x", secretKey: "sk-x", baseUrl: endpoint }),
    );
  },
};

const exporting = (exporter) => ({
  handler: { exporters: [exporter] },
  flush: () => exporter.flush(),
  hasProcessor: true,
});

/** Gives a processor what exporters of that class would send. They cannot be chosen in Mastra's settings. */
function sendTo(Exporter, spanProcessor) {
  Exporter.prototype.export = exporterTo(spanProcessor).export;
}
