import {
  type AuditSink,
  type EventRefs,
  leavesRows,
  type PreparedRows,
  type RunFacts,
  signalRows,
} from "../audit/door.ts";
import {
  type Bridge,
  inSegment,
  internalsOf,
  type Outcome,
  type Run,
  type RunRows,
  type SegmentRows,
  type SpanHandle,
  type SpanRefs,
  spanRefs,
  type Telemetry,
} from "../bridge/door.ts";
import { type CallCounts, inUtc, type Signal } from "../events/door.ts";
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
    if (audit === undefined) {
      telemetry.apply(signals, envelope);
      return undefined;
    }
    const waiting = [...rows.entries()];
    const stored: Promise<void>[] = [];
    const findRun = ({ runId }: ProjectedRow) => telemetry.find(tenantId, runId);
    const add = (
      prepared: PreparedRows | undefined,
      run: Run<SpanHandle> | undefined,
      segment?: SegmentRows,
    ) => {
      if (prepared === undefined) return;
      stored.push(audit.append(prepared, runRows.waiterOf(run, segment)));
    };
    // A run's span waits for the rows that it has when it closes: they are written before.
    const write = (ready: (row: ProjectedRow) => boolean) => {
      for (const [position, row] of waiting.splice(0)) {
        if (!ready(row)) waiting.push([position, row]);
        else add(this.#prepare(audit, translated, row, envelope, position), findRun(row));
      }
    };
    const isKnown = (row: ProjectedRow) => findRun(row) !== undefined;
    // A run may open and close in one event, and several may: their rows need IDs of their own.
    let told = 0;
    const before = (signal: Signal) => {
      if (signal.signal === "run_closes") write(isKnown);
    };
    const ended: SegmentRows[] = [];
    const after = (signal: Signal, { call, run, taken }: Outcome<SpanHandle>) => {
      const segment = runRows.takeEnded();
      if (segment !== undefined) ended.push(segment);
      if (!taken || run === undefined || mapping.readsRows === true || !leavesRows(signal)) return;
      const refs = signalRefs(translated, signal, envelope, told, spanRefs(run, call));
      told++;
      const said = saidOf(translated, signal);
      const written = signalRows(signal, factsOf(run), refs, inUtc(signal.at));
      const others = written.filter(({ event }) => !said.has(event.kind));
      add(audit.prepareRows(signal, others, refs), run, segment);
    };
    telemetry.apply(signals, envelope, { before, after });
    write(() => true);
    for (const segment of ended) segment.eventDone();
    return stored.length === 0 ? undefined : Promise.all(stored).then(noValue);
  }

  #prepare(
    audit: AuditSink,
    { tenantId, threadId }: Translated,
    { runId, event, eventId, traceId, spanId }: ProjectedRow,
    envelope: LineEnvelope | undefined,
    position: number,
  ): PreparedRows | undefined {
    const run = this.#options.telemetry.find(tenantId, runId);
    const refs = run === undefined ? undefined : spanRefs(run);
    const ids = {
      trace_id: traceId ?? refs?.trace_id,
      span_id: spanId ?? refs?.span_id,
      thread_id: threadId,
      event_id: eventId ?? rowId(envelope?.event_id, position),
    };
    const row = { event, event_id: ids.event_id, projected: true };
    return audit.prepareRows({ tenantId, runId }, [row], ids);
  }
}

/** @param told signals of the same event that may have left rows before this one. */
function signalRefs(
  { threadId }: Translated,
  signal: Signal,
  envelope: LineEnvelope | undefined,
  told: number,
  ids: SpanRefs,
): EventRefs {
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
