import { AlwaysOnSampler } from "@opentelemetry/sdk-trace-node";
import { setupTelemetry } from "../setup/metrics/setup-telemetry.ts";
import { setupTracing } from "../setup/setup-tracing.ts";
import type { Tracing } from "../setup/tracing.ts";
import type { TracingOptions } from "../setup/tracing-options.ts";
import type { FinishedSpan } from "./finished-span.ts";
import { SpanOutlet } from "./span-outlet.ts";

export interface WatchedOptions
  extends Pick<TracingOptions, "serviceName" | "endpoint" | "shutdownTimeoutMs" | "onError"> {
  /** Whether metrics are sent too. */
  readonly metrics: boolean;
  /** Sees each span when it ends. */
  readonly observe: (span: FinishedSpan) => void;
}

/**
 * The live telemetry of a process as an application sets it up, for a command that shows what it
 * sends: whatever the environment says every span is kept, and nothing is registered.
 */
export function watchedTelemetry({ metrics, observe, ...options }: WatchedOptions): Tracing {
  const watched = {
    ...options,
    register: false,
    sampler: new AlwaysOnSampler(),
    spanProcessors: [new SpanOutlet([], observe)],
  };
  return metrics ? setupTelemetry(watched) : setupTracing(watched);
}
