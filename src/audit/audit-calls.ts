import type { InterruptionKind, UsageLimitBreach } from "../errors/agent-error-detail.ts";
import type { ToolErrorKind } from "../errors/error-kinds.ts";
import type { Instant } from "../events/instant.ts";
import type { RowAnchor } from "./audit-row.ts";

/** The run that an audit call speaks of, and what is known beside it. */
export interface AuditScope {
  readonly tenant_id: string;
  readonly run_id: string;
  /** Default: the run's thread as far as it is known, else the run's id. */
  readonly thread_id?: string;
  /** RFC 3339 or an instant. Default: the clock, read at the call. */
  readonly timestamp?: string | Readonly<Instant>;
  /** Makes a repeated call harmless. */
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
 * What a runtime itself reports to the audit log, beside the lifecycle events: one row each.
 *
 * Nothing else writes rows of these kinds; the events `interrupted` and `failed` do not. Every call
 * resolves with the row's place, rejects with the log's error, and rejects with a TypeError naming
 * the argument that does not fit. Upstream: the trait `AuditSink` of entelix-core.
 */
export interface AuditCalls {
  /** A sub-agent was dispatched. Its own rows are in the thread `subThreadId`. */
  recordSubAgentInvoked(
    scope: AuditScope,
    agentId: string,
    subThreadId: string,
  ): Promise<RowAnchor>;

  /** A supervisor passed control on. @param from `null` on the first turn. */
  recordAgentHandoff(scope: AuditScope, from: string | null, to: string): Promise<RowAnchor>;

  /** The run paused. Called once, by the layer that saw the interrupt first. */
  recordInterrupted(
    scope: AuditScope,
    kind: InterruptionKind,
    payload: unknown,
  ): Promise<RowAnchor>;

  /** The run went on. @param fromCheckpoint empty when it began from a fresh state. */
  recordResumed(scope: ResumeScope, fromCheckpoint: string): Promise<RowAnchor>;

  /** A memory tier gave `hits` records; the records are not kept. */
  recordMemoryRecall(
    scope: AuditScope,
    tier: string,
    namespaceKey: string,
    hits: number | bigint,
  ): Promise<RowAnchor>;

  /** A budget ended the run. */
  recordUsageLimitExceeded(scope: AuditScope, breach: UsageLimitBreach): Promise<RowAnchor>;

  /** A compaction trimmed the working messages; both in characters. */
  recordContextCompacted(
    scope: AuditScope,
    droppedChars: number | bigint,
    retainedChars: number | bigint,
  ): Promise<RowAnchor>;

  /** A tool's error ended the run without asking the model. */
  recordToolErrorTerminal(
    scope: AuditScope,
    kind: ToolErrorKind,
    toolName: string,
  ): Promise<RowAnchor>;
}
