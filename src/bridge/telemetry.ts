import { type TracerProvider, trace } from "@opentelemetry/api";
import {
  type AbandonedReason,
  type AgentEvent,
  type EventEnvelope,
  type Instant,
  keptConversations,
  now,
  readEventTime,
  resolveLoopLimits,
  type Signal,
  signalOf,
} from "../events/door.ts";
import type { Diagnostics } from "./diagnostics.ts";
import { EventContexts, namesRun } from "./event-context.ts";
import { bothOf, Lifecycle, type Outcome, type Run, resolveLimits } from "./lifecycle/door.ts";
import { countLate, noteNoProvider, noteSameRun } from "./lost-runs.ts";
import { BridgeMetrics, NOTHING_REPLACED } from "./metrics/bridge-metrics.ts";
import { resolveCaps, TenantTally } from "./metrics/label-values.ts";
import { FirstObserver, RunClaims } from "./metrics/run-claims.ts";
import { listOpenRuns, type OpenRun, type OpenRunsOptions } from "./open-runs.ts";
import { checkProgressOptions } from "./progress-options.ts";
import { Reporter } from "./report.ts";
import { progressOf, type RunProgress } from "./run-progress.ts";
import type { RunRows } from "./run-rows.ts";
import { bridgeTracer } from "./spans/bridge-tracer.ts";
import { ContentPolicy } from "./spans/content.ts";
import { CustomAttributes } from "./spans/custom-attributes.ts";
import { flushProvider } from "./spans/flush-provider.ts";
import { OtelDriver } from "./spans/otel-driver.ts";
import { isNoProvider } from "./spans/provider-state.ts";
import { RunContexts } from "./spans/run-contexts.ts";
import type { SpanHandle } from "./spans/span-handle.ts";
import { SpanPort } from "./spans/span-port.ts";
import { SpanSubject } from "./spans/subject.ts";
import { startSweeper } from "./sweeper.ts";
import type { TelemetryOptions } from "./telemetry-options.ts";

/**
 * The effect of an event. `repeat`: its event ID was seen before, so it changed nothing. `no`: it
 * changed nothing because it repeats another event without an ID, is not an event, or came after the
 * shutdown. `unread`: it threw when it was read. It is counted, and its audit row is still tried.
 */
export type Taken = Outcome<SpanHandle> | "repeat" | "no" | "unread";

/** Called around each signal, to write its audit rows. */
export interface SignalFollower {
  before(signal: Signal): void;
  after(signal: Signal, outcome: Outcome<SpanHandle>): void;
}

/** The telemetry side: events in, span operations out. It never throws. */
export class Telemetry {
  readonly lifecycle: Lifecycle<SpanHandle>;
  readonly findsLoops: boolean;
  readonly contexts: RunContexts;
  readonly reporter: Reporter;
  readonly subject: SpanSubject;
  readonly #driver: OtelDriver;
  readonly #eventContexts: EventContexts;
  readonly #port: SpanPort;
  readonly #content: ContentPolicy;
  readonly #custom: CustomAttributes | undefined;
  readonly #provider: TracerProvider | undefined;
  readonly #live: boolean;
  readonly #metrics: BridgeMetrics | undefined;
  readonly #conflicts: TenantTally;
  readonly #progress: RunProgress | undefined;
  /** Absent in a replay. */
  readonly #claims: RunClaims | undefined;
  /** No meter provider was found yet. */
  #unmetered = false;
  #sweeper: NodeJS.Timeout | undefined;
  #second = 0;
  /** The last time that was read. Precise enough for the activity of runs that are not sampled. */
  #roughly: Instant = now();
  #closed = false;
  auditFailures = 0;
  /** Absent without an audit log. */
  audit: { readonly cutRows: number } | undefined = undefined;
  /**
   * Replay only: events later than this second do not move the clock of the replay. Otherwise one sender's
   * clock that is far ahead would close the runs of all others.
   */
  horizon: () => number = () => Number.POSITIVE_INFINITY;

  /** @param rows the audit rows of each run. Absent without an audit log. */
  constructor(options: TelemetryOptions, rows?: RunRows) {
    checkProgressOptions(options.progress);
    const limits = resolveLimits(options.limits);
    const loops = resolveLoopLimits(options.loops);
    this.reporter = new Reporter(options.onError);
    this.#live = options.mode !== "replay";
    this.#provider = options.tracerProvider;
    const report = (where: string) => (error: unknown) => this.reporter.report(error, where);
    this.#content = new ContentPolicy(options, report("redact hook"));
    const custom = options.attributes;
    this.#custom = custom && new CustomAttributes(custom, this.reporter);
    const tracer = bridgeTracer(options, this.reporter);
    this.#port = new SpanPort(tracer, this.reporter, this.#live, () => {
      // A bridge may have only an audit log, log records, or metrics.
      if (rows !== undefined || options.progress !== undefined) return;
      if (this.#metrics?.find() !== undefined) return;
      if (isNoProvider(options.tracerProvider)) noteNoProvider(this.reporter);
    });
    if (this.#live) this.#claims = new RunClaims(options, () => noteSameRun(this.reporter));
    this.subject = new SpanSubject(options);
    const benign = new Set(options.benignFailureKinds);
    this.#driver = new OtelDriver({
      port: this.#port,
      content: this.#content,
      subject: this.subject,
      custom: this.#custom,
      benign,
      approvalPerson: options.approvalPerson === true,
      exceptions: options.exceptions ?? true,
      rows,
      claims: this.#claims,
    });
    this.#eventContexts = new EventContexts({
      live: this.#live,
      rootParent: options.rootParent ?? "own",
      resolveParent: options.resolveParent,
      readsBaggage: options.subjectFromBaggage === true,
      reporter: this.reporter,
    });
    const labels = this.#live && options.metrics !== false ? options.metrics : undefined;
    this.#conflicts = new TenantTally(resolveCaps(labels).tenants);
    const onConflict = (tenantId: string) => {
      this.#conflicts.add(tenantId);
      this.#metrics?.tenantConflict(tenantId);
    };
    const rules = { ...limits, loops };
    this.lifecycle = new Lifecycle(this.#driver, rules, onConflict, options.steps !== false);
    this.findsLoops = loops !== undefined;
    this.contexts = new RunContexts(this.lifecycle.runs, report("withSpan"));
    this.#progress = progressOf(options, this);
    if (this.#progress !== undefined) this.lifecycle.observe(this.#progress);
    if (this.#live && options.metrics !== false) {
      this.#metrics = new BridgeMetrics({
        provider: options.meterProvider,
        labels: options.metrics,
        benign,
        reporter: this.reporter,
        bridge: {
          counts: () => this.diagnostics(),
          openTrees: () => this.lifecycle.runs.openTrees(),
        },
      });
      this.#unmetered = !this.#startMetrics();
    }
    if (this.#live) {
      this.lifecycle.runs.tick(now(), "process");
      const contain = (error: unknown) => this.#port.contain(error);
      this.#sweeper = startSweeper(limits, (at) => this.#sweep(at), contain);
    }
  }

  get capturesContent(): boolean {
    return this.#content.captures;
  }

  /** The time of the event: that of its envelope, or the clock's. */
  timeOf(envelope: EventEnvelope | undefined): Instant {
    const given = envelope === undefined ? undefined : readEventTime(envelope);
    if (given !== undefined) return given;
    const at = now();
    if (this.lifecycle.runs.quietRuns > 0) this.#roughly = at;
    return at;
  }

  /** Takes one event. For bridges without an audit log. */
  send(event: AgentEvent, envelope: EventEnvelope | undefined): void {
    // Most events of a run that is not sampled end here, before the clock is read.
    const quiet = this.lifecycle.runs.quietRuns > 0 && envelope === undefined && !this.#closed;
    if (quiet && this.#passQuietly(event)) return;
    this.take(event, envelope, this.timeOf(envelope));
  }

  /** Takes one event. */
  take(event: AgentEvent, envelope: EventEnvelope | undefined, at: Instant): Taken {
    const { lifecycle } = this;
    if (this.#unmetered) {
      this.#unmetered = false;
      this.#startMetrics();
    }
    if (this.#closed) {
      this.#metrics?.lateEvent();
      // An audit log refuses the run, which says more.
      countLate(lifecycle.counters, this.reporter, this.audit === undefined && event);
      return "no";
    }
    if (typeof event !== "object" || event === null) {
      lifecycle.counters.events++;
      lifecycle.counters.ignored.not_an_event++;
      return "no";
    }
    const before = lifecycle.counters.events;
    try {
      this.#tick(at, event);
      lifecycle.counters.events++;
      const eventId = envelope?.event_id;
      if (eventId !== undefined && lifecycle.seen.isRepeat(event.tenant_id, eventId))
        return "repeat";
      const context = this.#eventContexts.of(event, envelope);
      const outcome = lifecycle.apply(signalOf(event, at, envelope?.details), context);
      return outcome.taken ? outcome : "no";
    } catch (error) {
      // The driver catches errors of its provider, so this one comes from a malformed event.
      if (lifecycle.counters.events === before) lifecycle.counters.events++;
      this.refuse(error);
      return "unread";
    }
  }

  /** Counts an event that threw when it was read as ignored, and reports the error. */
  refuse(error: unknown): void {
    this.lifecycle.counters.ignored.not_an_event++;
    this.reporter.report(error, "event");
  }

  /**
   * Begins an event of another runtime. Its signals follow by {@link apply}.
   *
   * @returns `false` if it changes nothing, as a repeat or after the shutdown.
   */
  begin(tenantId: string, eventId: string | undefined, at: Instant): boolean {
    const { counters, seen } = this.lifecycle;
    if (this.#closed) {
      countLate(counters, this.reporter, undefined);
      return false;
    }
    this.#tick(at);
    counters.events++;
    return eventId === undefined || !seen.isRepeat(tenantId, eventId);
  }

  /**
   * Applies the signals that a dialect read in one event.
   *
   * @param follow called before each signal, and after it with its outcome.
   */
  apply(
    signals: readonly Signal[],
    envelope: EventEnvelope | undefined,
    follow?: SignalFollower,
  ): void {
    try {
      const context = this.#eventContexts.of(undefined, envelope);
      for (const signal of signals) {
        follow?.before(signal);
        const outcome = this.lifecycle.apply(signal, context);
        follow?.after(signal, outcome);
      }
    } catch (error) {
      this.refuse(error);
    }
  }

  /** Replay only: a line shows only that its run is active. */
  keepAlive(signal: Signal): void {
    if (this.#closed) return;
    this.#tick(signal.at);
    this.apply([signal], undefined);
  }

  /** The tenant's run, open or remembered. */
  find(tenantId: string, runId: string): Run<SpanHandle> | undefined {
    return this.lifecycle.runs.find(tenantId, runId);
  }

  /**
   * Lists the open runs, the longest idle one first.
   *
   * @param at the time that ages count to. Default: live the clock's, in a replay that of the newest event.
   */
  openRuns(
    options: OpenRunsOptions = {},
    at: Instant = this.#live ? now() : [this.#second, 0],
  ): OpenRun[] {
    return listOpenRuns(this.lifecycle.runs.openTrees(), at, options);
  }

  /** Links a run to the interrupted run that it continues. */
  linkResumed(tenantId: string, runId: string, resumedFromRunId: string | undefined): void {
    if (resumedFromRunId === undefined) return;
    try {
      this.lifecycle.runs.linkResumed(tenantId, runId, resumedFromRunId);
    } catch (error) {
      this.#port.contain(error);
    }
  }

  /** Replay only: moves the clock to `at` without an event. */
  advance(at: Instant): void {
    if (this.#live || at[0] <= this.#second) return;
    this.#second = at[0];
    try {
      this.lifecycle.runs.tick(at, "silence");
    } catch (error) {
      this.#port.contain(error);
    }
  }

  /** Closes the open runs. Later events are counted and change nothing. */
  close(reason: AbandonedReason): void {
    if (this.#closed) return;
    this.#closed = true;
    clearInterval(this.#sweeper);
    this.lifecycle.runs.abandonAll(reason, this.#live ? now() : undefined);
    this.#progress?.close();
  }

  /** The bridge counts no more. Its counts stay in the metrics. */
  retire(): void {
    this.#metrics?.leave();
  }

  /** Flushes the provider. */
  async flush(): Promise<void> {
    await flushProvider(this.#provider ?? trace.getTracerProvider());
  }

  diagnostics(): Diagnostics {
    const { counters, runs } = this.lifecycle;
    return {
      events: counters.events,
      ignored: { ...counters.ignored },
      adjustments: { ...counters.adjustments, forgotten_call_ids: runs.forgottenCallIds },
      tenantConflicts: this.#conflicts.counts(),
      runsStarted: counters.runsStarted,
      openRuns: runs.openRuns,
      spansOpened: counters.spansOpened,
      foreignIds: this.#port.foreignIds,
      providerFailures: this.#port.failures,
      redactionFailures: this.#content.failures,
      keptMessages: { bytes: keptConversations.bytes, forgotten: keptConversations.forgotten },
      hookFailures: this.#eventContexts.failures + (this.#custom?.failures ?? 0),
      droppedAttributes: (this.#custom?.dropped ?? 0) + this.#eventContexts.owners.dropped,
      auditFailures: this.auditFailures,
      auditCuts: this.audit?.cutRows ?? 0,
      metricFailures: this.#metrics?.failures ?? 0,
      progressLeftOut: this.#progress?.leftOut ?? 0,
      labelOverflow: { ...(this.#metrics?.labelOverflow ?? NOTHING_REPLACED) },
    };
  }

  /** @returns whether a meter provider was found. */
  #startMetrics(): boolean {
    const found = this.#metrics?.find();
    if (found === undefined) return false;
    const observer = this.#claims === undefined ? found : new FirstObserver(this.#claims, found);
    this.lifecycle.observe(bothOf(observer, this.#progress));
    return true;
  }

  /** In a replay, only readable events that name a run move the clock. */
  #tick(at: Instant, by?: AgentEvent): void {
    if (this.#live) return;
    this.lifecycle.runs.eventAt = at;
    const isLater = at[0] > this.#second && at[0] <= this.horizon();
    if (!isLater || (by !== undefined && !namesRun(by))) return;
    this.#second = at[0];
    this.lifecycle.runs.tick(at, "event");
  }

  #passQuietly(event: AgentEvent | null | undefined): boolean {
    try {
      // Senders in plain JavaScript are not held to the types.
      switch (event?.type) {
        case "tool_start":
        case "tool_complete":
        case "tool_error":
        case "tool_call_asked":
        case "tool_call_approved":
        case "tool_call_denied":
        case "model_start":
        case "model_complete":
        case "model_error":
        case "step_start":
        case "step_complete":
        case "step_error":
          return this.lifecycle.passQuietly(event.tenant_id, event.run_id, this.#roughly);
        default:
          return false;
      }
    } catch {
      // `take` counts an event that cannot be read.
      return false;
    }
  }

  #sweep(at: Instant): void {
    this.#roughly = at;
    this.lifecycle.runs.tick(at, "process");
    this.lifecycle.runs.markOpenRuns(at);
  }
}
