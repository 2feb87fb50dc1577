import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { BatchSpanProcessor, TracerProvider } from "@opentelemetry/sdk-trace";
import { Bridge, createIdGenerator } from "entelix-otel";
import { sendRun } from "./send-run.mjs";

const exporter = new OTLPTraceExporter({ url: `${process.env.RECEIVER}/v1/traces` });
const provider = new TracerProvider({
  idGenerator: createIdGenerator(),
  spanProcessors: [new BatchSpanProcessor({ exporter })],
});
const bridge = new Bridge({ tracerProvider: provider });
console.log(await sendRun(bridge));
await bridge.shutdown();
await provider.shutdown();
