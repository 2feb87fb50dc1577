import {
  AggregationTemporality,
  type Histogram,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";
import { NodeTracerProvider, type ReadableSpan } from "@opentelemetry/sdk-trace-node";
import {
  type AgentEvent,
  Bridge,
  createIdGenerator,
  type EventEnvelope,
} from "../../../src/index.ts";
import { shownMetric } from "../../bridge/support/metric-table.ts";
import type { Labels, SeriesBook } from "./series-book.ts";

/** What the process is asked to show besides its events. */
export interface ProcessOptions {
  readonly job: string;
  readonly instance: string;
  readonly version: string;
  /** A service of which spans alone are seen has none. */
  readonly metrics: boolean;
  /** Told of each event that it sends. */
  readonly took: () => void;
  /** Told of the bridge's own errors: of none, if all is well. */
  readonly problem: (text: string) => void;
  /** Told of its end, before what is open is given up. */
  readonly shutsDown: (process: AgentProcess) => void;
  readonly spanEnded: (span: ReadableSpan) => void;
}

/** One process of a service, with the real bridge. */
export class AgentProcess {
  readonly options: ProcessOptions;
  /** The tenants of the root runs that began here and go on, by run id. */
  readonly openRuns = new Map<string, string>();
  /** When it ended, in simulated seconds. */
  endedAt: number | undefined;
  /** The values that it sent last. */
  readonly shown = new Map<string, number>();
  readonly #keys = new Map<string, WeakMap<object, Keys>>();
  readonly #bridge: Bridge;
  readonly #reader: PeriodicExportingMetricReader;
  #events = 0;
  /** It was killed: what it had not sent is lost. */
  isKilled = false;
  #hasLastWord = false;

  constructor(options: ProcessOptions) {
    this.options = options;
    this.#reader = new PeriodicExportingMetricReader({
      exporter: new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE),
      exportIntervalMillis: 2 ** 30,
    });
    this.#bridge = new Bridge({
      tracerProvider: new NodeTracerProvider({
        idGenerator: createIdGenerator(),
        spanProcessors: [
          {
            onStart: () => {},
            onEnd: (span) => {
              if (!this.isKilled) options.spanEnded(span);
            },
            forceFlush: async () => {},
            shutdown: async () => {},
          },
        ],
      }),
      meterProvider: new MeterProvider({ readers: [this.#reader] }),
      ...(options.metrics ? {} : { metrics: false }),
      loops: { pollTools: ["job_state"] },
      onError: (error, where) => options.problem(`${where}: ${String(error)}`),
    });
  }

  get isAlive(): boolean {
    return this.endedAt === undefined;
  }

  send(event: AgentEvent, envelope: EventEnvelope = {}): void {
    this.#events++;
    this.options.took();
    const identified = { event_id: `${this.options.instance}-${this.#events}`, ...envelope };
    void this.#bridge.send(event, identified);
    // Now and then it is delivered twice.
    if (this.#events % 50 === 0) void this.#bridge.send(event, identified);
  }

  /** Whether it ended so that it could send its counts once more, and has not done so yet. */
  get hasLastWord(): boolean {
    return this.#hasLastWord;
  }

  /** The end of a process that is asked to end. What is open is given up. */
  shutdown(now: number): void {
    this.endedAt = now;
    this.#hasLastWord = true;
    this.options.shutsDown(this);
    void this.#bridge.shutdown();
  }

  /** The end of one that is killed: it sends nothing any more. */
  kill(now: number): void {
    this.endedAt = now;
    this.isKilled = true;
    // Its timers are gone, too.
    void this.#bridge.shutdown();
  }

  /** What it sends now, as Prometheus names it: the collector shows it until it hears of it again. */
  async push(book: SeriesBook): Promise<void> {
    const { instance, job, metrics, version } = this.options;
    this.#hasLastWord = false;
    if (!metrics) return;
    const { errors, resourceMetrics } = await this.#reader.collect();
    if (errors.length > 0) throw new AggregateError(errors, "collection failed");
    // What it does not name any more is gone.
    this.shown.clear();
    this.#put(book.key("target_info", { job, instance, service_version: version }), 1);
    for (const { dataPoints, descriptor } of resourceMetrics.scopeMetrics.flatMap(
      ({ metrics }) => metrics,
    )) {
      for (const { attributes, value } of dataPoints) {
        const keys = this.#keysOf(descriptor.name, attributes, book);
        if (typeof value === "number") this.#put(keys[0], value);
        else if ("buckets" in value) this.#putHistogram(keys, value);
      }
    }
  }

  /** @param keys of its buckets, the last of which is `+Inf`, and of its count. */
  #putHistogram(keys: Keys, { buckets, count }: Histogram): void {
    let below = 0;
    for (const [n, inBucket] of buckets.counts.entries()) {
      below += inBucket;
      this.#put(keys[n], below);
    }
    this.#put(keys.at(-1), count);
  }

  #put(key: string | undefined, value: number): void {
    if (key !== undefined) this.shown.set(key, value);
  }

  /** The series of a metric with these attributes, which the SDK gives anew, but as the same object. */
  #keysOf(metric: string, attributes: object, book: SeriesBook): Keys {
    let known = this.#keys.get(metric);
    if (known === undefined) {
      known = new WeakMap();
      this.#keys.set(metric, known);
    }
    let keys = known.get(attributes);
    if (keys === undefined) {
      keys = this.#newKeys(metric, attributes, book);
      known.set(attributes, keys);
    }
    return keys;
  }

  #newKeys(metric: string, attributes: object, book: SeriesBook): Keys {
    const { buckets, names } = shownMetric(metric);
    const { instance, job } = this.options;
    const labels = { job, instance, ...labelsOf(attributes) };
    const [name = "", , count] = names;
    if (count === undefined) return [book.key(name, labels)];
    const bounds = [...buckets.map(String), "+Inf"];
    return [...bounds.map((le) => book.key(name, { ...labels, le })), book.key(count, labels)];
  }
}

/** Names of series in the book; `undefined` for one that no rule asks for. */
type Keys = readonly (string | undefined)[];

function labelsOf(attributes: object): Labels {
  return Object.fromEntries(
    Object.entries(attributes).map(([name, value]) => [name.replaceAll(".", "_"), String(value)]),
  );
}
