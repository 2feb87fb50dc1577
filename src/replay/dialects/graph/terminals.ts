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

/** What a row that ends a run makes of it. `by_class`: the row's `class` decides. */
export type LogEnd = "interrupted" | FailureKindId | "by_class";

/** Every kind of row that ends a run, if the run does not go on. */
export const TERMINALS = {
  interrupt: "interrupted",
  cancelled: "cancelled",
  usage_limit_exceeded: "usage_limit_exceeded",
  tool_error_terminal: "tool_error_terminal",
  error: "by_class",
} as const satisfies Partial<Record<GraphEventKind, LogEnd>>;

/**
 * The classes of an `error` row, named as upstream names the variants of its error, by what the
 * classifier makes of that variant; and the reasons of agent-sdk's errors, which their rows keep, by what
 * that dialect makes of them. Every other class is `unclassified`.
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
  // Ours: the failure kind itself, where no other kind of row has a place for it.
  ["model_dispatch", "model_dispatch"],
  ["internal", "internal"],
]);

/** The known classes of `error` rows with what they mean, for the documentation. */
export const KNOWN_ERROR_CLASSES: Iterable<readonly [string, string]> = ERROR_CLASSES;

/** How a run ends whose last word is an error of this class. */
export function endOfClass(errorClass: string): "interrupted" | FailureKindId {
  return ERROR_CLASSES.get(errorClass) ?? "unclassified";
}

/** The envelope of what somebody called off. */
export const CANCELLED: ErrorEnvelope = { wire_code: "cancelled", wire_class: "client" };

/** The envelopes of failures that upstream always reports with the same one. */
export const ENVELOPES: Readonly<Partial<Record<FailureKindId, ErrorEnvelope>>> = {
  cancelled: CANCELLED,
  usage_limit_exceeded: { wire_code: "quota_exceeded", wire_class: "client" },
  deadline_exceeded: { wire_code: "deadline_exceeded", wire_class: "server" },
};

/** What upstream tells the model of a tool that raised an interrupt: a pause, not an error. */
export const PAUSED_TEXT = "awaiting human review";

/** A row that may be the last word of its run. */
export type TerminalRow =
  | Interrupt
  | Cancelled
  | UsageLimitExceeded
  | ToolErrorTerminal
  | ErrorRecorded;

/** How a run ended, if this row is its last word. */
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
 * How a run ended whose log tells it.
 *
 * @param before what an earlier row said of it: more, where it is the same end.
 */
export function endTold(row: RunEnded, before: RunEnd | undefined): RunEnd {
  const { failure_kind, origin, outcome } = row;
  switch (outcome) {
    case "complete":
    case "refused":
      return { outcome };
    case "interrupted":
      return before?.outcome === "interrupted" ? before : { outcome };
    case "failed": {
      const same = before?.outcome === "failed" && before.kind.type === failure_kind;
      const end = same ? before : failed(kindTold(failure_kind), "");
      if (origin === undefined) return end;
      const attributes: SignalAttributes = { "entelix.failure.origin": origin };
      return { ...end, attributes: { ...end.attributes, ...attributes } };
    }
    default:
      return outcome satisfies never;
  }
}

function kindTold(id: string | undefined): FailureKind {
  const known = FAILURE_KIND_IDS.find((each) => each === id);
  return plainKind(known ?? "unclassified");
}

/** A run of which only its caller says that it failed. */
export const FAILED_UNSEEN: RunEnd = failed({ type: "unclassified" }, "");

function failed(kind: FailureKind, message: string, attributes?: SignalAttributes): RunEnd {
  return { outcome: "failed", kind, message, envelope: ENVELOPES[kind.type], attributes };
}

/** A class never says which tool failed, and how: that has a row of its own. */
function plainKind(id: FailureKindId): FailureKind {
  return id === "tool_error_terminal" ? { type: "unclassified" } : { type: id };
}
