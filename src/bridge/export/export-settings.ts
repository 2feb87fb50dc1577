import { environmentNumber } from "../setup/environment-variables.ts";
import { LONGEST_WAIT_MS } from "../spans/within.ts";
import type { RetryDelays } from "./retry.ts";
import { LIVE } from "./send-policy.ts";

/** Settings of the queue and of requests. */
export interface ExportSettings {
  /** Limit of encoded spans that wait or are being sent, in bytes. Above it, new spans are dropped. */
  readonly queueBytes: number;
  /** Limit of waiting spans. Default: only `queueBytes`. */
  readonly maxQueueSize: number;
  /** A request is sent when it has this many bytes. */
  readonly requestBytes: number;
  /**
   * A request is sent when it has this many spans. Default: only `requestBytes`, and at most a fourth of
   * `maxQueueSize`.
   */
  readonly maxExportBatchSize: number;
  /** Concurrent requests. */
  readonly requests: number;
  /** Time that a span waits for its request to fill, in ms. */
  readonly scheduledDelayMillis: number;
  /** Time limit of a flush, of a shutdown and of a request, in ms. */
  readonly exportTimeoutMillis: number;
  /** Waits after a failure, in which nothing is sent. */
  readonly backoff: RetryDelays;
}

const DEFAULTS = {
  queueBytes: 64 * 1024 * 1024,
  requestBytes: 512 * 1024,
  requests: 4,
  backoff: LIVE.delays,
} as const;

/**
 * The defaults, overridden by `OTEL_BSP_*`. The two limits in spans have no default, since memory and the size
 * of a request are limited in bytes.
 *
 * @param own overrides both.
 * @throws RangeError if a value is out of range; the message names it.
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
  // Otherwise a request that cannot fill before the queue is full waits for its time, and spans are lost.
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

/** Their two times. */
function batchWaits(): Pick<ExportSettings, "scheduledDelayMillis" | "exportTimeoutMillis"> {
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
