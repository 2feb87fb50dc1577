import {
  type AgentEvent,
  type AgentEventSink,
  answerOf,
  callErrorHook,
  canonicalRunId,
  checkEach,
  checkFunction,
  type EventEnvelope,
  forgetJson,
  forgetNames,
  formatRfc3339,
  fromMilliseconds,
  having,
  type Instant,
  instantOf,
  inUtc,
  keepNames,
  type OptionChecks,
  readEventTime,
  type Signal,
  type SignalSubject,
  signalOf,
  TIME_ANSWER,
  wholeFrom,
  withoutAdded,
} from "../events/door.ts";
import { AuditCalls, type AuditScope, type CallRow, type ResumeScope } from "./audit-calls.ts";
import type { AuditEntry, RowAnchor, ThreadKey } from "./audit-row.ts";
import { EventIds, type EventRefs, idInSegment, refsOf } from "./event-ids.ts";
import {
  type AuditRows,
  checkAuditRows,
  type EventFacts,
  isUpstreamKind,
  type RunFacts,
  signalRows,
  toGraphEvent,
} from "./event-rows.ts";
import { withinRow } from "./row-values.ts";
import { RunThreads } from "./run-threads.ts";
import { type RowWaiter, reportFailure, reportWhenStored, type SessionLog } from "./session-log.ts";
import type { AnyGraphEvent, GraphEvent } from "./wire/graph-event.ts";
import { decodeGraphEvent } from "./wire/graph-event-codec.ts";

/** Options of an {@link AuditSink}. */
export interface AuditSinkOptions {
  /** The log that stores the rows. The sink does not close it. */
  readonly log: SessionLog;
  /**
   * Called with the error of every row that could not be written, in addition to the rejected promise.
   * Errors of the callback are ignored. Default: no callback.
   */
  readonly onError?: ((error: unknown) => void) | undefined;
  /** Minimum number of runs whose thread is remembered. Default 20,000. */
  readonly threads?: number | undefined;
  /** The time of events without one. Default, and if it fails: the system's clock, to the millisecond. */
  readonly clock?: (() => Instant) | undefined;
  /** Which rows events leave. Default `all`. */
  readonly rows?: AuditRows | undefined;
  /** @internal Finds the bridge's run of an audit call. Default: none. */
  readonly runOf?: RunOfCall | undefined;
}

const CHECKS: OptionChecks<AuditSinkOptions> = {
  log: having("append", true),
  onError: checkFunction,
  clock: checkFunction,
  threads: wholeFrom(1),
  rows: checkAuditRows,
  runOf: checkFunction,
};

/** The bridge's run of an audit call. */
export interface CalledRun {
  /** The span of the run. */
  readonly ids?: Pick<AuditScope, "trace_id" | "span_id"> | undefined;
  /** The segment that the row is about. Default: the one that the sink has seen last. */
  readonly segment?: number | undefined;
  /** Called with the outcome of the row. */
  readonly waiter: RowWaiter;
}

/** Finds the run of an audit call. @param kind the kind of the call's row. */
export type RunOfCall = (scope: ResumeScope, kind: string) => CalledRun;

/** The rows of one event, ready to be appended to a thread. */
export interface PreparedRows {
  readonly key: ThreadKey;
  readonly entries: readonly AuditEntry[];
}

/** A row of an event, and its own ID. */
export interface PreparedRow {
  readonly event: AnyGraphEvent;
  readonly event_id?: string | null | undefined;
  readonly is_new?: boolean | undefined;
  /** A dialect read it from JSON. Default `false`. The option `rows` does not apply to such a row. */
  readonly projected?: boolean | undefined;
}

/**
 * Writes the audit log of lifecycle events. Rows are written for each tool event, for the start and
 * the end of a run, and for each decision about a call. The runtime's own audit calls write the rows
 * of the other kinds.
 *
 * The rows of a run go to its thread. Without one, they go to the thread of its parent, or to a thread
 * named after its root run. No row contains operator text (`error`, the envelope). You may ignore the
 * promises: `onError` is called as well, and there is no unhandled rejection.
 *
 * @example
 * const sink = new AuditSink({ log: await NdjsonSessionLog.open("./audit") });
 * agent.addSink(sink);
 */
export class AuditSink extends AuditCalls implements AgentEventSink {
  readonly #log: SessionLog;
  readonly #onError: (error: unknown) => void;
  readonly #threads: RunThreads;
  readonly #ids: EventIds;
  readonly #clock: () => Instant;
  readonly #upstreamOnly: boolean;
  readonly #runOf: RunOfCall | undefined;
  #cutRows = 0;

  /**
   * @throws TypeError when `log`, a callback or `rows` has the wrong type.
   * @throws RangeError when `threads` is not a whole number from 1.
   */
  constructor(options: AuditSinkOptions) {
    super();
    const checked = checkEach(options, CHECKS);
    const { clock, log, onError, rows, runOf, threads = 20_000 } = checked;
    this.#upstreamOnly = rows === "upstream";
    this.#log = log;
    this.#ids = new EventIds(log.namesRows === true);
    this.#onError = onError ?? (() => {});
    this.#threads = new RunThreads(threads);
    this.#clock = clock ?? systemTime;
    this.#runOf = runOf;
  }

  /** Number of rows with a value that was above the limit of a row and was cut. */
  get cutRows(): number {
    return this.#cutRows;
  }

  /**
   * Takes an event. Send every event, also those that leave no row: they name the run's thread.
   *
   * @returns `undefined` for an event without rows. Otherwise a promise that resolves when the rows are
   *   stored. It rejects with the log's error, or with a RangeError if the timestamp is invalid. An event
   *   or envelope that throws when it is read is ignored, and `onError` is called.
   */
  send(event: AgentEvent, envelope?: EventEnvelope): void | Promise<void> {
    return this.#take(withoutAdded(event), withoutAdded(envelope));
  }

  #take(event: AgentEvent, envelope: EventEnvelope | undefined): void | Promise<void> {
    const keepsNames = keepNames();
    try {
      const later = envelope?.details?.happened_at !== undefined;
      const happened = later ? readEventTime(envelope) : undefined;
      const time = rowTime(happened ?? envelope?.timestamp ?? this.#now());
      const isWrong = "error" in time;
      const at = isWrong ? NO_TIME : time.at;
      const rows = this.prepare(event, at, refsOf(envelope), undefined, isWrong);
      if (rows === undefined) return undefined;
      const stored = isWrong ? Promise.reject(time.error) : this.#append(rows);
      return this.#watched(stored.then(noValue));
    } catch (error) {
      this.#onFailure(error);
      return undefined;
    } finally {
      if (keepsNames) forgetNames();
    }
  }

  /**
   * @internal The rows of an event. A bridge knows the event's run, and waits for the rows.
   *
   * @param run the run of the event. Default: as far as this sink has seen it.
   * @param again the event was taken before, so that its rows get the same IDs again.
   * @returns `undefined` if the event leaves no row.
   * @throws what the event throws when it is read.
   */
  prepare(
    event: AgentEvent,
    at: Readonly<Instant>,
    refs: EventRefs,
    run?: RunFacts,
    again = false,
  ): PreparedRows | undefined {
    const { run_id, tenant_id } = event;
    const parent = event.type === "started" ? event.parent_run_id : undefined;
    const thread_id = this.#threads.learn(tenant_id, run_id, refs, parent);
    const entries = this.#entriesOf(event, at, refs, run, again);
    return entries.length === 0 ? undefined : { key: { tenant_id, thread_id }, entries };
  }

  /** @internal The rows that a dialect read: those of a signal, or its own. `undefined` for none. */
  prepareRows(
    { runId, tenantId: tenant_id }: Pick<SignalSubject, "tenantId" | "runId">,
    given: readonly PreparedRow[],
    refs: EventRefs,
  ): PreparedRows | undefined {
    const rows = this.#selected(given);
    if (rows.length === 0) return undefined;
    const thread_id = this.#threads.learn(tenant_id, runId, refs);
    const entries = rows.map((row) => this.#entryOf(runId, row, refs));
    return { key: { tenant_id, thread_id }, entries };
  }

  /** @internal @returns resolves when the waiter has been called; never rejects. */
  append({ key, entries }: PreparedRows, waiter: RowWaiter): Promise<void> {
    try {
      if (key.thread_id === "") throw noThread();
      const stored = this.#log.appendFor?.(key, entries, waiter);
      return stored ?? reportWhenStored(this.#log.append(key, entries), waiter);
    } catch (error) {
      // A log of the user's own may throw instead of rejecting.
      return reportFailure(error, waiter);
    } finally {
      forgetJson();
    }
  }

  /**
   * Writes the row of one of the runtime's own calls.
   *
   * @internal
   * @throws (rejects) TypeError that names the wrong field of the row; the log's error.
   */
  protected override recordCall(scope: ResumeScope, row: CallRow): Promise<RowAnchor> {
    let stored: Promise<RowAnchor>;
    try {
      // Read once, and first: a scope that throws must not leave a row of its run pending.
      const given = { ...scope };
      const run = this.#runOf?.(given, row.kind);
      stored = this.#writeCall({ ...run?.ids, ...given }, row, run?.segment);
      if (run !== undefined) void reportWhenStored(stored, run.waiter);
    } catch (error) {
      // The scope cannot be read. The caller expects a promise.
      stored = Promise.reject(error);
    }
    return this.#watched(stored);
  }

  async #writeCall(scope: AuditScope, row: CallRow, known: number | undefined): Promise<RowAnchor> {
    const { run_id, tenant_id, thread_id, timestamp } = scope;
    const event: GraphEvent = { ...row, timestamp: inUtc(timestamp ?? this.#now()) };
    const issue = decodeGraphEvent(event).issues?.[0];
    if (issue !== undefined) throw new TypeError(`${issue.field}: expected ${issue.expected}`);
    const thread = this.#threads.learn(tenant_id, run_id, { thread_id });
    const segment = known ?? this.#threads.segmentOfCall(tenant_id, run_id, event.kind);
    const event_id =
      scope.event_id || idInSegment({ tenantId: tenant_id, runId: run_id, segment }, event);
    const entry = this.#entryOf(run_id, { event, event_id }, scope);
    return this.#append({ key: { tenant_id, thread_id: thread }, entries: [entry] });
  }

  /**
   * The entries of an event. IDs are made for events with rows only, because they are most of the cost here.
   *
   * @param known the run. Default: as far as this sink has seen it.
   */
  #entriesOf(
    event: AgentEvent,
    at: Readonly<Instant>,
    refs: EventRefs,
    known: RunFacts | undefined,
    again: boolean,
  ): readonly AuditEntry[] {
    const { run_id } = event;
    switch (event.type) {
      case "started":
      case "complete":
      case "failed":
      case "interrupted":
      case "tool_call_approved":
      case "tool_call_denied": {
        const { details, session_id } = refs;
        const { event_id, is_new, unnamed } = this.#ids.of(event, at, refs, again);
        const signal = withoutAdded(signalOf(event, [at[0], at[1]], details));
        const run = known ?? this.#factsOf(signal, refs);
        const facts: EventFacts = { event_id, is_new, unnamed, session_id, details };
        const rows = this.#selected(signalRows(signal, run, facts, inUtc(at)));
        return rows.map((row) => this.#entryOf(run_id, row, refs));
      }
      default: {
        let row = toGraphEvent(event, at);
        if (row === undefined) return [];
        if (row.kind === "tool_result" && refs.details?.model_text === "unknown") {
          row = { ...row, model_text: "unknown" };
        }
        const { event_id, is_new } = this.#ids.of(event, at, refs, again);
        return [this.#entryOf(run_id, { event: row, event_id, is_new }, refs)];
      }
    }
  }

  /** A run as far as this sink has seen it: its segment, and the run it continues. */
  #factsOf(signal: Signal, refs: EventRefs): RunFacts {
    const { runId, tenantId } = signal;
    const resumedFromRunId = refs.resumed_from_run_id || undefined;
    const parentCallId = refs.parent_tool_use_id || undefined;
    if (signal.signal === "run_opens") {
      const segment = this.#threads.begins(tenantId, runId);
      return { segment, resumedFromRunId, parentCallId };
    }
    const pauses = signal.signal === "run_closes" && signal.end.outcome === "interrupted";
    return { segment: this.#threads.segmentOf(tenantId, runId, pauses) };
  }

  #selected(rows: readonly PreparedRow[]): readonly PreparedRow[] {
    if (!this.#upstreamOnly) return rows;
    return rows.filter(({ event, projected }) => projected === true || isUpstreamKind(event.kind));
  }

  #entryOf(
    run_id: string,
    { event: given, event_id = null, is_new, projected }: PreparedRow,
    { details, span_id = null, trace_id = null }: RowRefs,
  ): AuditEntry {
    const recorded = details?.recorder?.cut;
    const options = recorded || projected ? { recorded, isJson: projected } : undefined;
    const event = withinRow(withoutAdded(given), options);
    if (event.cut !== undefined) this.#cutRows += 1;
    return { event, run_id: canonicalRunId(run_id), event_id, is_new, trace_id, span_id };
  }

  /** The clock's time. The system's if the clock fails: a row must not be lost for it. */
  #now(): Instant {
    return answerOf(TIME_ANSWER, this.#clock, this.#onFailure) ?? systemTime();
  }

  #append({ key, entries }: PreparedRows): Promise<RowAnchor> {
    try {
      return key.thread_id === "" ? Promise.reject(noThread()) : this.#log.append(key, entries);
    } finally {
      forgetJson();
    }
  }

  /** The same promise, handled: the caller may ignore its rejection. */
  #watched<T>(stored: Promise<T>): Promise<T> {
    stored.catch(this.#onFailure);
    return stored;
  }

  /** One function for all rows. */
  readonly #onFailure = (error: unknown): void => {
    callErrorHook(this.#onError, error);
  };
}

function systemTime(): Instant {
  return fromMilliseconds(Date.now());
}

const NO_TIME: Instant = [0, 0];

/** The time of a row, or why an event can have none. */
function rowTime(
  given: string | Readonly<Instant>,
): { readonly at: Instant } | { readonly error: unknown } {
  // Read here: a time that throws when it is read is unreadable, not invalid.
  const read: string | Instant = typeof given === "string" ? given : [given[0], given[1]];
  try {
    const instant = instantOf(read);
    const at: Instant = [instant[0], instant[1]];
    formatRfc3339(at);
    return { at };
  } catch (error) {
    return { error };
  }
}

function noValue(): void {}

function noThread(): TypeError {
  return new TypeError("run_id: expected a string that is not empty, or a thread_id beside it");
}

interface RowRefs extends Pick<EventFacts, "details"> {
  readonly span_id?: string | null | undefined;
  readonly trace_id?: string | null | undefined;
}
