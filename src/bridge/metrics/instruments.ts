import {
  type BatchObservableResult,
  createNoopMeter,
  type Histogram,
  type Meter,
  type MeterProvider,
  metrics,
  type Observable,
  type ObservableResult,
  ValueType,
} from "@opentelemetry/api";
import { fromMilliseconds, hasEarlierNames, type Instant, processWide } from "../../events/door.ts";
import { VERSION } from "../../version.ts";
import {
  type Adjustment,
  childrenIn,
  delayOf,
  idleMs,
  type Tree,
  waitOf,
} from "../lifecycle/door.ts";
import { SCOPE } from "../scope.ts";
import { type BridgeCounts, CountSum } from "./bridge-metrics.ts";
import { FingerprintCounts } from "./fingerprint-counts.ts";
import { METRICS, type MetricAttribute, type MetricName } from "./metric-names.ts";
import type { TokenPart } from "./model-series.ts";
import { PendingApprovals } from "./pending-approvals.ts";
import { type Series, SeriesTable } from "./series-table.ts";
import { pairIn } from "./waiting-run.ts";

const AGENT = "gen_ai.agent.name";
const WORKFLOW = "gen_ai.workflow.name";
const TENANT = "entelix.tenant_id";
const TOOL = "gen_ai.tool.name";
const MODEL = "gen_ai.request.model";
const PROVIDER = "gen_ai.provider.name";
const MODEL_LABELS: readonly MetricAttribute[] = [
  "gen_ai.response.model",
  "server.port",
  "server.address",
  MODEL,
  PROVIDER,
];
const INPUT_TOKENS = "gen_ai.client.inference.usage.input_tokens";
const OUTPUT_TOKENS = "gen_ai.client.inference.usage.output_tokens";
const CACHE_READ = "gen_ai.client.inference.usage.cache_read.input_tokens";
const CACHE_WRITE = "gen_ai.client.inference.usage.cache_write.input_tokens";
const REASONING = "gen_ai.client.inference.usage.reasoning.output_tokens";
const CONFLICTS: Adjustment = "tenant_conflicts";

/**
 * The instruments of one meter provider, shared by all bridges on it.
 *
 * Sums are stored here and read at collection. An increment costs one addition, while the SDK computes a key
 * from the attributes each time. The sums are shared, since an observed sum is one number for a process,
 * and since the SDK's limit on attribute sets is for all bridges together.
 */
export class Instruments {
  readonly runDuration: Histogram;
  readonly workflowDuration: Histogram;
  readonly toolCalls: Histogram;
  readonly callDuration: Histogram;
  readonly inferenceCalls: Histogram;
  readonly inferenceDuration: Histogram;
  readonly operationDuration: Histogram;
  readonly firstChunk: Histogram;
  readonly inputPerCall: Histogram;
  readonly outputPerCall: Histogram;
  /** The instruments under the earlier names of the conventions; absent unless the environment asks for them. */
  readonly earlier: EarlierInstruments | undefined;
  readonly workingTime: Histogram;
  readonly runDurations = new SeriesTable("gen_ai.invoke_agent.duration", [AGENT]);
  readonly workflowDurations = new SeriesTable("gen_ai.invoke_workflow.duration", [WORKFLOW]);
  readonly toolCallCounts = new SeriesTable("gen_ai.invoke_agent.tool_calls", [AGENT]);
  readonly callDurations = new SeriesTable("gen_ai.execute_tool.duration", [AGENT, TOOL]);
  readonly inferenceCallCounts = new SeriesTable("gen_ai.invoke_agent.inference_calls", [AGENT]);
  readonly inferenceDurations = modelTable("gen_ai.client.inference.duration");
  readonly operationDurations = modelTable("gen_ai.client.operation.duration");
  readonly firstChunks = modelTable("gen_ai.client.inference.time_to_first_chunk");
  readonly inputPerCalls = modelTable("gen_ai.client.inference.operation.input_tokens");
  readonly outputPerCalls = modelTable("gen_ai.client.inference.operation.output_tokens");
  readonly inputTokens = modelTable(INPUT_TOKENS);
  readonly outputTokens = modelTable(OUTPUT_TOKENS);
  readonly tokenParts: Readonly<Record<TokenPart, SeriesTable>> = {
    "gen_ai.usage.cache_read.input_tokens": modelTable(CACHE_READ),
    "gen_ai.usage.cache_write.input_tokens": modelTable(CACHE_WRITE),
    "gen_ai.usage.reasoning.output_tokens": modelTable(REASONING),
  };
  readonly tokenUsages = modelTable("gen_ai.client.token.usage");
  readonly earlierFirstChunks = modelTable("gen_ai.client.operation.time_to_first_chunk");
  readonly runs = new SeriesTable("entelix.runs", [AGENT, TENANT]);
  readonly workingTimes = new SeriesTable("entelix.runs.working_time", [AGENT, TENANT]);
  readonly active = new SeriesTable("entelix.runs.active", [AGENT, TENANT]);
  readonly waiting = new SeriesTable("entelix.runs.waiting", [AGENT]);
  readonly idle = new SeriesTable("entelix.runs.idle.max", [AGENT]);
  readonly fingerprints = new FingerprintCounts();
  readonly degraded = new SeriesTable("entelix.runs.degraded", [AGENT, TENANT, TOOL]);
  readonly looping = new SeriesTable("entelix.runs.looping", [AGENT, TENANT, TOOL]);
  readonly failures = new SeriesTable("entelix.tool.failures", [AGENT, TENANT, TOOL]);
  readonly cancelled = new SeriesTable("entelix.tool.cancelled", [AGENT, TENANT, TOOL]);
  readonly terminalFailures = new SeriesTable("entelix.tool.terminal_failures", [
    AGENT,
    TENANT,
    TOOL,
  ]);
  readonly pending = new SeriesTable("entelix.approvals.pending", [AGENT, TENANT]);
  readonly oldest = new SeriesTable("entelix.approvals.oldest", [TENANT]);
  readonly tokens = new SeriesTable("entelix.tokens", [AGENT, TENANT]);
  readonly cost = new SeriesTable("entelix.cost", [AGENT, TENANT]);
  readonly approvals = new PendingApprovals();
  /** The only adjustment that is counted by tenant. */
  readonly #conflicts = new SeriesTable("entelix.bridge.adjustments", [TENANT]);
  readonly #bridges = new Set<JoinedBridge>();
  readonly #gone = new CountSum();

  constructor(meter: Meter) {
    this.runDuration = histogram(meter, "gen_ai.invoke_agent.duration");
    this.workflowDuration = histogram(meter, "gen_ai.invoke_workflow.duration");
    this.toolCalls = histogram(meter, "gen_ai.invoke_agent.tool_calls");
    this.callDuration = histogram(meter, "gen_ai.execute_tool.duration");
    this.inferenceCalls = histogram(meter, "gen_ai.invoke_agent.inference_calls");
    this.inferenceDuration = histogram(meter, "gen_ai.client.inference.duration");
    this.operationDuration = histogram(meter, "gen_ai.client.operation.duration");
    this.firstChunk = histogram(meter, "gen_ai.client.inference.time_to_first_chunk");
    this.inputPerCall = histogram(meter, "gen_ai.client.inference.operation.input_tokens");
    this.outputPerCall = histogram(meter, "gen_ai.client.inference.operation.output_tokens");
    this.earlier = hasEarlierNames() ? earlierInstruments(meter) : undefined;
    this.workingTime = histogram(meter, "entelix.runs.working_time");
    observeTable(meter, INPUT_TOKENS, this.inputTokens);
    observeTable(meter, OUTPUT_TOKENS, this.outputTokens);
    observeTable(meter, CACHE_READ, this.tokenParts["gen_ai.usage.cache_read.input_tokens"]);
    observeTable(meter, CACHE_WRITE, this.tokenParts["gen_ai.usage.cache_write.input_tokens"]);
    observeTable(meter, REASONING, this.tokenParts["gen_ai.usage.reasoning.output_tokens"]);
    observeTable(meter, "entelix.runs", this.runs);
    observeTable(meter, "entelix.runs.active", this.active);
    observeTable(meter, "entelix.runs.degraded", this.degraded);
    observeTable(meter, "entelix.runs.looping", this.looping);
    observeTable(meter, "entelix.failures", { all: () => this.fingerprints.all(Date.now()) });
    observeTable(meter, "entelix.tool.failures", this.failures);
    observeTable(meter, "entelix.tool.cancelled", this.cancelled);
    observeTable(meter, "entelix.tool.terminal_failures", this.terminalFailures);
    observeTable(meter, "entelix.tokens", this.tokens);
    observeTable(meter, "entelix.cost", this.cost);
    this.#observeApprovals(meter);
    this.#observeOpenRuns(meter);
    this.#observeBridges(meter);
  }

  /**
   * Adds a bridge, whose counts and open runs are summed with those of the others.
   *
   * @returns removes the bridge; its counts stay.
   */
  join(bridge: JoinedBridge): () => void {
    this.#bridges.add(bridge);
    return () => {
      if (this.#bridges.delete(bridge)) this.#gone.add(bridge.counts());
    };
  }

  /** @param tenant the value of the label. */
  conflictsOf(tenant: string): Series {
    return this.#conflicts.of(CONFLICTS, tenant);
  }

  /** Counts an event of a bridge that was removed. */
  lateEvent(): void {
    this.#gone.events++;
    this.#gone.ignored.set("after_shutdown", (this.#gone.ignored.get("after_shutdown") ?? 0) + 1);
  }

  #observeApprovals(meter: Meter): void {
    const [pending, oldest] = [this.pending, this.oldest];
    observeTables(
      meter,
      [
        ["entelix.approvals.pending", pending],
        ["entelix.approvals.oldest", oldest],
      ],
      () => this.approvals.tally(Date.now() / 1000, pending.all(), oldest.all()),
    );
  }

  #observeOpenRuns(meter: Meter): void {
    const [waiting, idle] = [this.waiting, this.idle];
    observeTables(
      meter,
      [
        ["entelix.runs.waiting", waiting],
        ["entelix.runs.idle.max", idle],
      ],
      () => {
        for (const table of [waiting, idle]) for (const series of table.all()) series.value = 0;
        const at = fromMilliseconds(Date.now());
        for (const { openTrees } of this.#bridges) tallyOpenRuns(openTrees(), at);
      },
    );
  }

  #observeBridges(meter: Meter): void {
    const events = observable(meter, "entelix.bridge.events");
    const ignored = observable(meter, "entelix.bridge.ignored");
    const adjustments = observable(meter, "entelix.bridge.adjustments");
    const openRuns = observable(meter, "entelix.bridge.open_runs");
    const labelOverflow = observable(meter, "entelix.bridge.label_overflow");
    const appendFailures = observable(meter, "entelix.audit.append_failures");
    meter.addBatchObservableCallback(
      (result) => {
        const sum = this.#gone.copy();
        for (const { counts } of this.#bridges) sum.add(counts());
        sum.adjustments.set("forgotten_pending", this.approvals.forgotten);
        // Counted by tenant, below.
        sum.adjustments.delete(CONFLICTS);
        result.observe(events, sum.events);
        observeEach(result, ignored, "entelix.reason", sum.ignored);
        observeEach(result, adjustments, "entelix.reason", sum.adjustments);
        for (const { attributes, value } of this.#conflicts.all()) {
          result.observe(adjustments, value, attributes);
        }
        result.observe(openRuns, sum.openRuns);
        observeEach(result, labelOverflow, "entelix.label", sum.labelOverflow);
        result.observe(appendFailures, sum.auditFailures);
      },
      [events, ignored, adjustments, openRuns, labelOverflow, appendFailures],
    );
  }
}

/** The counts of a bridge, read at collection. */
export interface JoinedBridge {
  readonly counts: () => BridgeCounts;
  readonly openTrees: () => Iterable<Tree<unknown>>;
}

/** Histograms under earlier names. */
interface EarlierInstruments {
  readonly tokenUsage: Histogram;
  readonly firstChunk: Histogram;
}

function earlierInstruments(meter: Meter): EarlierInstruments {
  return {
    tokenUsage: histogram(meter, "gen_ai.client.token.usage"),
    firstChunk: histogram(meter, "gen_ai.client.operation.time_to_first_chunk"),
  };
}

function modelTable(metric: MetricName): SeriesTable {
  return new SeriesTable(metric, MODEL_LABELS);
}

/** The meter of this package. */
export function ownMeter(provider: MeterProvider): Meter {
  return provider.getMeter(...SCOPE);
}

/** Creates an observable instrument of the table of metrics. */
export function observable(meter: Meter, name: MetricName): Observable {
  const { brief, kind, unit } = METRICS[name];
  const options = { description: brief, unit, valueType: valueTypeOf(unit) };
  switch (kind) {
    case "counter":
      return meter.createObservableCounter(name, options);
    case "updowncounter":
      return meter.createObservableUpDownCounter(name, options);
    case "gauge":
      return meter.createObservableGauge(name, options);
    case "histogram":
      throw new TypeError(`${name}: a histogram can't be observed`);
    default:
      return kind satisfies never;
  }
}

/** Observes a number for each value of one attribute. */
function observeEach(
  result: BatchObservableResult,
  instrument: Observable,
  attribute: "entelix.reason" | "entelix.label",
  counts: Iterable<readonly [string, number]>,
): void {
  for (const [value, count] of counts) result.observe(instrument, count, { [attribute]: value });
}

function histogram(meter: Meter, name: MetricName): Histogram {
  const { brief, buckets, unit } = METRICS[name];
  return meter.createHistogram(name, {
    description: brief,
    unit,
    ...(buckets === undefined ? {} : { advice: { explicitBucketBoundaries: [...buckets] } }),
  });
}

function observeTable(meter: Meter, name: MetricName, table: { all(): Iterable<Series> }): void {
  observable(meter, name).addCallback((result: ObservableResult) => {
    for (const { attributes, value } of table.all()) result.observe(value, attributes);
  });
}

/** @param compute sets the values of all tables at each collection. */
function observeTables(
  meter: Meter,
  tables: readonly (readonly [name: MetricName, table: { all(): Iterable<Series> }])[],
  compute: () => void,
): void {
  const observed = tables.map(([name, table]) => ({ instrument: observable(meter, name), table }));
  meter.addBatchObservableCallback(
    (result) => {
      compute();
      for (const { instrument, table } of observed) {
        for (const { attributes, value } of table.all()) {
          result.observe(instrument, value, attributes);
        }
      }
    },
    observed.map(({ instrument }) => instrument),
  );
}

/** Seconds and dollars are doubles; all other units are integers. */
function valueTypeOf(unit: string): ValueType {
  return unit === "s" || unit === "{USD}" ? ValueType.DOUBLE : ValueType.INT;
}

type Kept = WeakMap<MeterProvider, Instruments>;

/** Checked by name, since another copy of this package has another class of that name. */
function isKept(value: unknown): value is Kept {
  return value instanceof WeakMap;
}

function shared(): Kept {
  // With the version, since only copies of one version can share instruments.
  return processWide(`instruments@${VERSION}`, isKept, () => new WeakMap());
}

/**
 * The instruments of a meter provider, created on the first call.
 *
 * @param provider default: the current global one.
 * @returns `undefined` if no provider measures.
 */
export function instrumentsOf(provider?: MeterProvider): Instruments | undefined {
  const from = provider ?? metrics.getMeterProvider();
  const kept = shared();
  const known = kept.get(from);
  if (known !== undefined) return known;
  const meter = ownMeter(from);
  // The API returns this meter while no provider is registered.
  if (meter === createNoopMeter()) return undefined;
  const made = new Instruments(meter);
  kept.set(from, made);
  return made;
}

/**
 * Adds the open runs of a bridge to the series of what they wait for. Computed at collection, so that the
 * counts cannot drift and events cost nothing.
 *
 * @param now by this process's clock.
 */
function tallyOpenRuns(trees: Iterable<Tree<unknown>>, now: Instant): void {
  for (const tree of trees) {
    const delay = delayOf(tree);
    const children = childrenIn(tree);
    for (let run = tree.first; run !== undefined; run = run.next) {
      const pair = pairIn(run.observed);
      if (pair === undefined) continue;
      const { count, idle } = pair.ofAgent.waiting(waitOf(run, children).kind);
      count.value++;
      const seconds = idleMs(run, now, delay) / 1000;
      if (seconds > idle.value) idle.value = seconds;
    }
  }
}
