import type {
  Cancelled,
  ErrorRecorded,
  GraphEventKind,
  Interrupt,
  RunEnded,
  ToolErrorTerminal,
  UsageLimitExceeded,
} from "../../../audit/door.ts";
import {
  type ErrorEnvelope,
  FAILURE_KIND_IDS,
  type FailureKind,
  type FailureKindId,
  type RunEnd,
  type SignalAttributes,
} from "../../../events/door.ts";

/** The outcome of a row that ends a run. `by_class`: the row's `class` decides. */
export type LogEnd = "interrupted" | FailureKindId | "by_class";

/** Every kind of row that ends a run, unless the run continues. */
export const TERMINALS = {
  interrupt: "interrupted",
  cancelled: "cancelled",
  usage_limit_exceeded: "usage_limit_exceeded",
  tool_error_terminal: "tool_error_terminal",
  error: "by_class",
} as const satisfies Partial<Record<GraphEventKind, LogEnd>>;

/**
 * Classes of `error` rows: entelix's names for variants of its error, with the classifier's result for them, and
 * reasons of agent-sdk errors, as that dialect reads them. Other classes are `unclassified`.
 */
const ERROR_CLASSES: ReadonlyMap<string, "interrupted" | FailureKindId> = new Map([
  ["provider", "model_dispatch"],
  ["transport", "model_dispatch"],
  ["auth", "model_dispatch"],
  ["invalid_request", "internal"],
  ["config", "internal"],
  ["serde", "internal"],
  ["model_retry", "model_dispatch"],
  ["usage_limit_exceeded", "usage_limit_exceeded"],
  ["cancelled", "cancelled"],
  ["deadline_exceeded", "deadline_exceeded"],
  ["interrupted", "interrupted"],
  ["user_cancel", "cancelled"],
  ["parent_cancelled", "cancelled"],
  ["budget", "usage_limit_exceeded"],
  ["internal_error", "internal"],
  // Classes of this package: failure kinds without a row kind of their own.
  ["model_dispatch", "model_dispatch"],
  ["internal", "internal"],
]);

/** The known classes of `error` rows and their outcomes, for the documentation. */
export const KNOWN_ERROR_CLASSES: Iterable<readonly [string, string]> = ERROR_CLASSES;

/** The outcome of a run whose last row is an error of this class. */
export function endOfClass(errorClass: string): "interrupted" | FailureKindId {
  return ERROR_CLASSES.get(errorClass) ?? "unclassified";
}

/** The envelope of cancellations. */
export const CANCELLED: ErrorEnvelope = { wire_code: "cancelled", wire_class: "client" };

/** Envelopes of failures that always have the same one in entelix. */
export const ENVELOPES: Readonly<Partial<Record<FailureKindId, ErrorEnvelope>>> = {
  cancelled: CANCELLED,
  usage_limit_exceeded: { wire_code: "quota_exceeded", wire_class: "client" },
  deadline_exceeded: { wire_code: "deadline_exceeded", wire_class: "server" },
};

/** Result that entelix gives the model for a tool that raised an interrupt: a pause, not an error. */
export const PAUSED_TEXT = "awaiting human review";

/** A row that may be the last of its run. */
export type TerminalRow =
  | Interrupt
  | Cancelled
  | UsageLimitExceeded
  | ToolErrorTerminal
  | ErrorRecorded;

/** The end of a run whose last row is this one. */
export function endOf(row: TerminalRow): RunEnd {
  switch (row.kind) {
    case "interrupt":
      return {
        outcome: "interrupted",
        kind: row.interruption_kind ?? undefined,
        content: row.payload,
      };
    case "cancelled":
      return failed({ type: "cancelled" }, row.reason);
    case "usage_limit_exceeded": {
      const { axis, limit, observed } = row.breach;
      const attributes: SignalAttributes = {
        "entelix.breach.axis": axis,
        "entelix.breach.limit": String(limit),
        "entelix.breach.observed": String(observed),
      };
      const message = `${axis}: observed ${observed}, limit ${limit}`;
      return failed({ type: "usage_limit_exceeded" }, message, attributes);
    }
    case "tool_error_terminal": {
      const { error_kind, tool_name } = row;
      return failed({ type: "tool_error_terminal", kind: error_kind, tool_name }, "");
    }
    case "error": {
      const end = endOfClass(row.class);
      return end === "interrupted"
        ? { outcome: "interrupted", message: row.message }
        : failed(plainKind(end), row.message);
    }
    default:
      return row satisfies never;
  }
}

/**
 * The end of a run as its log states it.
 *
 * @param before the end from an earlier row. It has more details if it is the same end.
 */
export function statedEnd(row: RunEnded, before: RunEnd | undefined): RunEnd {
  const end = endStated(row, before);
  const { usage } = row;
  return usage === undefined ? end : { ...end, usage };
}

function endStated(row: RunEnded, before: RunEnd | undefined): RunEnd {
  const { failure_kind, origin, outcome } = row;
  switch (outcome) {
    case "complete":
    case "refused":
      return { outcome };
    case "interrupted":
      return before?.outcome === "interrupted" ? before : { outcome };
    case "failed": {
      const same = before?.outcome === "failed" && before.kind.type === failure_kind;
      const end = same ? before : failed(statedKind(failure_kind), "");
      if (origin === undefined) return end;
      const attributes: SignalAttributes = { "entelix.failure.origin": origin };
      return { ...end, attributes: { ...end.attributes, ...attributes } };
    }
    default:
      return outcome satisfies never;
  }
}

function statedKind(id: string | undefined): FailureKind {
  const known = FAILURE_KIND_IDS.find((each) => each === id);
  return plainKind(known ?? "unclassified");
}

/** The end of a run whose failure only its caller reports. */
export const FAILED_UNSEEN: RunEnd = failed({ type: "unclassified" }, "");

function failed(kind: FailureKind, message: string, attributes?: SignalAttributes): RunEnd {
  return { outcome: "failed", kind, message, envelope: ENVELOPES[kind.type], attributes };
}

/** A class has no tool name and kind. Tool failures have rows of their own. */
function plainKind(id: FailureKindId): FailureKind {
  return id === "tool_error_terminal" ? { type: "unclassified" } : { type: id };
}
