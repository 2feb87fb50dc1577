import type {
  AgentHandoff,
  BranchCreated,
  CheckpointMarker,
  ContextCompacted,
  ErrorRecorded,
  MemoryRecall,
  ModelUsage,
  ModelWarning,
  RateLimit,
  ToolCallDecided,
  Warning,
} from "../../../audit/door.ts";
import {
  type AttributeName,
  type DecisionDetails,
  type OwnAttributes,
  type SignalAttributes,
  usageAttributes,
} from "../../../events/door.ts";

/** A row that becomes a span event. */
export type PointRow =
  | AgentHandoff
  | BranchCreated
  | CheckpointMarker
  | ContextCompacted
  | ErrorRecorded
  | MemoryRecall
  | RateLimit
  | Warning;

/** A span event, and the attribute of the run that counts such events. */
export interface Point {
  readonly name: string;
  readonly attributes: SignalAttributes;
  readonly count?: AttributeName;
}

/** The span event of a row. */
export function pointOf(row: PointRow): Point {
  switch (row.kind) {
    case "agent_handoff":
      return {
        name: "entelix.handoff",
        attributes: { "entelix.handoff.from": row.from ?? undefined, "entelix.handoff.to": row.to },
        count: "entelix.handoff.count",
      };
    case "branch_created":
      return {
        name: "entelix.branch",
        attributes: {
          "entelix.branch.id": row.branch_id,
          "entelix.branch.parent_event": Number(row.parent_event),
        },
      };
    case "checkpoint_marker":
      return {
        name: "entelix.checkpoint",
        attributes: {
          "entelix.checkpoint.id": row.checkpoint_id,
          "entelix.checkpoint.thread_id": row.thread_id,
        },
      };
    case "context_compacted":
      return {
        name: "entelix.context_compacted",
        attributes: {
          "entelix.compaction.dropped_chars": Number(row.dropped_chars),
          "entelix.compaction.retained_chars": Number(row.retained_chars),
        },
        count: "entelix.compaction.count",
      };
    case "error":
      return {
        name: "entelix.error",
        attributes: { "entelix.error.class": row.class, "entelix.error.message": row.message },
        count: "entelix.error.count",
      };
    case "memory_recall":
      return {
        name: "entelix.memory_recall",
        attributes: {
          "entelix.memory_recall.tier": row.tier,
          "entelix.memory_recall.namespace": row.namespace_key,
          "entelix.memory_recall.hits": Number(row.hits),
        },
        count: "entelix.memory_recall.count",
      };
    case "rate_limit":
      return {
        name: "entelix.rate_limit",
        attributes: rateLimitAttributes(row.snapshot),
        count: "entelix.rate_limit.count",
      };
    case "warning":
      return {
        name: "entelix.warning",
        attributes: warningAttributes(row.warning),
        count: "entelix.warning.count",
      };
    default:
      return row satisfies never;
  }
}

function rateLimitAttributes(snapshot: RateLimit["snapshot"]): SignalAttributes {
  const { requests_remaining, requests_reset_at, tokens_remaining, tokens_reset_at } = snapshot;
  return {
    "entelix.rate_limit.requests_remaining": numberIn(requests_remaining),
    "entelix.rate_limit.tokens_remaining": numberIn(tokens_remaining),
    "entelix.rate_limit.requests_reset_at": requests_reset_at ?? undefined,
    "entelix.rate_limit.tokens_reset_at": tokens_reset_at ?? undefined,
  };
}

function warningAttributes(warning: ModelWarning): SignalAttributes {
  const { kind } = warning;
  const named = (subject: string, detail?: string): SignalAttributes => ({
    "entelix.warning.kind": kind,
    "entelix.warning.subject": subject,
    "entelix.warning.detail": detail,
  });
  switch (warning.kind) {
    case "lossy_encode":
      return named(warning.field, warning.detail);
    case "unknown_stop_reason":
      return named(warning.raw);
    case "unsupported_capability":
      return named(warning.capability, warning.detail);
    case "provider_extension_ignored":
      return named(warning.vendor);
    default:
      return warning satisfies never;
  }
}

/**
 * The tokens of one model call as the provider counted them. Providers differ in whether input tokens include cached
 * ones, and the log does not name the provider.
 */
export function tokensOf(usage: ModelUsage | null | undefined): OwnAttributes {
  if (usage === null || usage === undefined) return {};
  return usageAttributes({
    input_tokens: usage.input_tokens,
    output_tokens: usage.output_tokens,
    cache_read_input_tokens: usage.cached_input_tokens || null,
    cache_write_input_tokens: usage.cache_creation_input_tokens || null,
    reasoning_output_tokens: usage.reasoning_tokens || null,
  });
}

/** Spans have no bigint. Beyond 2^53 the span has the nearest number, and the row the exact one. */
function numberIn(value: number | bigint | null | undefined): number | undefined {
  return value === null || value === undefined ? undefined : Number(value);
}

/** A decision in the form of signals, without absent fields. */
export function decisionIn(row: ToolCallDecided): DecisionDetails {
  const { by, decision: outcome, person, proposed_input, reason, wait_ms } = row;
  return {
    outcome,
    ...(by === undefined ? {} : { by }),
    ...(person === undefined ? {} : { person }),
    ...(reason === undefined ? {} : { reason }),
    ...(wait_ms === undefined ? {} : { wait_ms }),
    ...(proposed_input === undefined ? {} : { proposed_input }),
  };
}
