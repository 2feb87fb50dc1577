import type { AnyGraphEvent } from "../../audit/door.ts";
import { hashedUuid, type Signal } from "../../events/door.ts";
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
  /** Its audit rows are rows of a log already: none is made of its signals. */
  readonly readsRows?: boolean | undefined;
  /** Event types that have no audit projection, and how often they came. */
  readonly unprojected: ReadonlyMap<string, number>;
}

/**
 * The run id of a run whose runtime has none: a UUID of version 8 made of the first 16 bytes of
 * SHA-256 over tenant, a zero byte, stream, a zero byte and the opening event's id. The same file
 * gives the same ids again, in any process.
 *
 * @param stream thread or session that the run belongs to; of a sub-agent its parent's stream and the
 *   ids of the spawning calls, joined by `/`.
 * @param opening id of the event that opens the run; without event ids the decimal ordinal, from 0,
 *   of the opening line in its stream.
 *
 * @example
 * derivedRunId("default", "thread-open-2", "5ee17f14-061e-4aa6-b3a4-e7d944624755");
 * // "dddd7502-9db2-883a-9f2a-3db87dae38d2"
 */
export function derivedRunId(tenant: string, stream: string, opening: string): string {
  return hashedUuid(`${tenant}\0${stream}\0${opening}`);
}
