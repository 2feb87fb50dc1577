import type { Context } from "@opentelemetry/api";
import {
  type AuditCalls,
  AuditSink,
  type CalledRun,
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
  checkEach,
  type EventEnvelope,
  forgetNames,
  type Instant,
  keepNames,
  lookForHidden,
  type RunContext,
  type RunContextSource,
  type SpanActivator,
  type SpanTarget,
  withoutAdded,
} from "../events/door.ts";
import type { Diagnostics } from "./diagnostics.ts";
import type { Run } from "./lifecycle/door.ts";
import { checkOpenRunsOptions, type OpenRun, type OpenRunsOptions } from "./open-runs.ts";
import { droppable, lostRowOf, RunRows, type SegmentRows } from "./run-rows.ts";
import { provenanceOf, runContextOf } from "./spans/run-contexts.ts";
import { callIn, type SpanHandle, spanRefs } from "./spans/span-handle.ts";
import { checkWait } from "./spans/within.ts";
import { type Taken, Telemetry } from "./telemetry.ts";
import { BRIDGE_CHECKS, type BridgeOptions } from "./telemetry-options.ts";

/** The parts of a bridge that `setupTracing`, the command and the services use. Users do not see them. */
export interface BridgeInternals {
  readonly telemetry: Telemetry;
  /** Absent without an audit log. */
  readonly audit: AuditSink | undefined;
  /** The pending rows of each run. The run's span waits for them. */
  readonly rows: RunRows;
  /** Flushes and closes the bridge without its provider. Its owner flushes the provider once for all sinks. */
  readonly own: Required<ClosableSink>;
}

/** Not a method, so that the declarations for users do not show it. */
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
  /** Called with the outcome of each row. */
  readonly #rowOutcomes: RowWaiter = {
    stored: () => {
      this.#failing = false;
    },
    failed: (error, appends = 1) => {
      this.#failing = true;
      this.#telemetry.auditFailures += appends;
      for (let n = 0; n < appends; n++) this.#telemetry.reporter.report(error, "audit append");
    },
  };
  readonly #rows = new RunRows(this.#rowOutcomes);
  readonly #log: SessionLog | undefined;
  readonly #sink: AuditSink | undefined;
  readonly #reason: "shutdown" | "end_of_input";
  readonly #timeoutMs: number;
  /** The runtime's own audit calls. Absent without an audit log. */
  readonly audit: AuditCalls | undefined;
  /** The last append failed. The next run must not start before an append works. */
  #failing = false;
  #isShut = false;

  /**
   * @throws TypeError when an option has the wrong type.
   * @throws RangeError when a limit or `shutdownTimeoutMs` is outside its range.
   */
  constructor(given: BridgeOptions = {}) {
    lookForHidden();
    const options = checkEach(given, BRIDGE_CHECKS);
    this.#reason = options.mode === "replay" ? "end_of_input" : "shutdown";
    this.#timeoutMs = options.shutdownTimeoutMs ?? 5_000;
    checkWait(this.#timeoutMs, "shutdownTimeoutMs", 0);
    this.#telemetry = new Telemetry(options, options.audit && this.#rows);
    this.#log = options.audit;
    if (options.audit === undefined) return;
    const { audit: log, rows } = options;
    this.#sink = new AuditSink({ log, rows, runOf: (scope, kind) => this.#runOf(scope, kind) });
    this.#telemetry.audit = this.#sink;
    this.audit = this.#sink;
  }

  /** `all` if spans show content. Otherwise what audit rows contain, or what loops are detected by. */
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
   *   before the call is made. The promise rejects in two cases, as entelix requires: at
   *   `started` if the log is known to fail or the bridge was shut down, and at `complete` if a row of
   *   the run could not be stored. You may ignore the promise: `onError` is called as well, and the
   *   rejection counts as handled.
   */
  send(event: AgentEvent, envelope?: EventEnvelope): void | Promise<void> {
    const keepsNames = keepNames();
    try {
      return this.#take(withoutAdded(event), withoutAdded(envelope));
    } finally {
      if (keepsNames) forgetNames();
    }
  }

  #take(event: AgentEvent, envelope: EventEnvelope | undefined): undefined | Promise<void> {
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
        // entelix's agent expects an error of the log at `complete`. At other ends it has its own.
        return ended?.whenStored(type === "complete");
      default:
        return stored;
    }
  }

  /** Finds the run of an audit call. The call for a resumption links the spans of the two runs. */
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
   * @param toolUseId the tool call. Default: the run itself. If several open calls have this ID, the
   *   newest one counts.
   * @returns the run's context if that call is not open. The unchanged active context if the run is not
   *   open.
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
    return this.#telemetry.contexts.withSpan(withoutAdded(target), work);
  }

  /**
   * The run context for a child agent in another process or language. Pass it to `inject` of
   * `entelix-otel/context`, so that the child joins this trace under the tool call that starts it.
   *
   * @param toolUseId the tool call. Default: the run itself. If several calls have this ID, the newest
   *   one counts.
   * @returns `undefined` if the run is not known.
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
   * Lists the open runs, the longest idle one first: what each waits for, since when, and its usage so
   * far. The list is a copy. Its cost grows with the number of open runs.
   *
   * In a replay (`mode`) the time is that of the newest event.
   *
   * @throws TypeError, RangeError for an invalid option, which the message names.
   *
   * @example
   * for (const run of bridge.openRuns({ limit: 20 })) {
   *   if (run.idleMs > 600_000) console.log(run.runId, run.agent, run.waitsFor.kind);
   * }
   */
  openRuns(options: OpenRunsOptions = {}): readonly OpenRun[] {
    return this.#telemetry.openRuns(checkOpenRunsOptions(options));
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

  /** Closes the open runs and waits for the pending rows. */
  async #end(): Promise<void> {
    this.#isShut = true;
    this.#telemetry.close(this.#reason);
    await this.#rows.settle(this.#timeoutMs);
    const late = this.#late();
    if (this.#rows.giveUp(late)) this.#telemetry.reporter.report(late, "audit at shutdown");
    this.#telemetry.retire();
  }

  /**
   * Reports an event after the shutdown, which leaves no row. A run that starts then is rejected, because it would
   * have no rows at all.
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
   * Writes the row of a redelivered event again if the log has failed before: only then the row may be
   * missing. Otherwise it is not written, because the run may have another thread by now, where the log
   * does not know the event ID. An unknown run has no rows to write again.
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
        // The counts of the run when the event first came are not known any more.
        const { parentCallId, resumedFromRunId, segment } = run;
        const facts = { parentCallId, resumedFromRunId, segment };
        const rows = sink.prepare(event, at, refs, facts, true);
        return rows && sink.append(rows, this.#rows.waiterOf(run));
      } catch (error) {
        // The event could be read when it first came, or changed nothing then either.
        this.#telemetry.reporter.report(error, "event");
        return undefined;
      }
    };
    return this.#rows.whenStored(run)?.then(write) ?? write();
  }

  /** Tries the log, which failed before. Only if it works again, the run starts and its first row is written. */
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

/** An unknown run counts as one in its first segment. */
const UNKNOWN_RUN: RunFacts = { segment: 1 };
