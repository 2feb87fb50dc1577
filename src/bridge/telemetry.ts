import { type TracerProvider, trace } from "@opentelemetry/api";
import {
  type AbandonedReason,
  type AgentEvent,
  type EventEnvelope,
  type Instant,
  now,
  readEventTime,
  resolveLoopLimits,
  type Signal,
  signalOf,
} from "../events/door.ts";
import type { Diagnostics } from "./diagnostics.ts";
import { EventContexts } from "./event-context.ts";
import { Lifecycle } from "./lifecycle/lifecycle.ts";
import { resolveLimits } from "./lifecycle/limits.ts";
import type { Outcome } from "./lifecycle/outcome.ts";
import type { Run } from "./lifecycle/run.ts";
import { bothOf } from "./lifecycle/run-observer.ts";
import { BridgeMetrics, NOTHING_REPLACED } from "./metrics/bridge-metrics.ts";
import { resolveCaps, TenantTally } from "./metrics/label-values.ts";
import { listOpenRuns, type OpenRun, type OpenRunsOptions } from "./open-runs.ts";
import { Reporter } from "./report.ts";
import { progressOf, type RunProgress } from "./run-progress.ts";
import type { RunRows } from "./run-rows.ts";
import { ContentPolicy } from "./spans/content.ts";
import { CustomAttributes } from "./spans/custom-attributes.ts";
import { flushProvider } from "./spans/flush-provider.ts";
import { OtelDriver } from "./spans/otel-driver.ts";
import { RunContexts } from "./spans/run-contexts.ts";
import type { SpanHandle } from "./spans/span-handle.ts";
import { SpanPort, tracerOf } from "./spans/span-port.ts";
import { startSweeper } from "./sweeper.ts";
import { checkTelemetryOptions, type TelemetryOptions } from "./telemetry-options.ts";

/**
 * What an event has done. `repeat`: its event id has come before, so it changed nothing. `no`: nor did a
 * repeat that has no event id, what is no event at all, or what comes after the shutdown. `unread`: it
 * threw when it was read, and is counted; its audit row is tried, should it have one.
 */
export type Taken = Outcome<SpanHandle> | "repeat" | "no" | "unread";

/** Makes the audit rows of signals as they are carried out. */
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
  /** Whether a meter provider is still to be looked for. */
  #unmetered = false;
  #sweeper: NodeJS.Timeout | undefined;
  #second = 0;
  /** The time as it was last read while calls pass quietly. */
  #roughly: Instant = now();
  #closed = false;
  auditFailures = 0;
  /** The audit side, where there is one. */
  audit: { readonly cutRows: number } | undefined = undefined;
  /**
   * Replay only: the second up to which the time of an event is believed. One sender's clock that is
   * far ahead must not age the runs of all others.
   */
  horizon: () => number = noHorizon;

  /** @param rows the audit rows of each run, where there is an audit log. */
  constructor(options: TelemetryOptions, rows?: RunRows) {
    checkTelemetryOptions(options);
    const limits = resolveLimits(options.limits);
    const loops = resolveLoopLimits(options.loops);
    this.reporter = new Reporter(options.onError);
    this.#live = options.mode !== "replay";
    this.#provider = options.tracerProvider;
    this.#content = new ContentPolicy(options, (error) =>
      this.reporter.report(error, "redact hook"),
    );
    this.#custom =
      options.attributes === undefined
        ? undefined
        : new CustomAttributes(options.attributes, this.reporter);
    this.#port = new SpanPort(tracerOf(options.tracerProvider), this.reporter, this.#live);
    const benign = new Set(options.benignFailureKinds);
    this.#driver = new OtelDriver({
      port: this.#port,
      content: this.#content,
      custom: this.#custom,
      benign,
      approvalPerson: options.approvalPerson === true,
      exceptions: options.exceptions ?? true,
      rows,
    });
    this.#eventContexts = new EventContexts({
      live: this.#live,
      rootParent: options.rootParent ?? "own",
      resolveParent: options.resolveParent,
      reporter: this.reporter,
    });
    const labels = this.#live && options.metrics !== false ? options.metrics : undefined;
    this.#conflicts = new TenantTally(resolveCaps(labels).tenants);
    const onConflict = (tenantId: string) => {
      this.#conflicts.add(tenantId);
      this.#metrics?.tenantConflict(tenantId);
    };
    this.lifecycle = new Lifecycle(
      this.#driver,
      { ...limits, loops },
      onConflict,
      options.steps !== false,
    );
    this.findsLoops = loops !== undefined;
    this.contexts = new RunContexts(this.lifecycle.runs, (error) =>
      this.reporter.report(error, "withSpan"),
    );
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

  /** When the event happened: by its envelope, else by the clock. */
  timeOf(envelope: EventEnvelope | undefined): Instant {
    const given = envelope === undefined ? undefined : readEventTime(envelope);
    if (given !== undefined) return given;
    const at = now();
    if (this.lifecycle.runs.quietRuns > 0) this.#roughly = at;
    return at;
  }

  /** Takes one event where there is no audit side. */
  send(event: AgentEvent, envelope: EventEnvelope | undefined): void {
    // In a run that is not sampled most events end here, before the clock is read.
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
    // Senders in plain JavaScript are not held to the types.
    if (typeof event !== "object" || event === null || this.#closed) {
      if (this.#closed) this.#metrics?.lateEvent();
      lifecycle.counters.events++;
      lifecycle.counters.ignored[this.#closed ? "after_shutdown" : "not_an_event"]++;
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
      // The driver contains its provider: what comes up to here is a malformed event.
      if (lifecycle.counters.events === before) lifecycle.counters.events++;
      this.refuse(error);
      return "unread";
    }
  }

  /** An event that has begun threw when it was read: it counts as none. */
  refuse(error: unknown): void {
    this.lifecycle.counters.ignored.not_an_event++;
    this.reporter.report(error, "event");
  }

  /**
   * Begins an event of another runtime, whose signals follow.
   *
   * @returns false when it changes nothing: it has come before, or comes after the shutdown.
   */
  begin(tenantId: string, eventId: string | undefined, at: Instant): boolean {
    const { lifecycle } = this;
    if (this.#closed) {
      lifecycle.counters.events++;
      lifecycle.counters.ignored.after_shutdown++;
      return false;
    }
    this.#tick(at);
    lifecycle.counters.events++;
    return eventId === undefined || !lifecycle.seen.isRepeat(tenantId, eventId);
  }

  /**
   * Carries out what a dialect read in an event with this envelope.
   *
   * @param follow called before each signal, and after it with what it has done.
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

  /** Replay only: a line shows that a run is active, and no more. */
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
   * The open runs, the one that was silent longest first.
   *
   * @param at what time it is in the events. Default: live what it is here, else that of the newest one.
   */
  openRuns(
    options: OpenRunsOptions = {},
    at: Instant = this.#live ? now() : [this.#second, 0],
  ): OpenRun[] {
    return listOpenRuns(this.lifecycle.runs.openTrees(), at, options);
  }

  /** The runtime says which interrupted run this one continues. */
  linkResumed(tenantId: string, runId: string, resumedFromRunId: string | undefined): void {
    if (resumedFromRunId === undefined) return;
    try {
      this.lifecycle.runs.linkResumed(tenantId, runId, resumedFromRunId);
    } catch (error) {
      this.#port.contain(error);
    }
  }

  /** Replay only: it is `at`, though no event says so. */
  advance(at: Instant): void {
    if (this.#live || at[0] <= this.#second) return;
    this.#second = at[0];
    try {
      this.lifecycle.runs.tick(at, "silence");
    } catch (error) {
      this.#port.contain(error);
    }
  }

  /** Closes what is open; later events are counted and change nothing. */
  close(reason: AbandonedReason): void {
    if (this.#closed) return;
    this.#closed = true;
    clearInterval(this.#sweeper);
    this.lifecycle.runs.abandonAll(reason, this.#live ? now() : undefined);
    this.#progress?.close();
  }

  /** All that belonged to the events is done: what was counted stays, and no more is asked for. */
  retire(): void {
    this.#metrics?.leave();
  }

  /** Asks the provider to send what it holds. */
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
      hookFailures: this.#eventContexts.failures + (this.#custom?.failures ?? 0),
      droppedAttributes: (this.#custom?.dropped ?? 0) + this.#eventContexts.owners.dropped,
      auditFailures: this.auditFailures,
      auditCuts: this.audit?.cutRows ?? 0,
      metricFailures: this.#metrics?.failures ?? 0,
      progressLeftOut: this.#progress?.leftOut ?? 0,
      labelOverflow: { ...(this.#metrics?.labelOverflow ?? NOTHING_REPLACED) },
    };
  }

  /** @returns whether there is anything to count on. */
  #startMetrics(): boolean {
    const observer = this.#metrics?.find();
    if (observer !== undefined) this.lifecycle.observe(bothOf(observer, this.#progress));
    return observer !== undefined;
  }

  /** In a replay time passes by events that can be read and name a run. */
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
      // What can't be read is counted where events are taken.
      return false;
    }
  }

  #sweep(at: Instant): void {
    this.#roughly = at;
    this.lifecycle.runs.tick(at, "process");
    this.lifecycle.runs.markOpenRuns(at);
  }
}

const noHorizon = () => Number.POSITIVE_INFINITY;

function namesRun({ run_id, tenant_id, type }: AgentEvent): boolean {
  return [run_id, tenant_id, type].every((text) => typeof text === "string");
}
