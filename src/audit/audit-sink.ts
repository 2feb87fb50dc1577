import {
  type AgentEvent,
  type AgentEventSink,
  callHook,
  canonicalRunId,
  checkFunction,
  checkGiven,
  checkOptionsObject,
  checkWhole,
  type EventEnvelope,
  fromMilliseconds,
  type Instant,
  inUtc,
  readEventTime,
  type Signal,
  signalOf,
} from "../events/door.ts";
import { AuditCalls, type AuditScope } from "./audit-calls.ts";
import type { AuditEntry, RowAnchor, ThreadKey } from "./audit-row.ts";
import { type EventId, EventIds } from "./event-ids.ts";
import { type RecordRefs, refsOf } from "./record-refs.ts";
import { idInSegment } from "./row-ids.ts";
import { type AuditRows, checkAuditRows, isUpstreamKind } from "./row-selection.ts";
import { withinRow } from "./row-values.ts";
import { RunThreads } from "./run-threads.ts";
import { appendFor, type RowWaiter, reportFailure, type SessionLog } from "./session-log.ts";
import { type EventFacts, type RunFacts, signalRows } from "./signal-rows.ts";
import { toGraphEvent } from "./to-graph-event.ts";
import type { AnyGraphEvent, GraphEvent } from "./wire/graph-event.ts";
import { decodeGraphEvent } from "./wire/graph-event-codec.ts";

/** What an {@link AuditSink} is made of. */
export interface AuditSinkOptions {
  /** Where the rows go. The sink does not close it. */
  readonly log: SessionLog;
  /**
   * Told of every row that could not be written, beside the rejected promise; its own errors are
   * swallowed. Default: none is told.
   */
  readonly onError?: ((error: unknown) => void) | undefined;
  /** Runs whose thread is remembered, at least. Default 20,000. */
  readonly threads?: number | undefined;
  /** The time of events that bring none. Default: the system's clock, to the millisecond. */
  readonly clock?: (() => Instant) | undefined;
  /** Which rows events leave. Default `all`. */
  readonly rows?: AuditRows | undefined;
}

/** Rows of one event that can be appended: their thread, and what they say. */
export interface PreparedRows {
  readonly key: ThreadKey;
  readonly entries: readonly AuditEntry[];
}

/**
 * Writes the audit side of lifecycle events. Each tool event becomes a row of its run's thread. So do
 * the start and the end of a run, and each decision about a call. The runtime's own audit calls become
 * rows of the other kinds.
 *
 * A run that was never given a thread writes to its parent's, else to one named by its root run or
 * itself. Operator text (`error`, the envelope) never reaches a row. A promise that it returns may be
 * dropped: a failed row then shows in `onError` only, and never as an unhandled rejection.
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
  #cutRows = 0;

  /**
   * @throws TypeError when `log` is none, a hook no function, or `rows` no such word.
   * @throws RangeError when `threads` is no whole number from 1.
   */
  constructor(options: AuditSinkOptions) {
    super();
    checkOptionsObject(options);
    const { clock, log, onError, rows, threads = 20_000 } = options;
    checkGiven(log, "log", "append");
    checkFunction(onError, "onError");
    checkFunction(clock, "clock");
    checkWhole(threads, "threads", 1);
    this.#upstreamOnly = checkAuditRows(rows) === "upstream";
    this.#log = log;
    this.#ids = new EventIds(log.namesRows === true);
    this.#onError = onError ?? (() => {});
    this.#threads = new RunThreads(threads);
    this.#clock = clock ?? (() => fromMilliseconds(Date.now()));
  }

  /** Number of rows of which a value was above the limit of a row, and so was cut. */
  get cutRows(): number {
    return this.#cutRows;
  }

  /**
   * Takes an event. Where it leaves a row, the promise resolves once the row is stored, and rejects
   * with the log's error or, for a timestamp that is none, with a RangeError. An event or envelope that
   * throws when it is read is none: `onError` is told, and nothing else happens.
   */
  send(event: AgentEvent, envelope?: EventEnvelope): void | Promise<void> {
    try {
      const later = envelope?.details?.happened_at !== undefined;
      const happened = later ? readEventTime(envelope) : undefined;
      const at = happened ?? envelope?.timestamp ?? this.#clock();
      const written = this.#write(event, at, refsOf(envelope));
      // Written as two, since the second is what the caller may drop.
      return written === undefined ? undefined : this.#watched(written.then(noValue));
    } catch (error) {
      this.#tell(error);
      return undefined;
    }
  }

  /**
   * Writes the rows of an event, for a caller that knows its span. `undefined`: the event leaves none.
   * The promise resolves with the place of the last of them.
   *
   * Every event should be given, also those that leave none: they tell the run's thread. An event that
   * throws when it is read leaves none, and `onError` is told.
   */
  record(
    event: AgentEvent,
    at: Readonly<Instant>,
    refs: RecordRefs = {},
  ): Promise<RowAnchor> | undefined {
    const written = this.#write(event, at, refs);
    return written === undefined ? undefined : this.#watched(written);
  }

  /**
   * {@link record} for a caller that appends the rows itself, and is told of them by its waiter.
   *
   * @param run what it knows of the event's run. Default: what this sink has seen of it.
   * @param again whether the event has come before: its rows have the IDs that they had.
   * @returns `undefined` where the event leaves no row.
   * @throws what the event throws when it is read.
   */
  prepare(
    event: AgentEvent,
    at: Readonly<Instant>,
    refs: RecordRefs,
    run?: RunFacts,
    again = false,
  ): PreparedRows | undefined {
    const { run_id, tenant_id } = event;
    const thread_id = this.#threadOf(event, refs);
    const rows = this.#rowsOf(event, at, refs, () => this.#ids.of(event, at, refs, again), run);
    if (rows === undefined) return undefined;
    return { key: { tenant_id, thread_id }, entries: this.#entriesOf(run_id, rows, refs) };
  }

  /**
   * The rows of a signal that a dialect read.
   *
   * @param said kinds that the dialect has projected of the same event: it has said them itself.
   */
  prepareSignal(
    signal: Signal,
    refs: RecordRefs,
    run: RunFacts,
    said: ReadonlySet<string>,
  ): PreparedRows | undefined {
    const { at, runId, tenantId: tenant_id } = signal;
    const rows = this.#selected(signalRows(signal, run, refs, inUtc(at))).filter(
      ({ event }) => !said.has(event.kind),
    );
    if (rows.length === 0) return undefined;
    const thread_id = this.#threads.learn(tenant_id, runId, refs);
    return { key: { tenant_id, thread_id }, entries: this.#entriesOf(runId, rows, refs) };
  }

  /** The same for a row that a dialect projected. */
  prepareProjected(
    tenant_id: string,
    run: string,
    event: AnyGraphEvent,
    refs: RecordRefs,
  ): PreparedRows {
    const thread_id = this.#threads.learn(tenant_id, run, refs);
    return {
      key: { tenant_id, thread_id },
      entries: [this.#entryOf(run, { event, event_id: refs.event_id }, refs, true)],
    };
  }

  /** @returns resolves when the waiter has been told; never rejects. */
  append({ key, entries }: PreparedRows, waiter: RowWaiter): Promise<void> {
    if (key.thread_id === "") return reportFailure(noThread(), waiter);
    return appendFor(this.#log, key, entries, waiter);
  }

  /**
   * Writes a row of the runtime's own.
   *
   * @internal A bridge adds the ids of its run's span.
   * @param segmentOf the segment of the run that a row of a kind is about. Default: by what this sink
   *   has seen of the run.
   * @throws (rejects) TypeError that names the field of the row that does not fit; the log's error.
   */
  override recordCall(
    scope: AuditScope,
    build: (timestamp: string) => GraphEvent,
    segmentOf?: (kind: string) => number,
  ): Promise<RowAnchor> {
    return this.#watched(this.#callNow(scope, build, segmentOf));
  }

  #write(
    event: AgentEvent,
    at: string | Readonly<Instant>,
    refs: RecordRefs,
  ): Promise<RowAnchor> | undefined {
    const read = this.#read(event, at, refs);
    if (read === undefined) return undefined;
    const { entries, tenant, thread, time } = read;
    try {
      const timestamp = inUtc(time);
      const timed = entries.map((entry) => ({ ...entry, event: { ...entry.event, timestamp } }));
      return this.#append(tenant, thread, timed);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /** The rows of an event but for their time, so that a wrong time is told apart from what is no event. */
  #read(event: AgentEvent, at: string | Readonly<Instant>, refs: RecordRefs) {
    try {
      const time: string | Instant = typeof at === "string" ? at : [at[0], at[1]];
      const { run_id, tenant_id } = event;
      const thread = this.#threadOf(event, refs);
      const rows = this.#rowsOf(event, NO_TIME, refs, () => this.#ids.of(event, time, refs, false));
      if (rows === undefined) return undefined;
      return { entries: this.#entriesOf(run_id, rows, refs), tenant: tenant_id, thread, time };
    } catch (error) {
      this.#tell(error);
      return undefined;
    }
  }

  /**
   * @param id gives the event's ID: asked only where it leaves rows, since to make one is most of what they cost here.
   * @param known what the caller knows of the run; default: what this sink has seen of it.
   */
  #rowsOf(
    event: AgentEvent,
    at: Readonly<Instant>,
    refs: RecordRefs,
    id: () => EventId,
    known?: RunFacts,
  ): readonly Row[] | undefined {
    switch (event.type) {
      case "started":
      case "complete":
      case "failed":
      case "interrupted":
      case "tool_call_approved":
      case "tool_call_denied": {
        const { details, session_id } = refs;
        const { event_id, is_new, unnamed } = id();
        const signal = signalOf(event, [at[0], at[1]], details);
        const run = known ?? this.#factsOf(signal, refs);
        const facts: EventFacts = { event_id, is_new, unnamed, session_id, details };
        const rows = this.#selected(signalRows(signal, run, facts, inUtc(at)));
        return rows.length === 0 ? undefined : rows;
      }
      default: {
        const row = toGraphEvent(event, at);
        if (row === undefined) return undefined;
        const { event_id, is_new } = id();
        if (row.kind !== "tool_result" || refs.details?.model_text !== "unknown") {
          return [{ event: row, event_id, is_new }];
        }
        return [{ event: { ...row, model_text: "unknown" }, event_id, is_new }];
      }
    }
  }

  /** What only this sink's own memory can say of a run: its segment, and what it continues. */
  #factsOf(signal: Signal, refs: RecordRefs): RunFacts {
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

  #selected<R extends Row>(rows: readonly R[]): readonly R[] {
    return this.#upstreamOnly ? rows.filter(({ event }) => isUpstreamKind(event.kind)) : rows;
  }

  #threadOf(event: AgentEvent, refs: RecordRefs): string {
    const hints = event.type === "started" ? { ...refs, parent_run_id: event.parent_run_id } : refs;
    return this.#threads.learn(event.tenant_id, event.run_id, hints);
  }

  async #callNow(
    scope: AuditScope,
    build: (timestamp: string) => GraphEvent,
    segmentOf: ((kind: string) => number) | undefined,
  ): Promise<RowAnchor> {
    const { run_id, tenant_id, thread_id, timestamp } = scope;
    const event = build(inUtc(timestamp ?? this.#clock()));
    const issue = decodeGraphEvent(event).issues?.[0];
    if (issue !== undefined) throw new TypeError(`${issue.field}: expected ${issue.expected}`);
    const thread = this.#threads.learn(tenant_id, run_id, { thread_id });
    const segment =
      segmentOf?.(event.kind) ?? this.#threads.segmentOfCall(tenant_id, run_id, event.kind);
    const event_id =
      scope.event_id || idInSegment({ tenantId: tenant_id, runId: run_id, segment }, event);
    return this.#append(tenant_id, thread, [this.#entryOf(run_id, { event, event_id }, scope)]);
  }

  #entriesOf(run_id: string, rows: readonly Row[], refs: RowRefs): readonly AuditEntry[] {
    return rows.map((row) => this.#entryOf(run_id, row, refs));
  }

  #entryOf(
    run_id: string,
    { event: given, event_id = null, is_new }: Row,
    { details, span_id = null, trace_id = null }: RowRefs,
    isJson = false,
  ): AuditEntry {
    const event = withinRow(given, { recorded: details?.recorder?.cut, isJson });
    if (event.cut !== undefined) this.#cutRows += 1;
    return { event, run_id: canonicalRunId(run_id), event_id, is_new, trace_id, span_id };
  }

  #append(
    tenant_id: string,
    thread_id: string,
    entries: readonly AuditEntry[],
  ): Promise<RowAnchor> {
    if (thread_id === "") return Promise.reject(noThread());
    return this.#log.append({ tenant_id, thread_id }, entries);
  }

  /** The same promise, such that nobody has to handle its rejection. */
  #watched<T>(written: Promise<T>): Promise<T> {
    written.catch(this.#tell);
    return written;
  }

  /** One function for all rows. */
  readonly #tell = (error: unknown): void => {
    callHook(() => this.#onError(error));
  };
}

const NO_TIME: Instant = [0, 0];

function noValue(): void {}

/** A row of an event, and its own id. */
interface Row {
  readonly event: AnyGraphEvent;
  readonly event_id?: string | null | undefined;
  readonly is_new?: boolean | undefined;
}

interface RowRefs extends Pick<EventFacts, "details"> {
  readonly span_id?: string | null | undefined;
  readonly trace_id?: string | null | undefined;
}

function noThread(): TypeError {
  return new TypeError("run_id: expected a string that is not empty, or a thread_id beside it");
}
