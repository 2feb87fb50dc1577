import type { AgentEvent } from "../../events/agent-event.ts";
import { eventIn } from "../decode-line.ts";
import {
  type Decoded,
  type DecodeIssue,
  EVENT_RANK,
  type EventRank,
  type JsonObject,
  type RejectedEvent,
} from "../dialect.ts";
import { readLineEnvelope } from "../line-envelope.ts";
import {
  isComplete,
  isFailed,
  isInterrupted,
  isStarted,
  isToolCallApproved,
  isToolCallDenied,
  isToolComplete,
  isToolError,
  isToolStart,
} from "./event-checks.ts";
import { withKnownValues } from "./known-values.ts";
import { isModelComplete, isModelError, isModelStart } from "./model-checks.ts";

/**
 * Checks one line of entelix events: the flat envelope `{"timestamp":…,"type":…,…fields}` of either
 * crate version (0.6.x, and 0.5.x without `kind` and `interrupted`), or the event nested as
 * `{…envelope,"event":{"type":…}}`. The event in the result is the given object itself, unless a
 * value had to be replaced. Never throws.
 *
 * @example
 * const decoded = decodeEntelix(line);
 * if (decoded.outcome === "event") sink.send(decoded.event, decoded.envelope);
 */
export function decodeEntelix(value: JsonObject): Decoded<AgentEvent> {
  return decodeParts(eventIn(value), value);
}

function decodeParts(fields: JsonObject, line: JsonObject): Decoded<AgentEvent> {
  if (typeof fields.type !== "string") {
    return rejected([{ field: "type", expected: 'an event type such as "started"' }]);
  }
  const issues: DecodeIssue[] = [];
  const unknownValues: string[] = [];
  const event = checkEvent(withKnownValues(fields, unknownValues), issues);
  if (event === "unknown") return { outcome: "unknown", unknown: fields.type, value: line };
  const all = fields === line ? issues : issues.map(insideEvent);
  const envelope = readLineEnvelope(line, all);
  if (event === undefined || envelope === undefined) return rejected(all);
  return { outcome: "event", event, envelope, rank: rankOf(event), unknownValues };
}

/** `undefined` when something is wrong with the event. */
function checkEvent(value: JsonObject, issues: DecodeIssue[]): AgentEvent | "unknown" | undefined {
  switch (value.type) {
    case "started":
      return isStarted(value, issues) ? value : undefined;
    case "tool_start":
      return isToolStart(value, issues) ? value : undefined;
    case "tool_complete":
      return isToolComplete(value, issues) ? value : undefined;
    case "tool_error":
      return isToolError(value, issues) ? value : undefined;
    case "tool_call_approved":
      return isToolCallApproved(value, issues) ? value : undefined;
    case "tool_call_denied":
      return isToolCallDenied(value, issues) ? value : undefined;
    case "complete":
      return isComplete(value, issues) ? value : undefined;
    case "failed":
      return isFailed(value, issues) ? value : undefined;
    case "interrupted":
      return isInterrupted(value, issues) ? value : undefined;
    case "model_start":
      return isModelStart(value, issues) ? value : undefined;
    case "model_complete":
      return isModelComplete(value, issues) ? value : undefined;
    case "model_error":
      return isModelError(value, issues) ? value : undefined;
    default:
      return "unknown";
  }
}

function rankOf(event: AgentEvent): EventRank {
  switch (event.type) {
    case "started":
      return EVENT_RANK.runOpens;
    case "tool_call_approved":
    case "tool_call_denied":
      return EVENT_RANK.decision;
    case "tool_start":
    case "model_start":
      return EVENT_RANK.callOpens;
    case "tool_complete":
    case "tool_error":
    case "model_complete":
    case "model_error":
      return EVENT_RANK.callCloses;
    case "complete":
    case "failed":
    case "interrupted":
      return EVENT_RANK.runCloses;
    default:
      return event satisfies never;
  }
}

function insideEvent(issue: DecodeIssue): DecodeIssue {
  return { field: `event.${issue.field}`, expected: issue.expected };
}

function rejected(issues: readonly DecodeIssue[]): RejectedEvent {
  return { outcome: "rejected", issues };
}
