import { type AuditSink, leavesRows, type RecordRefs, type RunFacts } from "../audit/door.ts";
import {
  type Bridge,
  inSegment,
  internalsOf,
  type Outcome,
  type Run,
  type RunRows,
  type SpanHandle,
  type SpanRefs,
  spanRefs,
  type Telemetry,
} from "../bridge/door.ts";
import type { CallCounts, Signal } from "../events/door.ts";
import type { JsonObject, LineEnvelope } from "./dialects/dialect.ts";
import type { Mapping, ProjectedRow, Translated } from "./dialects/mapping.ts";

/** Plays the events of one runtime through a bridge. */
export interface SignalPlayer<E> {
  /** @returns a promise where something has to be waited for. */
  take(event: E, envelope: LineEnvelope): Promise<void> | undefined;
  /** A line of a type that the dialect does not know, in its turn: it shows that its run is active. */
  keepAlive(value: JsonObject, envelope: LineEnvelope): void;
  /** At the end of the input: what only the end tells. */
  end(): Promise<void>;
}

interface MappingPlayerOptions<E> {
  readonly mapping: Mapping<E>;
  /** Whose events they are, where nothing says. */
  readonly tenant: string;
  readonly telemetry: Telemetry;
  /** Absent without an audit log. */
  readonly audit: AuditSink | undefined;
  /** The rows of each run: its span waits for them. */
  readonly rows: RunRows;
}

/**
 * Plays the events of a runtime other than entelix through a bridge, by its dialect's mapping.
 *
 * @param tenant whose events they are, where neither event nor envelope says.
 */
export function playerOf<E>(bridge: Bridge, mapping: Mapping<E>, tenant: string): SignalPlayer<E> {
  return new MappingPlayer({ mapping, tenant, ...internalsOf(bridge) });
}

/** Plays the signals and audit rows that a mapping reads, in one pass. */
class MappingPlayer<E> implements SignalPlayer<E> {
  readonly #options: MappingPlayerOptions<E>;

  constructor(options: MappingPlayerOptions<E>) {
    this.#options = options;
  }

  /** @returns a promise where rows are on their way; it never rejects. */
  take(event: E, envelope: LineEnvelope): Promise<void> | undefined {
    const { mapping, telemetry, tenant } = this.#options;
    const { event_id, timestamp } = envelope;
    const at: [number, number] = [timestamp[0], timestamp[1]];
    if (!telemetry.begin(envelope.tenant_id ?? tenant, event_id, at)) return undefined;
    return this.#carryOut(mapping.translate(event, envelope), envelope);
  }

  keepAlive(value: JsonObject, envelope: LineEnvelope): void {
    const { mapping, telemetry } = this.#options;
    const signal = mapping.keepAlive?.(value, envelope);
    if (signal !== undefined) telemetry.keepAlive(signal);
  }

  async end(): Promise<void> {
    for (const translated of this.#options.mapping.end()) {
      await this.#carryOut(translated, undefined);
    }
  }

  #carryOut(translated: Translated, envelope: LineEnvelope | undefined): Promise<void> | undefined {
    const { audit, mapping, rows: runRows, telemetry } = this.#options;
    const { rows, signals, tenantId } = translated;
    if (audit === undefined || (mapping.readsRows === true && rows.length === 0)) {
      telemetry.apply(signals, envelope);
      return undefined;
    }
    const waiting = [...rows.entries()];
    const stored: Promise<void>[] = [];
    // A run's span waits for the rows that it has when it closes: they are written before.
    const write = (ready: (row: ProjectedRow) => boolean) => {
      for (const [position, row] of waiting.splice(0)) {
        if (!ready(row)) waiting.push([position, row]);
        else stored.push(this.#record(audit, translated, row, envelope, position));
      }
    };
    const isKnown = ({ runId }: ProjectedRow) => telemetry.find(tenantId, runId) !== undefined;
    // A run may open and close in one event, and several may: their rows need IDs of their own.
    let told = 0;
    const before = (signal: Signal) => {
      if (signal.signal === "run_closes") write(isKnown);
    };
    const after = (signal: Signal, { call, ended, run, taken }: Outcome<SpanHandle>) => {
      if (!taken || run === undefined || mapping.readsRows === true || !leavesRows(signal)) return;
      const refs = signalRefs(translated, signal, envelope, told, spanRefs(run, call));
      const said = saidOf(translated, signal);
      const prepared = audit.prepareSignal(signal, refs, factsOf(run), said);
      told++;
      if (prepared !== undefined) stored.push(audit.append(prepared, runRows.waiterOf(run, ended)));
    };
    runRows.hold();
    telemetry.apply(signals, envelope, { before, after });
    write(() => true);
    runRows.letGo();
    return stored.length === 0 ? undefined : Promise.all(stored).then(noValue);
  }

  #record(
    audit: AuditSink,
    { tenantId, threadId }: Translated,
    { runId, event, eventId, traceId, spanId }: ProjectedRow,
    envelope: LineEnvelope | undefined,
    position: number,
  ): Promise<void> {
    const run = this.#options.telemetry.find(tenantId, runId);
    const refs = run === undefined ? undefined : spanRefs(run);
    const ids = {
      trace_id: traceId ?? refs?.trace_id,
      span_id: spanId ?? refs?.span_id,
      thread_id: threadId,
      event_id: eventId ?? rowId(envelope?.event_id, position),
    };
    const prepared = audit.prepareProjected(tenantId, runId, event, ids);
    return audit.append(prepared, this.#options.rows.waiterOf(run));
  }
}

/** @param told signals of the same event that may have left rows before this one. */
function signalRefs(
  { threadId }: Translated,
  signal: Signal,
  envelope: LineEnvelope | undefined,
  told: number,
  ids: SpanRefs,
): RecordRefs {
  // A sub-agent without a thread of its own writes to the one around it.
  const opens = signal.signal === "run_opens";
  return {
    ...ids,
    thread_id: opens ? signal.threadId : undefined,
    default_thread_id: threadId,
    event_id: rowId(envelope?.event_id, told),
    session_id: envelope?.session_id,
    details: envelope?.details,
  };
}

/** Not every source tells of all calls of a run, so that none is not known to be none. */
function factsOf(run: Run<SpanHandle>): RunFacts {
  const { parentCallId, resumedFromRunId, segment, callTrail } = run;
  const some = (count: keyof CallCounts) => inSegment(run, count) || undefined;
  return {
    segment,
    parentCallId,
    resumedFromRunId,
    toolCalls: some("toolCalls"),
    toolErrors: some("toolErrors"),
    approvedCalls: some("approvedCalls"),
    deniedCalls: some("deniedCalls"),
    callTrail,
  };
}

/** The upstream kinds by which the dialect itself has said how the run ended. */
function saidOf({ rows }: Translated, { runId, signal }: Signal): ReadonlySet<string> {
  if (signal !== "run_closes") return NOTHING;
  const said = rows.some((row) => row.runId === runId && ENDINGS.has(row.event.kind));
  return said ? ENDINGS : NOTHING;
}

const ENDINGS: ReadonlySet<string> = new Set([
  "interrupt",
  "cancelled",
  "usage_limit_exceeded",
  "tool_error_terminal",
  "error",
]);
const NOTHING: ReadonlySet<string> = new Set();

/** One event may make several rows; each is known by an id of its own. */
function rowId(eventId: string | undefined, position: number): string | undefined {
  return eventId === undefined || position === 0 ? eventId : `${eventId}/${position}`;
}

function noValue(): void {}
