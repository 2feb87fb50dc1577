import { probe } from "../../otel/replay/probe.ts";
import { isLocal, signalEndpoint, switchedOff } from "../signal-endpoint.ts";

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
