// SDK 3 with a provider of one's own, as a TypeScript user writes it.
import { BatchSpanProcessor, InMemorySpanExporter, TracerProvider } from "@opentelemetry/sdk-trace";
import { Bridge, createIdGenerator } from "entelix-otel";

const exporter = new InMemorySpanExporter();
const provider = new TracerProvider({
  idGenerator: createIdGenerator(),
  spanProcessors: [new BatchSpanProcessor({ exporter })],
});

export const bridge = new Bridge({ tracerProvider: provider });
export const sink = new Bridge({ tracerProvider: provider });
