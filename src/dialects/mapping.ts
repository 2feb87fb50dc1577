import type { AnyGraphEvent } from "../audit/wire/graph-event.ts";
import type { Signal } from "../lifecycle/signal.ts";
import type { JsonObject, LineEnvelope } from "./dialect.ts";

/** A row of the audit projection, and the run it belongs to. */
export interface ProjectedRow {
  readonly runId: string;
  readonly event: AnyGraphEvent;
  /** What the source's own row says of itself; default: the event's id, and the ids of the run. */
  readonly eventId?: string | undefined;
  readonly traceId?: string | undefined;
  readonly spanId?: string | undefined;
}

/** What an event says, in the lifecycle's and in the audit log's words. */
export interface Translated {
  readonly tenantId: string;
  /** The thread that the rows go to. */
  readonly threadId?: string | undefined;
  readonly signals: readonly Signal[];
  readonly rows: readonly ProjectedRow[];
}

/**
 * Reads the events of a runtime that has no run ids as signals. It keeps what it must know of each
 * stream, bounded; order, duplicates and limits are the lifecycle's.
 *
 * @typeParam E the runtime's event.
 */
export interface Mapping<E> {
  /** Events come in order; one whose id came before does not come. Never throws. */
  translate(event: E, envelope: LineEnvelope): Translated;
  /**
   * A line of an unknown type comes in order too. It returns the activity of the line's open run, or
   * `undefined` without one. Never throws. Left out where every line has a meaning.
   */
  keepAlive?(value: JsonObject, envelope: LineEnvelope): Signal | undefined;
  /** At the end of the input: what only the end tells. */
  end(): readonly Translated[];
  /** Event types that have no audit projection, and how often they came. */
  readonly unprojected: ReadonlyMap<string, number>;
}
