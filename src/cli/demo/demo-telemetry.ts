import { Bridge, type BridgeOptions } from "../../otel/bridge.ts";
import type { FinishedSpan } from "../../otel/replay/finished-span.ts";
import { createReplayProvider } from "../../otel/replay/replay-provider.ts";
import { serviceResource } from "../../otel/replay/service-resource.ts";
import { SpanOutlet } from "../../otel/replay/span-outlet.ts";
import { watchedTelemetry } from "../../otel/replay/watched-telemetry.ts";
import { messageOf } from "../cli-error.ts";
import type { Destination } from "./destination.ts";

/** What the demo sends through, and what became of it. */
export interface DemoTelemetry {
  readonly bridge: Bridge;
  /** Closes the bridge and sends what waits. */
  close(): Promise<Delivery>;
}

/** How many of the spans that were to be sent arrived. */
export interface Delivery {
  readonly delivered: number;
  readonly undelivered: number;
}

export interface DemoTelemetryOptions {
  readonly destination: Destination;
  readonly audit: NonNullable<BridgeOptions["audit"]>;
  /** Sees each span when it ends. */
  readonly observe: (span: FinishedSpan) => void;
  readonly onTrouble: (trouble: string) => void;
}

const SERVICE = "entelix-demo";

/** How long one request may take with its retries, in ms: somebody is watching. */
const SEND_MS = 3_000;

/** Never reached: spans, those of a flush before, and metrics take {@link SEND_MS} each at most. */
const SHUTDOWN_MS = 5 * SEND_MS;

/** Here an attempt failed. Whether anything was lost by it is told at the shutdown. */
const ATTEMPTS: readonly string[] = [
  "span loss",
  "span export",
  "metric export",
  "flush at shutdown",
];

export function demoTelemetry(options: DemoTelemetryOptions): DemoTelemetry {
  const { audit, destination, observe, onTrouble } = options;
  const onError = (error: unknown, place: string) => {
    if (!ATTEMPTS.includes(place)) onTrouble(`${place}: ${messageOf(error)}`);
  };
  const service = serviceResource(undefined, SERVICE);
  // Each run is seen once, when it ends.
  const common = { audit, limits: { markerAfterMs: 0 }, onError };
  if (destination.to === "nowhere") {
    const outlet = new SpanOutlet([], observe);
    const tracerProvider = createReplayProvider(service.resource, outlet);
    const bridge = new Bridge({ ...common, tracerProvider });
    const close = () => bridge.shutdown().then(() => ({ delivered: 0, undelivered: 0 }));
    return { bridge, close };
  }
  // The exporters take it from nowhere else.
  process.env.OTEL_EXPORTER_OTLP_TIMEOUT ??= String(SEND_MS);
  // Spans are sent again for as long as a flush may take.
  process.env.OTEL_BSP_EXPORT_TIMEOUT ??= String(SEND_MS);
  const telemetry = watchedTelemetry({
    serviceName: service.serviceName,
    endpoint: destination.given,
    metrics: destination.metrics !== undefined,
    shutdownTimeoutMs: SHUTDOWN_MS,
    observe,
    onError,
  });
  return {
    bridge: telemetry.createBridge(common),
    close: async () => {
      await telemetry.shutdown();
      const { ended, exported } = telemetry.diagnostics();
      return { delivered: exported, undelivered: ended - exported };
    },
  };
}
