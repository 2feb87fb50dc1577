import type { ErasedEvent, KnownGraphEvent, UnknownGraphEvent } from "../../../audit/door.ts";
import { isJsonObject, type JsonObject } from "../dialect.ts";

/** The fields of an audit row beside its event. */
export interface RowFacts {
  /** The run of the row. `null` if the row has the field but its run is unknown. Absent in logs without run IDs. */
  readonly run_id?: string | null | undefined;
  /** Trace of the run, 32 hex digits. */
  readonly trace_id?: string | undefined;
  /** Span of the run or the call, 16 hex digits. */
  readonly span_id?: string | undefined;
  /** Number of the row in its thread, from 1. */
  readonly ordinal?: number | undefined;
}

/**
 * One line of a log of GraphEvents. `erased`: a row of our log whose payload was erased. It keeps its kind and time.
 */
export type GraphLine = RowFacts &
  (
    | { readonly form: "known"; readonly event: KnownGraphEvent }
    | { readonly form: "unknown"; readonly event: UnknownGraphEvent }
    | { readonly form: "erased"; readonly event: ErasedEvent }
  );

/** Whether a line of our audit log is a header, a commit or an archive mark. Such lines contain no event. */
export function isControlLine(line: JsonObject): boolean {
  if (line.kind !== undefined || line.event !== undefined || line.type !== undefined) return false;
  const { archived, commit, hash, prev, rows, segment } = line;
  if (isJsonObject(archived)) return true;
  if (typeof segment === "number" && typeof prev === "string") return true;
  return typeof commit === "number" && typeof rows === "number" && typeof hash === "string";
}
