import { canonicalRunId, hashedUuid } from "../events/door.ts";
import type { KnownGraphEvent } from "./wire/graph-event.ts";

/** A segment of a run. Rows with derived IDs belong to one. */
export interface RowSegment {
  readonly tenantId: string;
  readonly runId: string;
  /** From 1. */
  readonly segment: number;
}

/**
 * The ID of a row that both a call of the runtime and an event may write, so that the log keeps only the first. It is
 * a UUID, which stores remember in little memory.
 *
 * @param call the tool call of the row. Empty for a row about the run.
 */
export function derivedRowId(of: RowSegment, kind: string, call = ""): string {
  const run = canonicalRunId(of.runId);
  return hashedUuid(`row\0${of.tenantId}\0${run}\0${of.segment}\0${kind}\0${call}`);
}

/**
 * The derived ID of a row whose kind a segment has once: its pause, its resumption, its failure. `undefined` for
 * other kinds.
 */
export function idInSegment(of: RowSegment, event: KnownGraphEvent): string | undefined {
  switch (event.kind) {
    case "interrupt": {
      const { interruption_kind: kind } = event;
      // Several calls may wait for approval at the same time.
      const call = kind?.type === "approval_pending" ? kind.tool_use_id : "";
      return derivedRowId(of, event.kind, call);
    }
    case "resumed":
    case "cancelled":
    case "usage_limit_exceeded":
    case "tool_error_terminal":
    case "error":
      return derivedRowId(of, event.kind);
    default:
      return undefined;
  }
}
