import type { ErasedEvent, KnownGraphEvent, UnknownGraphEvent } from "../../../audit/door.ts";
import { isJsonObject, type JsonObject } from "../dialect.ts";

/** What the row of an audit log says beside its event. */
export interface RowFacts {
  /**
   * The run that the row belongs to; `null` where the row has a place for one and none is known.
   * Absent in logs that do not know run ids.
   */
  readonly run_id?: string | null | undefined;
  /** Trace of the run, 32 hex digits. */
  readonly trace_id?: string | undefined;
  /** Span of the run or the call, 16 hex digits. */
  readonly span_id?: string | undefined;
  /** Place in its thread, from 1. */
  readonly ordinal?: number | undefined;
}

/**
 * One line of a log of GraphEvents. `erased`: a row of our log whose payload was erased, which keeps
 * its kind and its time.
 */
export type GraphLine = RowFacts &
  (
    | { readonly form: "known"; readonly event: KnownGraphEvent }
    | { readonly form: "unknown"; readonly event: UnknownGraphEvent }
    | { readonly form: "erased"; readonly event: ErasedEvent }
  );

/**
 * Whether a line of a segment of our audit log is no row, but its header, the end of a write or an
 * archive mark. They hold no event, so that a replay passes them over.
 */
export function isControlLine(line: JsonObject): boolean {
  if (line.kind !== undefined || line.event !== undefined || line.type !== undefined) return false;
  const { archived, commit, hash, prev, rows, segment } = line;
  if (isJsonObject(archived)) return true;
  if (typeof segment === "number" && typeof prev === "string") return true;
  return typeof commit === "number" && typeof rows === "number" && typeof hash === "string";
}
