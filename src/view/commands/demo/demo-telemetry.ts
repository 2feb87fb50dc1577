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
import { isLocal, messageOf, signalEndpoint, switchedOff } from "../../../cli/door.ts";

/** A receiver of what the demo makes. */
export interface Receiver {
  readonly to: "receiver";
  /** What `--endpoint` said. `undefined`: the variables say where. */
  readonly given: string | undefined;
  /** The address for spans. */
  readonly traces: string;
  /** The address for metrics; `undefined` where they are not sent. */
  readonly metrics: string | undefined;
  /** Whether metrics are not sent since the receiver knows none, as a Jaeger by itself does not. */
  readonly spansOnly: boolean;
}

/** Where the demo sends. */
export type Destination = Receiver | { readonly to: "nowhere"; readonly because: string };

type Env = Readonly<Record<string, string | undefined>>;

/** How long the receiver may take to say whether it takes metrics, in ms. */
const ANSWER_MS = 1_000;

/**
 * Where the demo is to send, by its option and the standard variables. The receiver is asked whether
 * it knows metrics at all; if it does not answer, that is for the demo's own requests to find out.
 *
 * @throws CliError when an address is none.
 */
export async function destinationOf(given: string | undefined, env: Env): Promise<Destination> {
  const traces = signalEndpoint("traces", given, env);
  const address = signalEndpoint("metrics", given, env);
  if (traces === undefined) return { to: "nowhere", because: "no endpoint is configured" };
  const off = switchedOff("traces", env);
  if (off !== undefined) return { to: "nowhere", because: off };
  const metrics = switchedOff("metrics", env) === undefined ? address : undefined;
  const spansOnly = metrics !== undefined && (await knowsNoMetrics(metrics));
  return {
    to: "receiver",
    given,
    traces,
    metrics: spansOnly ? undefined : metrics,
    spansOnly,
  };
}

async function knowsNoMetrics(url: string): Promise<boolean> {
  const { status } = await probe("METRICS", url, ANSWER_MS);
  return status === 404 || status === 405;
}

/** What a page shows, and its address. */
export type Page = readonly [name: string, address: string];

/**
 * Pages to look at beside Jaeger's, by the ports of docker-compose.yml: none where its stack is not
 * known to be on this machine.
 *
 * @param jaeger what `--jaeger` said.
 */
export function pagesOf(destination: Destination, jaeger: string | undefined): readonly Page[] {
  if (destination.to === "nowhere" || destination.metrics === undefined) return [];
  if (!isLocal(destination.metrics) && (jaeger === undefined || !isLocal(jaeger))) return [];
  return [
    ["dashboards", "http://127.0.0.1:3000"],
    ["metrics", "http://127.0.0.1:9090"],
    ["alerts", "http://127.0.0.1:9093"],
  ];
}

/** What the demo sends through, and what became of it. */
interface DemoTelemetry {
  readonly bridge: Bridge;
  /** Closes the bridge and sends what waits. */
  close(): Promise<Delivery>;
}

/** How many of the spans that were to be sent arrived. */
export interface Delivery {
  readonly delivered: number;
  readonly undelivered: number;
}

interface DemoTelemetryOptions {
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
