import type { AnyGraphEvent } from "../../audit/door.ts";
import { hashedUuid, type Signal } from "../../events/door.ts";
import type { JsonObject, LineEnvelope } from "./dialect.ts";

/** An audit row and its run. */
export interface ProjectedRow {
  readonly runId: string;
  readonly event: AnyGraphEvent;
  /** IDs that the source's own row has. Default: the event's ID, and the IDs of the run. */
  readonly eventId?: string | undefined;
  readonly traceId?: string | undefined;
  readonly spanId?: string | undefined;
}

/** The signals and audit rows of one event. */
export interface Translated {
  readonly tenantId: string;
  /** Thread of the rows. */
  readonly threadId?: string | undefined;
  readonly signals: readonly Signal[];
  readonly rows: readonly ProjectedRow[];
}

/**
 * Reads the events of a runtime without run IDs as signals. Its state for each stream is bounded. Order, duplicates and
 * limits are left to the lifecycle.
 *
 * @typeParam E the runtime's event.
 */
export interface Mapping<E> {
  /** Takes events in order, without events whose ID was seen before. Never throws. */
  translate(event: E, envelope: LineEnvelope): Translated;
  /**
   * Takes a line of an unknown type, in order. Returns the activity of the line's open run, or `undefined` without one.
   * Never throws. Absent if the dialect knows every line.
   */
  keepAlive?(value: JsonObject, envelope: LineEnvelope): Signal | undefined;
  /** Ends the input. Returns what only the end brings. */
  end(): readonly Translated[];
  /** Whether the events are audit rows already, so that none is made of signals. */
  readonly readsRows?: boolean | undefined;
  /** Event types without an audit row, and how often they came. */
  readonly unprojected: ReadonlyMap<string, number>;
}

/**
 * Derives the run ID of a runtime that has none: a UUID of version 8 from the first 16 bytes of SHA-256 over tenant, a
 * zero byte, stream, a zero byte and the opening event's ID. The same file gives the same IDs in any process.
 *
 * @param stream thread or session of the run. For a sub-agent: its parent's stream and the IDs of the spawning calls,
 *   joined by `/`.
 * @param opening ID of the event that opens the run. Without event IDs: the decimal ordinal of the opening line in its
 *   stream, from 0.
 *
 * @example
 * derivedRunId("default", "thread-open-2", "5ee17f14-061e-4aa6-b3a4-e7d944624755");
 * // "dddd7502-9db2-883a-9f2a-3db87dae38d2"
 */
export function derivedRunId(tenant: string, stream: string, opening: string): string {
  return hashedUuid(`${tenant}\0${stream}\0${opening}`);
}
