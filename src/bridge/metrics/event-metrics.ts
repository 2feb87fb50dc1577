import type { Histogram } from "@opentelemetry/api";
import {
  type CallEnd,
  degradedTools,
  type FailureKind,
  type FailureKindId,
  type Instant,
  type Loop,
  type ModelEnd,
  type ModelProblem,
  millisecondsBetween,
  type RunEnd,
  type SpanAttributes,
} from "../../events/door.ts";
import {
  type CallDecision,
  inSegment,
  type ModelCall,
  type Run,
  type RunObserver,
} from "../lifecycle/door.ts";
import type { Reporter } from "../report.ts";
import { NOTHING_REPLACED, type OverflowLabel } from "./bridge-metrics.ts";
import { amountOf, decimalOf, unusable } from "./figures.ts";
import { callFingerprint, runFingerprint } from "./fingerprint.ts";
import type { Instruments } from "./instruments.ts";
import type { LabelCaps } from "./label-values.ts";
import { type MetricAttribute, UNCLASSED } from "./metric-names.ts";
import { ModelMetrics } from "./model-metrics.ts";
import { failureKindOf, positionOf, toolErrorKindOf } from "./run-outcomes.ts";
import { type PairSeries, SeriesCache } from "./series-cache.ts";
import type { Series } from "./series-table.ts";
import { type Figure, TreeUsage } from "./tree-usage.ts";
import { isBefore, pairIn, WaitingRun, waitEnd, waitIn } from "./waiting-run.ts";

interface EventMetricsOptions {
  readonly instruments: Instruments;
  readonly caps: LabelCaps;
  /** Failure kinds that do not count as errors: they get no `error.type`. */
  readonly benign: ReadonlySet<FailureKindId>;
  readonly reporter: Reporter;
}

/**
 * Records metrics of the runs and calls of one bridge, sampled or not. It never throws, since untyped
 * programs can send any value.
 */
export class EventMetrics implements RunObserver {
  /** Number of failed measurements: an invalid figure, or an instrument that threw. */
  failures = 0;
  /** Measurements with a label that was replaced by `_other`, by label. */
  readonly labelOverflow: Record<OverflowLabel, number> = { ...NOTHING_REPLACED };
  readonly #instruments: Instruments;
  readonly #series: SeriesCache;
  readonly #models: ModelMetrics;
  readonly #trees = new TreeUsage();
  readonly #benign: ReadonlySet<FailureKindId>;
  readonly #reporter: Reporter;

  constructor(options: EventMetricsOptions) {
    this.#instruments = options.instruments;
    this.#series = new SeriesCache(options.instruments, options.caps);
    this.#models = new ModelMetrics(options.instruments, options.caps.models, {
      record: (histogram, value, series) => this.#record(histogram, value, series),
      count: (series, by) => this.#count(series, by),
      fail: (error) => this.#fail(error),
    });
    this.#benign = options.benign;
    this.#reporter = options.reporter;
  }

  runOpened(run: Run<unknown>): void {
    const pair = this.#series.pair(run.tenantId, run.agent);
    run.observed = pair;
    this.#count(pair.active, 1);
    if (run.root) pair.startAtZero();
    else pair.startUsageAtZero();
    this.#trees.joined(run);
    const { approvals } = this.#instruments;
    if (approvals.isEmpty) return;
    if (!approvals.resolveRun(run.tenantId, run.runId)) this.#resolve(run);
  }

  runNamed(run: Run<unknown>): void {
    const before = this.#pairOf(run);
    const pair = this.#series.pair(run.tenantId, run.agent);
    if (pair !== before) {
      if (run.observed instanceof WaitingRun) run.observed.pair = pair;
      else run.observed = pair;
      before.active.value--;
      this.#count(pair.active, 1);
    }
    if (run.root) pair.startAtZero();
    else pair.startUsageAtZero();
    this.#trees.joined(run);
    if (!this.#instruments.approvals.isEmpty) this.#resolve(run);
  }

  runResumed(run: Run<unknown>, resumedFromRunId: string): void {
    this.#instruments.approvals.resolveRun(run.tenantId, resumedFromRunId);
  }

  runClosed(run: Run<unknown>, at: Instant, end: RunEnd): void {
    const pair = this.#pairOf(run);
    pair.active.value--;
    try {
      this.#countRun(run, pair, at, end);
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Adds the wait to the root: while a child waits for a person, its ancestors wait, too. */
  callDecided(run: Run<unknown>, at: Instant, decision: CallDecision): void {
    const waited = waitIn(decision);
    if (waited === undefined || !run.open) return;
    let top = run;
    while (top.parent !== undefined) top = top.parent;
    const { observed } = top;
    const waitingRun =
      observed instanceof WaitingRun ? observed : new WaitingRun(this.#pairOf(top));
    top.observed = waitingRun;
    const until = millisecondsBetween(top.startedAt, waitEnd(run, at, waited));
    // A wait before the run is not part of its time.
    if (top.startSeen && isBefore(until - waited, 0)) return;
    waitingRun.waited.add(Math.max(until - waited, 0), until);
  }

  callEnded(run: Run<unknown>, name: string, durationMs: number, end: CallEnd): void {
    try {
      this.#countCall(run, name, durationMs, end);
    } catch (error) {
      this.#fail(error);
    }
  }

  loopFound(run: Run<unknown>, { kind, tools }: Loop): void {
    const { agent, tenant } = this.#pairOf(run);
    const [tool = ""] = tools;
    this.#count(this.#instruments.looping.of(kind, this.#series.tool(tool), agent, tenant), 1);
  }

  modelEnded(run: Run<unknown>, call: ModelCall<unknown>, at: Instant, end: ModelEnd): void {
    try {
      if (end.attributes !== undefined) this.#addCallUsage(run, end.attributes);
      // The end of an unfinished call is unknown.
      if (end.outcome === "unfinished") return;
      const error = end.outcome === "error" ? this.#modelErrorOf(end.problem) : undefined;
      this.#models.measure(call, at, end, error);
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Counts that the tenant named a run or trace of another tenant. */
  tenantConflict(tenantId: string): void {
    this.#count(this.#series.conflicts(tenantId), 1);
  }

  #countRun(run: Run<unknown>, pair: PairSeries, at: Instant, end: RunEnd): void {
    this.#count(pair.runs(positionOf(end), run.root), 1);
    const { degraded } = this.#instruments;
    for (const tool of degradedTools(run)) {
      this.#count(degraded.of(this.#series.tool(tool), pair.agent, pair.tenant), 1);
    }
    const isAgent = run.operation === "invoke_agent";
    const { ofAgent } = pair;
    const calls = inSegment(run, "toolCalls");
    if (isAgent) {
      const { inferenceCalls, toolCalls } = this.#instruments;
      this.#record(toolCalls, calls, ofAgent.toolCalls);
      // Without any call of a model, its source does not report them.
      if (run.modelCalls > 0) this.#record(inferenceCalls, run.inferences, ofAgent.inferenceCalls);
    }
    // The duration of an abandoned run is unknown.
    if (run.startSeen && end.outcome !== "abandoned") {
      const error = end.outcome === "failed" ? this.#errorTypeOf(end.kind) : undefined;
      const seconds = millisecondsBetween(run.startedAt, at) / 1000;
      const { runDuration, workflowDuration } = this.#instruments;
      if (isAgent) this.#record(runDuration, seconds, ofAgent.durations.of(error));
      else this.#record(workflowDuration, seconds, ofAgent.workflows.of(error));
    }
    // A failure that passes through nested runs counts once, at the root, like usage.
    if (run.root || end.ownUsage === true) this.#addUsage(run, pair, end);
    if (run.root) {
      this.#measureWork(run, pair, at, end);
      this.#countRoot(run, pair, at, end);
    }
  }

  /** Records the duration that a user sees: until the answer, or until the agent asks. */
  #measureWork(run: Run<unknown>, pair: PairSeries, at: Instant, end: RunEnd): void {
    if (!run.startSeen || end.outcome === "failed" || end.outcome === "abandoned") return;
    const waited = run.observed instanceof WaitingRun ? run.observed.waited.ms : 0;
    const seconds = Math.max(millisecondsBetween(run.startedAt, at) - waited, 0) / 1000;
    this.#record(this.#instruments.workingTime, seconds, pair.workingTime());
  }

  #countCall(run: Run<unknown>, name: string, durationMs: number, end: CallEnd): void {
    const pair = this.#pairOf(run);
    switch (end.outcome) {
      case "complete":
      case "interrupted":
        this.#measureCall(pair, name, durationMs, undefined);
        break;
      case "error": {
        const kind = toolErrorKindOf(end.kind);
        this.#measureCall(pair, name, durationMs, kind);
        const { failures } = this.#instruments;
        this.#count(failures.of(this.#series.tool(name), kind, pair.agent, pair.tenant), 1);
        this.#instruments.fingerprints.add(callFingerprint(name, end), Date.now());
        break;
      }
      case "cancelled": {
        this.#measureCall(pair, name, durationMs, undefined);
        const { cancelled } = this.#instruments;
        this.#count(cancelled.of(this.#series.tool(name), pair.agent, pair.tenant), 1);
        break;
      }
      // Denied (the tool did not run), or the end is unknown.
      case "denied":
      case "unfinished":
        break;
      default:
        end satisfies never;
    }
  }

  #countRoot(run: Run<unknown>, pair: PairSeries, at: Instant, end: RunEnd): void {
    switch (end.outcome) {
      case "complete":
      case "refused":
        break;
      case "failed":
        this.#instruments.fingerprints.add(runFingerprint(run, end), Date.now());
        if (end.kind?.type === "tool_error_terminal") {
          const tool = this.#series.tool(end.kind.tool_name);
          const kind = toolErrorKindOf(end.kind.kind);
          const { terminalFailures } = this.#instruments;
          this.#count(terminalFailures.of(tool, kind, pair.agent, pair.tenant), 1);
        }
        break;
      case "interrupted":
        if (end.kind?.type === "approval_pending") {
          const since = at[0] + at[1] / 1e9;
          this.#instruments.approvals.add(run, since, pair.pending(), pair.oldest());
        }
        break;
      case "abandoned":
        break;
      default:
        end satisfies never;
    }
  }

  /** Counts the usage of a model call at its end, for the agent that called, however its run ends. */
  #addCallUsage(run: Run<unknown>, usage: SpanAttributes): void {
    const input = decimalOf(usage["gen_ai.usage.input_tokens"]);
    const output = decimalOf(usage["gen_ai.usage.output_tokens"]);
    const known = input !== undefined || output !== undefined;
    if (known && this.#trees.counts(run, "tokens", "calls")) {
      const pair = this.#pairOf(run);
      if (input !== undefined) this.#count(pair.tokens("input"), input);
      if (output !== undefined) this.#count(pair.tokens("output"), output);
    }
    const given = usage["entelix.model.cost"];
    const cost = given === undefined ? undefined : decimalOf(given);
    if (cost === undefined) {
      if (given !== undefined) this.#fail(unusable("cost_usd", given));
    } else if (this.#trees.counts(run, "cost", "calls")) {
      this.#count(this.#pairOf(run).cost(), cost);
    }
  }

  /**
   * Counts the usage of a run: its own, or that of a root, which includes its descendants. A usage of 0 does not decide
   * the source.
   */
  #addUsage(run: Run<unknown>, pair: PairSeries, { ownUsage, usage }: RunEnd): void {
    if (usage === undefined) return;
    const source = ownUsage === true ? "calls" : "root";
    const counts = (figure: Figure) => this.#trees.counts(run, figure, source);
    const { cost_usd, input_tokens, output_tokens } = usage;
    const input = this.#figure("usage.input_tokens", input_tokens, amountOf(input_tokens));
    const output = this.#figure("usage.output_tokens", output_tokens, amountOf(output_tokens));
    if (input + output > 0 && counts("tokens")) {
      this.#count(pair.tokens("input"), input);
      this.#count(pair.tokens("output"), output);
    }
    const cost = this.#figure("usage.cost_usd", cost_usd, decimalOf(cost_usd));
    if (cost > 0 && counts("cost")) this.#count(pair.cost(), cost);
  }

  /** The figure, or 0 if it is missing. An invalid one is also counted as a failure. */
  #figure(field: string, given: unknown, figure: number | undefined): number {
    if (figure === undefined && given !== undefined && given !== null) {
      this.#fail(unusable(field, given));
    }
    return figure ?? 0;
  }

  /**
   * Removes the wait of the run that this one resumes. If it names that run, other waits of its thread
   * stay.
   */
  #resolve(run: Run<unknown>): void {
    const { approvals } = this.#instruments;
    const { resumedFromRunId, tenantId, threadId } = run;
    if (resumedFromRunId !== undefined && approvals.resolveRun(tenantId, resumedFromRunId)) return;
    if (threadId !== undefined && run.root) approvals.resolveThread(tenantId, threadId);
  }

  #errorTypeOf(kind: FailureKind): string | undefined {
    return this.#benign.has(kind?.type) ? undefined : failureKindOf(kind);
  }

  /** The `error.type` of a model call. A source's unclassified error name is free text and not a label. */
  #modelErrorOf({ kind }: ModelProblem): string | undefined {
    return kind === undefined ? UNCLASSED : this.#errorTypeOf(kind);
  }

  #measureCall(
    pair: PairSeries,
    name: string,
    durationMs: number,
    error: string | undefined,
  ): void {
    const ms = amountOf(durationMs);
    if (ms === undefined) {
      this.#fail(unusable("duration_ms", durationMs));
      return;
    }
    const series = this.#series.calls(pair, name).of(error);
    this.#record(this.#instruments.callDuration, ms / 1000, series);
  }

  /** The series of a run. The run stores them; a run that was restored from memory has none yet. */
  #pairOf(run: Run<unknown>): PairSeries {
    return pairIn(run.observed) ?? this.#series.pair(run.tenantId, run.agent);
  }

  #count(series: Series, by: number): void {
    series.value += by;
    if (series.replaced.length > 0) this.#noteReplaced(series);
  }

  #record(histogram: Histogram, value: number, series: Series): void {
    if (series.replaced.length > 0) this.#noteReplaced(series);
    try {
      histogram.record(value, series.attributes);
    } catch (error) {
      this.#fail(error);
    }
  }

  #noteReplaced(series: Series): void {
    for (const attribute of series.replaced) {
      const label = OVERFLOW_LABELS.get(attribute);
      if (label !== undefined) this.labelOverflow[label]++;
    }
  }

  #fail(error: unknown): void {
    this.failures++;
    this.#reporter.report(error, "metrics");
  }
}

const OVERFLOW_LABELS: ReadonlyMap<MetricAttribute, OverflowLabel> = new Map([
  ["entelix.tenant_id", "tenant"],
  ["gen_ai.agent.name", "agent"],
  ["gen_ai.workflow.name", "agent"],
  ["gen_ai.tool.name", "tool"],
  ["gen_ai.request.model", "model"],
  ["gen_ai.provider.name", "model"],
  ["server.address", "model"],
]);
