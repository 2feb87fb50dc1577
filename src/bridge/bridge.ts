import type { Context } from "@opentelemetry/api";
import {
  type AuditCalls,
  AuditSink,
  type CalledRun,
  checkAuditRows,
  type EventRefs,
  type PreparedRows,
  type ResumeScope,
  type RowWaiter,
  type RunFacts,
  refsOf,
  type SessionLog,
} from "../audit/door.ts";
import {
  type AgentEvent,
  type AgentEventSink,
  type ClosableSink,
  type ContentNeed,
  checkHas,
  checkOptionsObject,
  type EventEnvelope,
  type Instant,
  type RunContext,
  type RunContextSource,
  type SpanActivator,
  type SpanTarget,
} from "../events/door.ts";
import type { Diagnostics } from "./diagnostics.ts";
import type { Run } from "./lifecycle/run.ts";
import { checkOpenRunsOptions, type OpenRun, type OpenRunsOptions } from "./open-runs.ts";
import { droppable, lostRowOf, RunRows, type SegmentRows } from "./run-rows.ts";
import { provenanceOf, runContextOf } from "./spans/run-contexts.ts";
import { callIn, type SpanHandle, spanRefs } from "./spans/span-handle.ts";
import { checkWait } from "./spans/within.ts";
import { type Taken, Telemetry } from "./telemetry.ts";
import type { BridgeOptions } from "./telemetry-options.ts";

/** What `setupTracing`, the command and the services use of a bridge, and its users don't. */
export interface BridgeInternals {
  readonly telemetry: Telemetry;
  /** Absent without an audit log. */
  readonly audit: AuditSink | undefined;
  /** The rows of each run: its span waits for them. */
  readonly rows: RunRows;
  /** Flushes and closes the bridge without its provider, which its owner flushes once for all sinks. */
  readonly own: Required<ClosableSink>;
}

/** A friend's access: not a method, so that it is in no declaration that users see. */
export let internalsOf: (bridge: Bridge) => BridgeInternals;

/**
 * Turns an agent's lifecycle events into spans and writes the audit log in the same pass. Register
 * it as the agent's event sink.
 *
 * The bridge updates spans before it writes the row, so a full disk cannot suppress the alert about
 * it. A run's span ends when the run's rows are stored, with the time of the event.
 *
 * @example
 * const log = await NdjsonSessionLog.open("./audit");
 * const bridge = new Bridge({ audit: log });
 * agent.addSink(bridge);
 * // at the end of the process
 * await bridge.shutdown();
 * await log.close();
 */
export class Bridge implements AgentEventSink, SpanActivator, RunContextSource {
  static {
    internalsOf = (bridge) => ({
      telemetry: bridge.#telemetry,
      audit: bridge.#sink,
      rows: bridge.#rows,
      own: {
        forceFlush: async () => {
          if (!(await bridge.#rows.settle(bridge.#timeoutMs))) throw bridge.#late();
        },
        shutdown: () => bridge.#end(),
      },
    });
  }

  readonly #telemetry: Telemetry;
  /** Told of all rows. */
  readonly #rowOutcomes: RowWaiter = {
    stored: () => {
      this.#failing = false;
    },
    failed: (error) => {
      this.#failing = true;
      this.#telemetry.auditFailures++;
      this.#telemetry.reporter.report(error, "audit append");
    },
  };
  readonly #rows = new RunRows(this.#rowOutcomes);
  readonly #log: SessionLog | undefined;
  readonly #sink: AuditSink | undefined;
  readonly #reason: "shutdown" | "end_of_input";
  readonly #timeoutMs: number;
  /** The runtime's own audit calls; absent without an audit log. */
  readonly audit: AuditCalls | undefined;
  /** The last append failed: the next run must not start before one works. */
  #failing = false;
  #isShut = false;

  /**
   * @throws TypeError when an option is of another type.
   * @throws RangeError when a limit is no whole number in its range, or `shutdownTimeoutMs` no time.
   */
  constructor(options: BridgeOptions = {}) {
    checkOptionsObject(options);
    checkHas(options.audit, "audit", "append");
    this.#reason = options.mode === "replay" ? "end_of_input" : "shutdown";
    this.#timeoutMs = options.shutdownTimeoutMs ?? 5_000;
    checkWait(this.#timeoutMs, "shutdownTimeoutMs", 0);
    checkAuditRows(options.rows);
    this.#telemetry = new Telemetry(options, options.audit && this.#rows);
    this.#log = options.audit;
    if (options.audit === undefined) return;
    const { audit: log, rows } = options;
    this.#sink = new AuditSink({ log, rows, runOf: (scope, kind) => this.#runOf(scope, kind) });
    this.#telemetry.audit = this.#sink;
    this.audit = this.#sink;
  }

  /** Everything while spans show content, else what the audit log has of it, or what loops are found in. */
  get contentNeed(): ContentNeed {
    if (this.#telemetry.capturesContent) return "all";
    if (this.#sink !== undefined) return "rows";
    return this.#telemetry.findsLoops ? "tools" : "none";
  }

  /**
   * Takes one event.
   *
   * @returns nothing without an audit log. With one, nothing or a promise that resolves when the
   *   event's rows are stored. An agent that waits for it has each call and each decision on record
   *   before the call is made. The promise rejects in two cases, as the upstream contract requires: at
   *   `started` if the log is known to fail or the bridge was shut down, and at `complete` if a row of
   *   the run could not be stored. You may ignore the promise: `onError` is called as well, and there
   *   is no unhandled rejection.
   */
  send(event: AgentEvent, envelope?: EventEnvelope): void | Promise<void> {
    const sink = this.#sink;
    if (sink === undefined) {
      this.#telemetry.send(event, envelope);
      return undefined;
    }
    const telemetry = this.#telemetry;
    const at = telemetry.timeOf(envelope);
    const taken = telemetry.take(event, envelope, at);
    const ended = this.#rows.takeEnded();
    try {
      return this.#record(sink, event, envelope, at, taken, ended);
    } catch (error) {
      // The event throws when it is read, as a Proxy or a getter may: it counts as no event.
      if (taken !== "repeat" && taken !== "unread") telemetry.refuse(error);
      return undefined;
    } finally {
      ended?.eventDone();
    }
  }

  /** Writes the rows of an event. @param ended the segment that it ended. */
  #record(
    sink: AuditSink,
    event: AgentEvent,
    envelope: EventEnvelope | undefined,
    at: Instant,
    taken: Taken,
    ended: SegmentRows | undefined,
  ): undefined | Promise<void> {
    if (taken === "no") return this.#isShut ? this.#reportLost(event) : undefined;
    const { type, tenant_id, run_id } = event;
    const outcome = typeof taken === "string" ? undefined : taken;
    const run = outcome?.run ?? this.#telemetry.find(tenant_id, run_id);
    const ids = run && spanRefs(run, outcome?.call ?? callIn(run, event));
    const refs = refsOf(envelope, ids);
    if (taken === "repeat") return this.#recordAgain(sink, run, event, at, refs);
    const rows = sink.prepare(event, at, refs, run ?? UNKNOWN_RUN);
    if (type === "started" && this.#failing && taken !== "unread") {
      return droppable(this.#probe(sink, rows, run, event, at));
    }
    const stored = rows && sink.append(rows, this.#rows.waiterOf(run, ended));
    switch (type) {
      case "started":
        return undefined;
      case "complete":
      case "failed":
      case "interrupted":
        ended?.eventDone();
        // Upstream's agent expects an error of the log at `complete`. At other ends it has its own.
        return ended?.whenStored(type === "complete");
      default:
        return stored;
    }
  }

  /** What is known of the run of an audit call. A call for a resumption links the spans of its two runs. */
  #runOf(scope: ResumeScope, kind: string): CalledRun {
    const { run_id, tenant_id } = scope;
    if (kind === "resumed")
      this.#telemetry.linkResumed(tenant_id, run_id, scope.resumed_from_run_id);
    const run = this.#telemetry.find(tenant_id, run_id);
    const waiter = this.#rows.waiterOf(run);
    if (run === undefined) return { waiter };
    // A resumption may be recorded before the run starts again.
    const segment = kind === "resumed" && !run.open ? run.segment + 1 : run.segment;
    return { ids: spanRefs(run), segment, waiter };
  }

  /**
   * The active context with an open span of the bridge. HTTP and database spans of code that runs
   * in it become children of that span.
   *
   * @param toolUseId the tool call; default: the run itself. Of several open calls with this id the
   *   newest counts.
   * @returns the run's context where that call is not open, and the active context unchanged where
   *   the run is not.
   *
   * @example
   * await context.with(bridge.contextOf(tenantId, runId, toolUseId), () => callTool());
   */
  contextOf(tenantId: string, runId: string, toolUseId?: string): Context {
    return this.#telemetry.contexts.of(tenantId, runId, toolUseId);
  }

  /**
   * Calls `work` while an open span is active: that of the named model call, else of the named tool
   * call, else of the run. If the run is not open, `work` is called without it. Returns and throws
   * what `work` does.
   *
   * @example
   * await bridge.withSpan({ tenant_id, run_id, tool_use_id }, () => callTool());
   */
  withSpan<T>(target: SpanTarget, work: () => T): T {
    return this.#telemetry.contexts.withSpan(target, work);
  }

  /**
   * The run context for a child agent in another process or language. Pass it to `inject` of
   * `entelix-otel/context`, so that the child joins this trace under the tool call that starts it.
   *
   * @param toolUseId the tool call; default: the run itself. Of several calls with this id the
   *   newest counts.
   * @returns `undefined` where the run is not known.
   *
   * @example
   * const context = bridge.runContext(tenantId, runId, toolUseId);
   * spawn("expert", { env: inject({ ...process.env }, { context, format: "environment" }) });
   */
  runContext(tenantId: string, runId: string, toolUseId?: string): RunContext | undefined {
    return runContextOf(this.#telemetry.find(tenantId, runId), toolUseId);
  }

  /** What this process knows about a run beyond its events. A `RecorderSink` records it. */
  provenanceOf(tenantId: string, runId: string): EventEnvelope | undefined {
    return provenanceOf(this.#telemetry.find(tenantId, runId));
  }

  /**
   * The open runs, the one that was silent longest first: what they wait for, since when, and what they
   * have used so far. The list is a copy. It costs some time for each open run.
   *
   * In a replay (`mode`) the time is that of the newest event.
   *
   * @throws TypeError, RangeError when an option can't be used; the message names it.
   *
   * @example
   * for (const run of bridge.openRuns({ limit: 20 })) {
   *   if (run.idleMs > 600_000) console.log(run.runId, run.agent, run.waitsFor.kind);
   * }
   */
  openRuns(options: OpenRunsOptions = {}): readonly OpenRun[] {
    checkOptionsObject(options);
    checkOpenRunsOptions(options);
    return this.#telemetry.openRuns(options);
  }

  /**
   * Waits for the rows of ended runs, then flushes the tracer provider. Rejects if the provider
   * rejects or if the rows were not stored within `shutdownTimeoutMs`.
   */
  async forceFlush(): Promise<void> {
    const stored = await this.#rows.settle(this.#timeoutMs);
    await this.#telemetry.flush();
    if (!stored) throw this.#late();
  }

  /**
   * Closes the open runs as `abandoned`, waits for pending rows, and flushes the provider. The
   * provider and the log stay open. Call it before the provider's own shutdown. Never rejects.
   */
  async shutdown(): Promise<void> {
    await this.#end();
    try {
      await this.#telemetry.flush();
    } catch (error) {
      this.#telemetry.reporter.report(error, "flush at shutdown");
    }
  }

  diagnostics(): Diagnostics {
    return this.#telemetry.diagnostics();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.shutdown();
  }

  /** Closes the open runs and waits for the rows on their way. */
  async #end(): Promise<void> {
    this.#isShut = true;
    this.#telemetry.close(this.#reason);
    await this.#rows.settle(this.#timeoutMs);
    const late = this.#late();
    if (this.#rows.giveUp(late)) this.#telemetry.reporter.report(late, "audit at shutdown");
    this.#telemetry.retire();
  }

  /**
   * Reports that an event after the shutdown leaves no row: an agent that goes on must not do so in silence, and one
   * that begins must not begin.
   */
  #reportLost(event: AgentEvent): undefined | Promise<void> {
    const lost = lostRowOf(event);
    if (lost === undefined) return undefined;
    this.#rowOutcomes.failed(lost);
    return event.type === "started" ? droppable(Promise.reject(lost)) : undefined;
  }

  #late(): Error {
    return new Error(`audit rows were not stored within ${this.#timeoutMs} ms`);
  }

  /**
   * A redelivered event has its row in the log, or on its way there, unless the log failed: only then is
   * it written once more. Its run may have come to another thread since, where the log would not know
   * it; and what was refused has no row.
   */
  #recordAgain(
    sink: AuditSink,
    run: Run<SpanHandle> | undefined,
    event: AgentEvent,
    at: Instant,
    refs: EventRefs,
  ): undefined | Promise<void> {
    if (run === undefined) return undefined;
    const write = () => {
      if (this.#telemetry.auditFailures === 0) return undefined;
      try {
        // What its run had done when it came first is not known any more.
        const { parentCallId, resumedFromRunId, segment } = run;
        const facts = { parentCallId, resumedFromRunId, segment };
        const rows = sink.prepare(event, at, refs, facts, true);
        return rows && sink.append(rows, this.#rows.waiterOf(run));
      } catch (error) {
        // It could be read when it came first, or changed nothing then either.
        this.#telemetry.reporter.report(error, "event");
        return undefined;
      }
    };
    return this.#rows.whenStored(run)?.then(write) ?? write();
  }

  /** The log is known to fail: the run starts, and has its first row, only if the log works again. */
  async #probe(
    sink: AuditSink,
    rows: PreparedRows | undefined,
    run: Run<SpanHandle> | undefined,
    { run_id, tenant_id }: AgentEvent,
    at: Instant,
  ): Promise<void> {
    try {
      await this.#log?.append({ tenant_id, thread_id: run_id }, []);
      this.#failing = false;
    } catch (error) {
      const known = this.#telemetry.find(tenant_id, run_id);
      if (known !== undefined) this.#telemetry.lifecycle.runs.abandon(known, "audit_failed", at);
      this.#telemetry.auditFailures++;
      this.#telemetry.reporter.report(error, "audit probe");
      throw error;
    }
    if (rows !== undefined) await sink.append(rows, this.#rows.waiterOf(run));
  }
}

/** A run that is not known counts as one in its first segment. */
const UNKNOWN_RUN: RunFacts = { segment: 1 };
