// Tracing as the users of each instrumentation set it up, with a real exporter to the receiver. Without `url`, the span
// processor does nothing: memory is measured so, since no exporter keeps the spans of 10,000 runs at once. A side
// imports only what it needs, because the import is measured, too.

const NOTHING = {
  onStart() {},
  onEnd() {},
  forceFlush: async () => {},
  shutdown: async () => {},
};

async function provided(spanProcessor, options = {}) {
  const { NodeTracerProvider } = await import("@opentelemetry/sdk-trace-node");
  const provider = new NodeTracerProvider({ ...options, spanProcessors: [spanProcessor] });
  provider.register();
  return { provider, flush: () => provider.forceFlush() };
}

/** The SDK's batch processor and its exporter of OTLP/protobuf. */
export async function stock({ url }) {
  if (url === undefined) return provided(NOTHING);
  const { OTLPTraceExporter } = await import("@opentelemetry/exporter-trace-otlp-proto");
  const { BatchSpanProcessor } = await import("@opentelemetry/sdk-trace-node");
  return provided(new BatchSpanProcessor(new OTLPTraceExporter({ url: `${url}/v1/traces` })));
}

/** Langfuse's own processor and exporter. */
export async function langfuse({ url }) {
  if (url === undefined) return provided(NOTHING);
  const { LangfuseSpanProcessor } = await import("@langfuse/otel");
  const keys = { publicKey: "pk-x", secretKey: "sk-x", baseUrl: url };
  // By default it drops spans that it does not know to be of a model, of an agent or its own.
  return provided(new LangfuseSpanProcessor({ ...keys, shouldExportSpan: () => true }));
}

/**
 * This package, in several ways: `setupTracing` and its bridge, as the docs say.
 *
 * @param entry of the package: that of the adapter.
 * @param adapt makes what the framework is given, and its flush, of the entry's module and a bridge.
 */
export function ourSides(entry, adapt) {
  const made = (name, options) => async (given) => {
    const { bridge, flush } = await ours(name, given, options);
    const own = adapt(await import(`${name}/${entry}`), bridge);
    const both = async () => {
      await own.flush();
      await flush();
    };
    return { handler: own.handler, flush: both };
  };
  const content = { captureContent: true };
  return {
    ours: made("entelix-otel", content),
    "new messages": made("entelix-otel", { ...content, messages: "new" }),
    "no content": made("entelix-otel", { captureContent: false }),
    before: made("entelix-otel-before", content),
  };
}

async function ours(name, { url }, options) {
  if (url === undefined) {
    const { Bridge, createIdGenerator } = await import(name);
    const { provider, flush } = await provided(NOTHING, { idGenerator: createIdGenerator() });
    return { bridge: new Bridge({ tracerProvider: provider, ...options }), flush };
  }
  const { setupTracing } = await import(`${name}/setup`);
  const tracing = setupTracing({ serviceName: "bench", endpoint: url });
  return { bridge: tracing.createBridge(options), flush: () => tracing.forceFlush() };
}
