// The application has OpenTelemetry of its own: its provider gets the spans.

import { FakeListChatModel } from "@langchain/core/utils/testing";
import {
  InMemorySpanExporter,
  NodeTracerProvider,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-node";

const memory = new InMemorySpanExporter();
new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(memory)] }).register();
await new FakeListChatModel({ responses: ["hi"] }).invoke("hi");
console.log(memory.getFinishedSpans().map(({ name }) => name));
