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
  /** @returns a promise if rows are being stored. */
  take(event: E, envelope: LineEnvelope): Promise<void> | undefined;
  /** Takes a line of an unknown type, in its turn among the events: its run is active. */
  keepAlive(value: JsonObject, envelope: LineEnvelope): void;
  /** Ends the input: plays the signals that only the end brings. */
  end(): Promise<void>;
}

interface MappingPlayerOptions<E> {
  readonly mapping: Mapping<E>;
  /** Tenant of events that name none. */
  readonly tenant: string;
  readonly telemetry: Telemetry;
  /** Absent without an audit log. */
  readonly audit: AuditSink | undefined;
  /** A run's span waits for its rows. */
  readonly rows: RunRows;
}

/**
 * Plays the events of a foreign runtime through a bridge, by the mapping of its dialect.
 *
 * @param tenant tenant of events whose envelope names none.
 */
export function playerOf<E>(bridge: Bridge, mapping: Mapping<E>, tenant: string): SignalPlayer<E> {
  return new MappingPlayer({ mapping, tenant, ...internalsOf(bridge) });
}

/** Plays signals and audit rows of a mapping in one pass. */
class MappingPlayer<E> implements SignalPlayer<E> {
  readonly #options: MappingPlayerOptions<E>;

  constructor(options: MappingPlayerOptions<E>) {
    this.#options = options;
  }

  /** @returns a promise if rows are being stored. It never rejects. */
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
    const add = (
      prepared: PreparedRows | undefined,
      run: Run<SpanHandle> | undefined,
      segment?: SegmentRows,
    ) => {
      if (prepared === undefined) return;
      stored.push(audit.append(prepared, runRows.waiterOf(run, segment)));
    };
    // A run's span waits for the rows that exist when it closes, so they are written first.
    const write = (ofUnknownRuns: boolean) => {
      for (const [position, row] of waiting.splice(0)) {
        const run = telemetry.find(tenantId, row.runId);
        if (run === undefined && !ofUnknownRuns) waiting.push([position, row]);
        else add(prepareRow(audit, translated, row, envelope, position, run), run);
      }
    };
    // One event may open and close several runs. Their rows need IDs of their own.
    let index = 0;
    const before = (signal: Signal) => {
      if (signal.signal === "run_closes") write(false);
    };
    const ended: SegmentRows[] = [];
    const after = (signal: Signal, { call, run, taken }: Outcome<SpanHandle>) => {
      const segment = runRows.takeEnded();
      if (segment !== undefined) ended.push(segment);
      if (!taken || run === undefined || mapping.readsRows === true || !leavesRows(signal)) return;
      const refs = signalRefs(translated, signal, envelope, index, spanRefs(run, call));
      index++;
      const stated = statedEnds(translated, signal);
      const written = signalRows(signal, factsOf(run), refs, inUtc(signal.at));
      const others = written.filter(({ event }) => !stated.has(event.kind));
      add(audit.prepareRows(signal, others, refs), run, segment);
    };
    telemetry.apply(signals, envelope, { before, after });
    write(true);
    for (const segment of ended) segment.eventDone();
    return stored.length === 0 ? undefined : Promise.all(stored).then(noValue);
  }
}

function prepareRow(
  audit: AuditSink,
  { tenantId, threadId }: Translated,
  { runId, event, eventId, traceId, spanId }: ProjectedRow,
  envelope: LineEnvelope | undefined,
  position: number,
  run: Run<SpanHandle> | undefined,
): PreparedRows | undefined {
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

/** @param index number of this signal among those of the event that can leave rows, from 0. */
function signalRefs(
  { threadId }: Translated,
  signal: Signal,
  envelope: LineEnvelope | undefined,
  index: number,
  ids: SpanRefs,
): EventRefs {
  // A sub-agent without a thread writes to the thread of its parent.
  const opens = signal.signal === "run_opens";
  return {
    ...ids,
    thread_id: opens ? signal.threadId : undefined,
    default_thread_id: threadId,
    event_id: rowId(envelope?.event_id, index),
    session_id: envelope?.session_id,
    details: envelope?.details,
  };
}

/** A count of 0 is left out: not every source reports all calls. */
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

/** The entelix kinds of the event's own rows that already say how the run ended. */
function statedEnds({ rows }: Translated, { runId, signal }: Signal): ReadonlySet<string> {
  if (signal !== "run_closes") return NOTHING;
  const isStated = rows.some((row) => row.runId === runId && ENDINGS.has(row.event.kind));
  return isStated ? ENDINGS : NOTHING;
}

const ENDINGS: ReadonlySet<string> = new Set([
  "interrupt",
  "cancelled",
  "usage_limit_exceeded",
  "tool_error_terminal",
  "error",
]);
const NOTHING: ReadonlySet<string> = new Set();

/** The rows of one event have IDs of their own. */
function rowId(eventId: string | undefined, position: number): string | undefined {
  return eventId === undefined || position === 0 ? eventId : `${eventId}/${position}`;
}

function noValue(): void {}
