import { canonicalRunId, hashedUuid } from "../events/door.ts";
import type { KnownGraphEvent } from "./wire/graph-event.ts";

/** A segment of a run: what a row with a derived id belongs to. */
export interface RowSegment {
  readonly tenantId: string;
  readonly runId: string;
  /** From 1. */
  readonly segment: number;
}

/**
 * The id of a row that a call of the runtime and an event may both ask for, so that the log keeps the
 * first of them. A UUID: stores remember those in little memory.
 *
 * @param call the tool call that the row is about; empty where it is about the run.
 */
export function derivedRowId(of: RowSegment, kind: string, call = ""): string {
  const run = canonicalRunId(of.runId);
  return hashedUuid(`row\0${of.tenantId}\0${run}\0${of.segment}\0${kind}\0${call}`);
}

/**
 * The derived id of a row, for the kinds that a segment has once: its pause, its resumption, its failure.
 * `undefined` for kinds that it may have any number of.
 */
export function idInSegment(of: RowSegment, event: KnownGraphEvent): string | undefined {
  switch (event.kind) {
    case "interrupt": {
      const { interruption_kind: kind } = event;
      // Several calls may wait for approval at once.
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
