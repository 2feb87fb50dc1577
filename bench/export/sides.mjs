// What makes the spans, and what sends them.
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { BatchSpanProcessor } from "@opentelemetry/sdk-trace-node";
import { createReplayProvider, serviceResource } from "../../src/bridge/door.ts";
import { ChunkSpanProcessor } from "../../src/bridge/export/chunk-span-processor.ts";
import { exportSettings } from "../../src/bridge/export/export-settings.ts";
import { OtlpPost } from "../../src/bridge/export/otlp-post.ts";
import { SpanLedger } from "../../src/bridge/setup/span-ledger.ts";
import { Bridge } from "../../src/index.ts";
import { bridge, handWritten, sending } from "../variants.mjs";

/** A queue that takes all of a slice, and an exporter that refuses none of a flush. */
const roomy = (url) => ({
  processor: new BatchSpanProcessor(new OTLPTraceExporter({ url, concurrencyLimit: 10_000 }), {
    maxQueueSize: 1 << 20,
    maxExportBatchSize: 512,
  }),
  counted: () => 0,
});

/** As they are when nobody sets anything. */
const stock = (url) => ({
  processor: new BatchSpanProcessor(new OTLPTraceExporter({ url })),
  counted: () => 0,
});

function ours(url) {
  const settings = exportSettings();
  const post = new OtlpPost({ url, timeoutMs: settings.exportTimeoutMillis });
  const ledger = new SpanLedger();
  return {
    processor: new ChunkSpanProcessor(post, settings, ledger),
    counted: () => ledger.counts().failed + ledger.counts().dropped,
  };
}

/** Nothing is encoded or sent. */
const unsent = () => ({
  processor: {
    onStart() {},
    onEnd() {},
    forceFlush: async () => {},
    shutdown: async () => {},
  },
  counted: () => 0,
});

/** The bridge with the spans that replay and the services make, in place of the SDK's. */
function records(_sampled, [outlet]) {
  const tracerProvider = createReplayProvider(serviceResource("bench").resource, outlet);
  return sending(new Bridge({ tracerProvider }));
}

const SIDES = {
  "stock JSON": { make: handWritten, sender: roomy },
  "stock JSON, defaults": { make: handWritten, sender: stock },
  "hand-written, chunks": { make: handWritten, sender: ours },
  "bridge, chunks": { make: bridge, sender: ours },
  "own records, chunks": { make: records, sender: ours },
  "hand-written, unsent": { make: handWritten, sender: unsent },
  "own records, unsent": { make: records, sender: unsent },
};

/** @returns what makes runs' spans, the processor that sends them, and how many it says are lost. */
export function side(name, url) {
  const { make, sender } = SIDES[name];
  const { counted, processor } = sender(url);
  return { make: make(true, [processor]), processor, counted };
}
