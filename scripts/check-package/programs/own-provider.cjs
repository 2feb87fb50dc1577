const { OTLPTraceExporter } = require("@opentelemetry/exporter-trace-otlp-http");
const { BatchSpanProcessor, TracerProvider } = require("@opentelemetry/sdk-trace");
const { Bridge, createIdGenerator } = require("entelix-otel");

void import("./send-run.mjs").then(async ({ sendRun }) => {
  const exporter = new OTLPTraceExporter({ url: `${process.env.RECEIVER}/v1/traces` });
  const provider = new TracerProvider({
    idGenerator: createIdGenerator(),
    spanProcessors: [new BatchSpanProcessor({ exporter })],
  });
  const bridge = new Bridge({ tracerProvider: provider });
  console.log(await sendRun(bridge));
  await bridge.shutdown();
  await provider.shutdown();
});
