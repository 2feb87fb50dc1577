// node mcp-server-program.mjs MAJOR: the server of the scenes as a process of its own, by stdio. It trusts the process
// that started it. Its tool `spans` answers with the spans that it has made.
import {
  InMemorySpanExporter,
  NodeTracerProvider,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-node";
import { Bridge, createIdGenerator } from "entelix-otel";
import { mcpServer } from "entelix-otel/mcp";
import { sdk } from "./mcp-sdk.mjs";
import { shopServer } from "./mcp-tools.mjs";

// For the context of the running code.
new NodeTracerProvider().register();
const kit = await sdk(process.argv[2]);
const exporter = new InMemorySpanExporter();
const tracerProvider = new NodeTracerProvider({
  idGenerator: createIdGenerator(),
  spanProcessors: [new SimpleSpanProcessor(exporter)],
});
const sink = new Bridge({ tracerProvider });
const spans = () => ({
  content: [
    {
      type: "text",
      text: JSON.stringify(
        exporter.getFinishedSpans().map((span) => ({
          name: span.name,
          traceId: span.spanContext().traceId,
          spanId: span.spanContext().spanId,
          parentSpanId: span.parentSpanContext?.spanId,
          attributes: span.attributes,
        })),
      ),
    },
  ],
});
const wrap = (server) => mcpServer(server, { sink, tenant: "acme", trust: true });
await shopServer(kit, wrap, { spans }).connect(new kit.StdioServerTransport());
