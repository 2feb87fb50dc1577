import type { BudgetBreach, Instant, InterruptionKind, ToolErrorKind } from "../events/door.ts";
import type { RowAnchor } from "./audit-row.ts";
import type { GraphEvent } from "./wire/graph-event.ts";

/** The run that an audit call speaks of, and what is known beside it. */
export interface AuditScope {
  readonly tenant_id: string;
  readonly run_id: string;
  /** Default: the run's thread as far as it is known, else the run's id. */
  readonly thread_id?: string;
  /** RFC 3339 or an instant. Default: the clock, read at the call. */
  readonly timestamp?: string | Readonly<Instant>;
  /**
   * Makes a repeated call harmless. Default: of what a segment of a run has once, an id made of run,
   * segment, kind and call, which the row of the event has too; none of the others.
   */
  readonly event_id?: string;
  readonly trace_id?: string;
  readonly span_id?: string;
}

/** The scope of a resumed run. */
export interface ResumeScope extends AuditScope {
  /** The interrupted run that goes on: evidence for the link between the two runs' spans. */
  readonly resumed_from_run_id?: string;
}

/**
 * Calls with which a runtime reports to the audit log, in addition to the lifecycle events. Each
 * call writes one row.
 *
 * Events leave rows of some of these kinds too: the call and the event share one id, and the log keeps
 * the first row. Every
 * call resolves with the row's anchor. It rejects with the log's error, or with a TypeError that
 * names the wrong argument. Upstream: the trait `AuditSink` of entelix-core.
 */
export abstract class AuditCalls {
  /** @internal Writes the row of one of the calls below. @param build makes it, with its time in UTC. */
  protected abstract recordCall(
    scope: AuditScope,
    build: (timestamp: string) => GraphEvent,
  ): Promise<RowAnchor>;

  /** A sub-agent was dispatched. Its own rows are in the thread `subThreadId`. */
  recordSubAgentInvoked(
    scope: AuditScope,
    agentId: string,
    subThreadId: string,
  ): Promise<RowAnchor> {
    return this.recordCall(scope, (timestamp) => ({
      kind: "sub_agent_invoked",
      agent_id: agentId,
      sub_thread_id: subThreadId,
      timestamp,
    }));
  }

  /** A supervisor passed control on. @param from `null` on the first turn. */
  recordAgentHandoff(scope: AuditScope, from: string | null, to: string): Promise<RowAnchor> {
    return this.recordCall(scope, (timestamp) => ({ kind: "agent_handoff", from, to, timestamp }));
  }

  /** The run paused. Called once, by the layer that saw the interrupt first. */
  recordInterrupted(
    scope: AuditScope,
    kind: InterruptionKind,
    payload: unknown,
  ): Promise<RowAnchor> {
    // The wire lets it be missing, for entries of entelix 0.5; a new one says it.
    if (typeof kind !== "object" || kind === null) {
      return Promise.reject(new TypeError("interruption_kind: expected a JSON object"));
    }
    return this.recordCall(scope, (timestamp) => ({
      kind: "interrupt",
      interruption_kind: kind,
      payload: payload === undefined ? null : payload,
      timestamp,
    }));
  }

  /** The run went on. @param fromCheckpoint empty when it began from a fresh state. */
  recordResumed(scope: ResumeScope, fromCheckpoint: string): Promise<RowAnchor> {
    return this.recordCall(scope, (timestamp) => ({
      kind: "resumed",
      from_checkpoint: fromCheckpoint,
      timestamp,
    }));
  }

  /** A memory tier gave `hits` records; the records are not kept. */
  recordMemoryRecall(
    scope: AuditScope,
    tier: string,
    namespaceKey: string,
    hits: number | bigint,
  ): Promise<RowAnchor> {
    return this.recordCall(scope, (timestamp) => ({
      kind: "memory_recall",
      tier,
      namespace_key: namespaceKey,
      hits,
      timestamp,
    }));
  }

  /** A budget ended the run. */
  recordUsageLimitExceeded(scope: AuditScope, breach: BudgetBreach): Promise<RowAnchor> {
    return this.recordCall(scope, (timestamp) => ({
      kind: "usage_limit_exceeded",
      breach,
      timestamp,
    }));
  }

  /** A compaction trimmed the working messages; both in characters. */
  recordContextCompacted(
    scope: AuditScope,
    droppedChars: number | bigint,
    retainedChars: number | bigint,
  ): Promise<RowAnchor> {
    return this.recordCall(scope, (timestamp) => ({
      kind: "context_compacted",
      dropped_chars: droppedChars,
      retained_chars: retainedChars,
      timestamp,
    }));
  }

  /** A tool's error ended the run without asking the model. */
  recordToolErrorTerminal(
    scope: AuditScope,
    kind: ToolErrorKind,
    toolName: string,
  ): Promise<RowAnchor> {
    return this.recordCall(scope, (timestamp) => ({
      kind: "tool_error_terminal",
      error_kind: kind,
      tool_name: toolName,
      timestamp,
    }));
  }
}
