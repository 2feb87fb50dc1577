import { batchWaits } from "../setup/batch-settings.ts";
import { environmentNumber } from "../setup/environment.ts";
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
