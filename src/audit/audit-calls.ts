import type { BudgetBreach, Instant, InterruptionKind, ToolErrorKind } from "../events/door.ts";
import type { RowAnchor } from "./audit-row.ts";
import type { GraphEvent } from "./wire/graph-event.ts";

/** The run that an audit call is about, and further IDs of its row. */
export interface AuditScope {
  readonly tenant_id: string;
  readonly run_id: string;
  /** Default: the thread of the run, or the run's ID if that is not known. */
  readonly thread_id?: string;
  /** RFC 3339 or an instant. Default: the clock, read at the call. */
  readonly timestamp?: string | Readonly<Instant>;
  /**
   * Makes a repeated call harmless. Default for rows that a segment of a run has once: an ID made of
   * run, segment, kind and tool call, which the row of the event has too. Other rows get none.
   */
  readonly event_id?: string;
  readonly trace_id?: string;
  readonly span_id?: string;
}

/** The scope of a resumed run. */
export interface ResumeScope extends AuditScope {
  /** The interrupted run that goes on. The spans of the two runs are linked. */
  readonly resumed_from_run_id?: string;
}

type WithoutTime<E> = E extends GraphEvent ? Omit<E, "timestamp"> : never;

/** The row of an audit call, without the time of the call. */
export type CallRow = WithoutTime<GraphEvent>;

/**
 * Calls with which a runtime reports to the audit log, in addition to the lifecycle events. Each
 * call writes one row.
 *
 * Some events write rows of these kinds too. The call and the event share one ID, and the log keeps
 * the first row.
 *
 * Every call resolves with the row's anchor. It rejects with the log's error, or with a TypeError
 * that names the wrong argument. In Rust: the trait `AuditSink` of entelix-core.
 */
export abstract class AuditCalls {
  /** @internal Writes the row of one of the calls below. */
  protected abstract recordCall(scope: AuditScope, row: CallRow): Promise<RowAnchor>;

  /** A sub-agent was dispatched. Its own rows are in the thread `subThreadId`. */
  recordSubAgentInvoked(
    scope: AuditScope,
    agentId: string,
    subThreadId: string,
  ): Promise<RowAnchor> {
    return this.recordCall(scope, {
      kind: "sub_agent_invoked",
      agent_id: agentId,
      sub_thread_id: subThreadId,
    });
  }

  /** A supervisor passed control to another agent. @param from `null` on the first turn. */
  recordAgentHandoff(scope: AuditScope, from: string | null, to: string): Promise<RowAnchor> {
    return this.recordCall(scope, { kind: "agent_handoff", from, to });
  }

  /** The run paused. Called once, by the layer that saw the interrupt first. */
  recordInterrupted(
    scope: AuditScope,
    kind: InterruptionKind,
    payload: unknown,
  ): Promise<RowAnchor> {
    // Only entries of entelix 0.5 lack the field, so the wire form does not require it.
    if (typeof kind !== "object" || kind === null) {
      return Promise.reject(new TypeError("interruption_kind: expected a JSON object"));
    }
    return this.recordCall(scope, {
      kind: "interrupt",
      interruption_kind: kind,
      payload: payload === undefined ? null : payload,
    });
  }

  /** The run resumed. @param fromCheckpoint empty when it began from a fresh state. */
  recordResumed(scope: ResumeScope, fromCheckpoint: string): Promise<RowAnchor> {
    return this.recordCall(scope, { kind: "resumed", from_checkpoint: fromCheckpoint });
  }

  /** A memory tier returned `hits` records. The row does not contain the records. */
  recordMemoryRecall(
    scope: AuditScope,
    tier: string,
    namespaceKey: string,
    hits: number | bigint,
  ): Promise<RowAnchor> {
    return this.recordCall(scope, {
      kind: "memory_recall",
      tier,
      namespace_key: namespaceKey,
      hits,
    });
  }

  /** A budget ended the run. */
  recordUsageLimitExceeded(scope: AuditScope, breach: BudgetBreach): Promise<RowAnchor> {
    return this.recordCall(scope, { kind: "usage_limit_exceeded", breach });
  }

  /** A compaction trimmed the working messages. Both figures are characters. */
  recordContextCompacted(
    scope: AuditScope,
    droppedChars: number | bigint,
    retainedChars: number | bigint,
  ): Promise<RowAnchor> {
    return this.recordCall(scope, {
      kind: "context_compacted",
      dropped_chars: droppedChars,
      retained_chars: retainedChars,
    });
  }

  /** A tool's error ended the run, and the model was not asked. */
  recordToolErrorTerminal(
    scope: AuditScope,
    kind: ToolErrorKind,
    toolName: string,
  ): Promise<RowAnchor> {
    return this.recordCall(scope, {
      kind: "tool_error_terminal",
      error_kind: kind,
      tool_name: toolName,
    });
  }
}
