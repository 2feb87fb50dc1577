import { callHook } from "../errors/call-hook.ts";
import type { AgentEvent } from "../events/agent-event.ts";
import type { EventEnvelope } from "../events/event-envelope.ts";
import { fromMilliseconds, type Instant } from "../events/instant.ts";
import {
  checkFunction,
  checkGiven,
  checkOptionsObject,
  checkWhole,
} from "../events/option-checks.ts";
import { inUtc } from "../events/rfc3339.ts";
import { canonicalRunId } from "../lifecycle/run-ids.ts";
import type { AgentEventSink } from "../sinks/agent-event-sink.ts";
import { AuditCalls, type AuditScope } from "./audit-calls.ts";
import type { AuditEntry, RowAnchor, ThreadKey } from "./audit-row.ts";
import { RunThreads, type ThreadHints } from "./run-threads.ts";
import { appendFor, type RowWaiter, type SessionLog, tellFailure } from "./session-log.ts";
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
}

/** What is known beside an event that a {@link AuditSink.record} is made of. */
export interface RecordRefs extends ThreadHints {
  readonly event_id?: string | undefined;
  readonly trace_id?: string | undefined;
  readonly span_id?: string | undefined;
}

/** A row that can be appended: its thread, and what it says. */
export interface PreparedRow {
  readonly key: ThreadKey;
  readonly entry: AuditEntry;
}

/**
 * Writes the audit side of lifecycle events: each tool event becomes a row of its run's thread, and
 * the runtime's own audit calls become rows of the other kinds.
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
  readonly #clock: () => Instant;

  /**
   * @throws TypeError when `log` is none, or a hook no function.
   * @throws RangeError when `threads` is no whole number from 1.
   */
  constructor(options: AuditSinkOptions) {
    super();
    checkOptionsObject(options);
    const { clock, log, onError, threads = 20_000 } = options;
    checkGiven(log, "log", "append");
    checkFunction(onError, "onError");
    checkFunction(clock, "clock");
    checkWhole(threads, "threads", 1);
    this.#log = log;
    this.#onError = onError ?? (() => {});
    this.#threads = new RunThreads(threads);
    this.#clock = clock ?? (() => fromMilliseconds(Date.now()));
  }

  /**
   * Takes an event. Where it leaves a row, the promise resolves once the row is stored, and rejects
   * with the log's error or, for a timestamp that is none, with a RangeError. An event or envelope that
   * throws when it is read is none: `onError` is told, and nothing else happens.
   */
  send(event: AgentEvent, envelope?: EventEnvelope): void | Promise<void> {
    try {
      const at = envelope?.timestamp ?? this.#clock();
      const { event_id, root_run_id, thread_id } = envelope ?? {};
      const written = this.#write(event, at, { event_id, root_run_id, thread_id });
      // Written as two, since the second is what the caller may drop.
      return written === undefined ? undefined : this.#watched(written.then(noValue));
    } catch (error) {
      this.#tell(error);
      return undefined;
    }
  }

  /**
   * Writes the row of an event, for a caller that knows its span. `undefined`: the event leaves none.
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
   * {@link record} for a caller that appends the row itself, and is told of it by its waiter.
   *
   * @returns `undefined` where the event leaves no row.
   * @throws what the event throws when it is read.
   */
  prepare(event: AgentEvent, at: Readonly<Instant>, refs: RecordRefs): PreparedRow | undefined {
    const { run_id, tenant_id } = event;
    const thread_id = this.#threadOf(event, refs);
    const row = toGraphEvent(event, at);
    return row && { key: { tenant_id, thread_id }, entry: entryOf(run_id, row, refs) };
  }

  /** The same for a row that a dialect projected. */
  prepareProjected(
    tenant_id: string,
    run: string,
    event: AnyGraphEvent,
    refs: RecordRefs,
  ): PreparedRow {
    const thread_id = this.#threads.learn(tenant_id, run, refs);
    return { key: { tenant_id, thread_id }, entry: entryOf(run, event, refs) };
  }

  /** @returns resolves when the waiter has been told; never rejects. */
  append({ key, entry }: PreparedRow, waiter: RowWaiter): Promise<void> {
    if (key.thread_id === "") return tellFailure(noThread(), waiter);
    return appendFor(this.#log, key, [entry], waiter);
  }

  /**
   * Writes a row of the runtime's own.
   *
   * @internal A bridge adds the ids of its run's span.
   * @throws (rejects) TypeError that names the field of the row that does not fit; the log's error.
   */
  override recordCall(
    scope: AuditScope,
    build: (timestamp: string) => GraphEvent,
  ): Promise<RowAnchor> {
    return this.#watched(this.#callNow(scope, build));
  }

  #write(
    event: AgentEvent,
    at: string | Readonly<Instant>,
    refs: RecordRefs,
  ): Promise<RowAnchor> | undefined {
    const read = this.#read(event, at, refs);
    if (read === undefined) return undefined;
    const { entry, tenant, thread, time } = read;
    try {
      const timed = { ...entry, event: { ...entry.event, timestamp: inUtc(time) } };
      return this.#append(tenant, thread, timed);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /** The row of an event but for its time, so that a wrong time is told apart from what is no event. */
  #read(event: AgentEvent, at: string | Readonly<Instant>, refs: RecordRefs) {
    try {
      const time: string | Instant = typeof at === "string" ? at : [at[0], at[1]];
      const { run_id, tenant_id } = event;
      const thread = this.#threadOf(event, refs);
      const read = toGraphEvent(event, NO_TIME);
      if (read === undefined) return undefined;
      return { entry: entryOf(run_id, read, refs), tenant: tenant_id, thread, time };
    } catch (error) {
      this.#tell(error);
      return undefined;
    }
  }

  #threadOf(event: AgentEvent, refs: RecordRefs): string {
    const hints = event.type === "started" ? { ...refs, parent_run_id: event.parent_run_id } : refs;
    return this.#threads.learn(event.tenant_id, event.run_id, hints);
  }

  async #callNow(scope: AuditScope, build: (timestamp: string) => GraphEvent): Promise<RowAnchor> {
    const { run_id, tenant_id, thread_id, timestamp } = scope;
    const entry = build(inUtc(timestamp ?? this.#clock()));
    const issue = decodeGraphEvent(entry).issues?.[0];
    if (issue !== undefined) throw new TypeError(`${issue.field}: expected ${issue.expected}`);
    const thread = this.#threads.learn(tenant_id, run_id, { thread_id });
    return this.#append(tenant_id, thread, entryOf(run_id, entry, scope));
  }

  #append(tenant_id: string, thread_id: string, entry: AuditEntry): Promise<RowAnchor> {
    if (thread_id === "") return Promise.reject(noThread());
    return this.#log.append({ tenant_id, thread_id }, [entry]);
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

function entryOf(run_id: string, event: AnyGraphEvent, refs: AuditScope | RecordRefs): AuditEntry {
  const { event_id = null, span_id = null, trace_id = null } = refs;
  return { event, run_id: canonicalRunId(run_id), event_id, trace_id, span_id };
}

function noThread(): TypeError {
  return new TypeError("run_id: expected a string that is not empty, or a thread_id beside it");
}
