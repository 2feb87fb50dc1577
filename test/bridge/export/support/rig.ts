import type { Tracer } from "@opentelemetry/api";
import { resourceFromAttributes } from "@opentelemetry/resources";
import { NodeTracerProvider } from "@opentelemetry/sdk-trace-node";
import { ChunkSpanProcessor } from "../../../../src/bridge/export/chunk-span-processor.ts";
import {
  type ExportSettings,
  exportSettings,
} from "../../../../src/bridge/export/export-settings.ts";
import { OtlpPost, type Post } from "../../../../src/bridge/export/otlp-post.ts";
import { SpanLedger } from "../../../../src/bridge/setup/span-ledger.ts";

/** Waits that a test sees the end of. */
export const QUICK: Partial<ExportSettings> = {
  scheduledDelayMillis: 3_600_000,
  // A busy machine must not reach it.
  exportTimeoutMillis: 100_000,
  backoff: { firstMs: 1, mostMs: 4 },
};

/** A processor under test with all that is round it. */
export interface Rig {
  readonly processor: ChunkSpanProcessor;
  readonly ledger: SpanLedger;
  readonly tracer: Tracer;
  /** Ends spans of these names. */
  end(names: Iterable<string>): void;
}

/** @param to where to: an address, or what takes the requests in its place. */
export function rig(
  to: string | Post,
  own: Partial<ExportSettings> = {},
  onOutage?: (error: Error) => void,
): Rig {
  const settings = exportSettings({ ...QUICK, ...own });
  const post = typeof to === "string" ? new OtlpPost({ url: to, ownTimeoutMs: 100_000 }) : to;
  const ledger = new SpanLedger();
  const processor = new ChunkSpanProcessor(post, settings, ledger, onOutage);
  const provider = new NodeTracerProvider({
    resource: resourceFromAttributes({ "service.name": "export-test" }),
    spanProcessors: [processor],
  });
  const tracer = provider.getTracer("export-test");
  const end = (names: Iterable<string>) => {
    for (const name of names) tracer.startSpan(name, { attributes: ATTRIBUTES }).end();
  };
  return { processor, ledger, tracer, end };
}

/** As many as a tool call has; a span takes some 400 bytes with them. */
const ATTRIBUTES = {
  "gen_ai.operation.name": "execute_tool",
  "gen_ai.tool.name": "search_docs",
  "gen_ai.tool.call.id": "toolu_0123456789abcdef",
  "gen_ai.tool.type": "function",
  "gen_ai.agent.name": "support-agent",
  "entelix.run_id": "018f3c7a-0000-7000-8000-000000000002",
  "entelix.tenant_id": "tenant-1",
  "entelix.tool.version": "1.4.0",
  "entelix.tool.outcome": "complete",
};

/** The names "0", "1", … */
export function numbers(count: number): string[] {
  return Array.from({ length: count }, (_, n) => String(n));
}
