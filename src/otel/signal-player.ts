import type { AuditSink } from "../audit/audit-sink.ts";
import type { JsonObject, LineEnvelope } from "../dialects/dialect.ts";
import type { Mapping, ProjectedRow, Translated } from "../dialects/mapping.ts";
import { type Bridge, internalsOf } from "./bridge.ts";
import type { RunRows } from "./run-rows.ts";
import { spanRefs } from "./span-handle.ts";
import type { Telemetry } from "./telemetry.ts";

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
    const { audit, telemetry } = this.#options;
    const { rows, signals } = translated;
    if (audit === undefined || rows.length === 0) {
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
    const isKnown = ({ runId }: ProjectedRow) =>
      telemetry.find(translated.tenantId, runId) !== undefined;
    for (const signal of signals) {
      if (signal.signal === "run_closes") write(isKnown);
      telemetry.apply([signal], envelope);
    }
    write(() => true);
    return Promise.all(stored).then(noValue);
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

/** One event may make several rows; each is known by an id of its own. */
function rowId(eventId: string | undefined, position: number): string | undefined {
  return eventId === undefined || position === 0 ? eventId : `${eventId}/${position}`;
}

function noValue(): void {}
