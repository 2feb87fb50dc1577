import { environmentNumber } from "../setup/environment-variables.ts";
import { LONGEST_WAIT_MS } from "../spans/within.ts";
import type { RetryDelays } from "./retry.ts";
import { LIVE } from "./send-policy.ts";

/** How spans wait and are sent. */
export interface ExportSettings {
  /** The most bytes that wait or are under way, encoded; past that the newest spans are dropped. */
  readonly queueBytes: number;
  /** The most spans that wait. Default: as many as `queueBytes` holds. */
  readonly maxQueueSize: number;
  /** A request is sent once it has so many bytes. */
  readonly requestBytes: number;
  /**
   * A request is sent once it has so many spans. Default: as many as `requestBytes` holds, and a
   * fourth of `maxQueueSize` at most.
   */
  readonly maxExportBatchSize: number;
  /** Requests at once. */
  readonly requests: number;
  /** How long a span waits for its request to fill, in ms. */
  readonly scheduledDelayMillis: number;
  /** How long a flush or shutdown takes at most, and a request, in ms. */
  readonly exportTimeoutMillis: number;
  /** How long nothing is sent after a failure. */
  readonly backoff: RetryDelays;
}

const DEFAULTS = {
  queueBytes: 64 * 1024 * 1024,
  requestBytes: 512 * 1024,
  requests: 4,
  backoff: LIVE.delays,
} as const;

/**
 * The defaults, with `OTEL_BSP_*` where that is set. The two that count spans have no default here:
 * what they are there to bound, memory and the size of a request, is bounded in bytes.
 *
 * @param own win over both.
 * @throws RangeError when one is out of range; the message names it.
 */
export function exportSettings(own: Partial<ExportSettings> = {}): ExportSettings {
  const settings = {
    ...DEFAULTS,
    maxQueueSize: spansFromEnvironment("OTEL_BSP_MAX_QUEUE_SIZE"),
    maxExportBatchSize: spansFromEnvironment("OTEL_BSP_MAX_EXPORT_BATCH_SIZE"),
    ...batchWaits(),
    ...own,
  };
  for (const name of ["queueBytes", "requestBytes", "requests", "maxQueueSize"] as const) {
    if (!(settings[name] >= 1)) {
      throw new RangeError(`${name}: expected a number from 1, got ${settings[name]}`);
    }
  }
  // A request that could not fill before the queue is full would wait for its time, and lose spans.
  const { maxExportBatchSize, maxQueueSize, queueBytes, requestBytes } = settings;
  const share = Math.max(Math.floor(maxQueueSize / 4), 1);
  return {
    ...settings,
    requestBytes: Math.min(requestBytes, Math.ceil(queueBytes / 4)),
    maxExportBatchSize: Math.min(
      maxExportBatchSize,
      maxExportBatchSize === Number.POSITIVE_INFINITY ? share : maxQueueSize,
    ),
  };
}

function spansFromEnvironment(name: string): number {
  const range = { from: 1, to: Number.MAX_SAFE_INTEGER };
  return environmentNumber(name, { ...range, byDefault: Number.POSITIVE_INFINITY });
}

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
function batchWaits(): Pick<BatchSettings, "scheduledDelayMillis" | "exportTimeoutMillis"> {
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
