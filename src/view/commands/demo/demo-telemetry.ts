import {
  Bridge,
  type BridgeOptions,
  createReplayProvider,
  type FinishedSpan,
  probe,
  SpanOutlet,
  serviceResource,
  watchedTelemetry,
} from "../../../bridge/door.ts";
import { messageOf, signalEndpoint, switchedOff } from "../../../cli/door.ts";

/** Where the demo sends spans and metrics. */
export type Destination =
  | {
      readonly to: "receiver";
      /** The URL of `--endpoint`; `undefined` where the variables name the receiver. */
      readonly given: string | undefined;
      /** URL for spans. */
      readonly traces: string;
      /** URL for metrics; `undefined` where none are sent. */
      readonly metrics: string | undefined;
      /** Whether the receiver has no URL for metrics, as Jaeger alone. */
      readonly spansOnly: boolean;
    }
  | { readonly to: "nowhere"; readonly because: string };

type Env = Readonly<Record<string, string | undefined>>;

/** Time limit for the receiver's answer whether it accepts metrics, in ms. */
const ANSWER_MS = 1_000;

/**
 * The destination by `--endpoint` and the standard variables. Asks the receiver whether it accepts metrics. A receiver
 * without an answer counts as one that does: the export reports it later.
 *
 * @throws CliError when a URL is invalid.
 */
export async function destinationOf(given: string | undefined, env: Env): Promise<Destination> {
  const traces = signalEndpoint("traces", given, env);
  const address = signalEndpoint("metrics", given, env);
  if (traces === undefined) return { to: "nowhere", because: "no endpoint is configured" };
  const off = switchedOff("traces", env);
  if (off !== undefined) return { to: "nowhere", because: off };
  const metrics = switchedOff("metrics", env) === undefined ? address : undefined;
  const spansOnly = metrics !== undefined && (await knowsNoMetrics(metrics));
  return { to: "receiver", given, traces, metrics: spansOnly ? undefined : metrics, spansOnly };
}

async function knowsNoMetrics(url: string): Promise<boolean> {
  const { status } = await probe("METRICS", url, ANSWER_MS);
  return status === 404 || status === 405;
}

interface DemoTelemetry {
  readonly bridge: Bridge;
  /** Closes the bridge, and sends pending spans and metrics. */
  close(): Promise<Delivery>;
}

/** How many of the spans arrived at the receiver. Without a receiver, both are 0. */
export interface Delivery {
  readonly delivered: number;
  readonly undelivered: number;
}

interface DemoTelemetryOptions {
  readonly destination: Destination;
  readonly audit: NonNullable<BridgeOptions["audit"]>;
  /** Called with each span when it ends. */
  readonly observe: (span: FinishedSpan) => void;
  /** Called with errors that lose something. */
  readonly onTrouble: (trouble: string) => void;
}

const SERVICE = "entelix-demo";

/** Time limit of a request with its retries, in ms. Short, because a user waits for the demo. */
const SEND_MS = 3_000;

/** Above the longest shutdown: an earlier flush, spans and metrics take at most {@link SEND_MS} each. */
const SHUTDOWN_MS = 5 * SEND_MS;

/** Errors of single attempts. The shutdown reports whether one of them lost something. */
const ATTEMPTS: readonly string[] = [
  "span loss",
  "span export",
  "metric export",
  "flush at shutdown",
];

export function demoTelemetry(options: DemoTelemetryOptions): DemoTelemetry {
  const { audit, destination, observe, onTrouble } = options;
  const onError = (error: unknown, operation: string) => {
    if (!ATTEMPTS.includes(operation)) onTrouble(`${operation}: ${messageOf(error)}`);
  };
  const service = serviceResource(undefined, SERVICE);
  const common = {
    audit,
    // The recordings have no data of real people.
    captureContent: true,
    approvalPerson: true,
    // Each run has one span, at its end.
    limits: { markerAfterMs: 0 },
    onError,
  };
  if (destination.to === "nowhere") {
    const outlet = new SpanOutlet([], observe);
    const tracerProvider = createReplayProvider(service.resource, outlet);
    const bridge = new Bridge({ ...common, tracerProvider });
    const close = () => bridge.shutdown().then(() => ({ delivered: 0, undelivered: 0 }));
    return { bridge, close };
  }
  // The exporters have no option for it.
  process.env.OTEL_EXPORTER_OTLP_TIMEOUT ??= String(SEND_MS);
  // The time limit of a flush limits the retries of spans.
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
