import { LONGEST_WAIT_MS } from "../within.ts";
import { environmentNumber } from "./environment.ts";

/** How spans are queued and sent: the specification's defaults, or what `OTEL_BSP_*` says. */
export interface BatchSettings {
  /** Most spans that wait. Default 2,048. */
  readonly maxQueueSize: number;
  /** Most spans a request. Default 512. */
  readonly maxExportBatchSize: number;
  /** How long a span waits for its batch to fill, in ms. Default 5,000. */
  readonly scheduledDelayMillis: number;
  /** How long the processor waits for an export before it starts the next, in ms. Default 30,000. */
  readonly exportTimeoutMillis: number;
}

/**
 * Reads `OTEL_BSP_*`.
 *
 * The SDK reads them too, but takes values it can't live with (a batch of 0 never ends), and does
 * not say what it took; the queue's size must be known here to count what does not fit.
 */
export function batchSettings(): BatchSettings {
  const spans = { from: 1, to: Number.MAX_SAFE_INTEGER };
  return {
    maxQueueSize: environmentNumber("OTEL_BSP_MAX_QUEUE_SIZE", { ...spans, byDefault: 2048 }),
    maxExportBatchSize: environmentNumber("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", {
      ...spans,
      byDefault: 512,
    }),
    ...batchWaits(),
  };
}

/** The two of them that are times: they hold for every way of sending. */
export function batchWaits(): Pick<BatchSettings, "scheduledDelayMillis" | "exportTimeoutMillis"> {
  const to = LONGEST_WAIT_MS;
  return {
    scheduledDelayMillis: environmentNumber("OTEL_BSP_SCHEDULE_DELAY", {
      from: 0,
      to,
      byDefault: 5_000,
    }),
    exportTimeoutMillis: environmentNumber("OTEL_BSP_EXPORT_TIMEOUT", {
      from: 1,
      to,
      byDefault: 30_000,
    }),
  };
}

/** The exporter's own default for requests under way at a time. */
const USUAL_REQUESTS = 30;

/**
 * How many requests the exporter must take at a time, so that it refuses none of a flush: that
 * starts a request for each batch of the queue at once, beside those of a flush just before.
 */
export function concurrencyLimit(settings: BatchSettings): number {
  const batch = Math.min(settings.maxExportBatchSize, settings.maxQueueSize);
  const requestsOfQueue = Math.ceil(settings.maxQueueSize / batch);
  return Math.max(USUAL_REQUESTS, 2 * requestsOfQueue + 1);
}
