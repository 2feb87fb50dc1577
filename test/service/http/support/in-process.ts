import { emptyResource } from "@opentelemetry/resources";
import type { ReadableSpan } from "@opentelemetry/sdk-trace-node";
import { DEFAULT_INGEST_LIMITS } from "../../../../src/service/http/ingest-limits.ts";
import { IngestService } from "../../../../src/service/http/ingest-service.ts";

type Options = Parameters<typeof IngestService.start>[0];

/** Starts a service on a journal in this process. @param spans get those that it stores. */
export async function serveHere(
  spans: ReadableSpan[],
  own: Pick<Options, "journal" | "lookback"> & Partial<Options>,
) {
  const errors: string[] = [];
  const service = await IngestService.start({
    host: "127.0.0.1",
    port: 0,
    tokens: undefined,
    rate: undefined,
    tenant: "default",
    service: { resource: emptyResource(), serviceName: "test" },
    spans: {
      store: async (batch) => {
        spans.push(...batch);
        return { refused: 0 };
      },
      close: async () => {},
    },
    audit: undefined,
    onSpans: { captureContent: false },
    runAgeMs: 86_400_000,
    limits: DEFAULT_INGEST_LIMITS,
    onError: (error, where) => void errors.push(`${where}: ${String(error)}`),
    onTorn: () => {},
    ...own,
  });
  return { service, errors, url: `http://127.0.0.1:${service.address.port}` };
}
