import {
  type AgentEvent,
  breachForm,
  type CallCounts,
  type CallTrail,
  canonicalRunId,
  checkArgument,
  checkOneOf,
  degradedTools,
  type EventDetails,
  FAILURE_ORIGINS,
  type Instant,
  inUtc,
  loopOf,
  oneOf,
  type RunEnd,
  type Signal,
  type SignalOf,
  type SignalSubject,
  TOOL_ERROR_KINDS,
  textIn,
  wireWord,
} from "../events/door.ts";
import { derivedRowId, idInSegment, type RowSegment } from "./event-ids.ts";
import { newestQuestion } from "./newest-question.ts";
import { rowUsage } from "./row-usage.ts";
import type { GraphEvent, KnownGraphEvent } from "./wire/graph-event.ts";
import { graphEventForm, interruptionKindForm } from "./wire/graph-event-form.ts";
import type { RunEnded, RunStarted, ToolCallDecided } from "./wire/own-event.ts";

/** Data about a run beside the signal. An absent count is unknown. */
export interface RunFacts extends Partial<Record<keyof CallCounts, number | undefined>> {
  /** The segment of the signal, from 1. */
  readonly segment: number;
  readonly resumedFromRunId?: string | undefined;
  /** The parent's call that dispatched it. */
  readonly parentCallId?: string | undefined;
  /** The part of the counts that belongs to earlier segments. */
  readonly before?: CallCounts | undefined;
  /** The trail of the tool calls in the segment. */
  readonly callTrail?: CallTrail;
}

/** Data of the event beside its signal. */
export interface EventFacts {
  /** The ID of rows without a derived ID, with a suffix. */
  readonly event_id?: string | null | undefined;
  /** The event was sent without an ID, and `event_id` was derived for its rows. */
  readonly unnamed?: boolean | undefined;
  /** No other event can have that ID. */
  readonly is_new?: boolean | undefined;
  readonly session_id?: string | null | undefined;
  readonly details?: EventDetails | undefined;
}

/** A row to append. */
export interface SignalRow {
  readonly event: KnownGraphEvent;
  readonly event_id: string | null;
  readonly is_new?: boolean | undefined;
}

/** A row of one of entelix's kinds, and the kind from which its ID is made. */
interface OwnWord {
  readonly event: GraphEvent;
  readonly kind: GraphEvent["kind"];
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };

const NONE: readonly SignalRow[] = [];
const NO_CALLS: CallCounts = { toolCalls: 0, toolErrors: 0, approvedCalls: 0, deniedCalls: 0 };
const toolErrorKind = oneOf(TOOL_ERROR_KINDS);
const failureOrigin = oneOf(FAILURE_ORIGINS);

/**
 * The rows of a signal that was applied: of the start of a run, of its end, and of a decision about a call. Other
 * signals leave none here. The rows of a tool call come from `toGraphEvent`.
 *
 * An assumed end and an abandoned run leave none, because their end is unknown. No row contains operator text.
 *
 * @param timestamp in UTC.
 */
export function signalRows(
  signal: Signal,
  run: RunFacts,
  event: EventFacts,
  timestamp: string,
): readonly SignalRow[] {
  switch (signal.signal) {
    case "run_opens":
      return startRows(signal, run, event, timestamp);
    case "run_closes":
      return signal.supposed === true ? NONE : endRows(signal, run, event, timestamp);
    case "call_approved":
    case "call_denied":
      return [ownRow(decisionOf(signal, timestamp), event, "decision")];
    default:
      return NONE;
  }
}

/** Whether a signal may leave rows here. */
export function leavesRows({ signal }: Signal): boolean {
  return (
    signal === "run_opens" ||
    signal === "run_closes" ||
    signal === "call_approved" ||
    signal === "call_denied"
  );
}

function startRows(
  signal: SignalOf<"run_opens">,
  run: RunFacts,
  event: EventFacts,
  timestamp: string,
): readonly SignalRow[] {
  const { agent, runId } = signal;
  const resumedFrom = otherRun(runId, run.resumedFromRunId);
  const row: Writable<RunStarted> = { kind: "entelix.run_started", timestamp };
  if (agent !== undefined) row.agent = agent;
  const parent = otherRun(runId, signal.parentRunId);
  if (parent !== undefined) row.parent_run_id = parent;
  const call = signal.parentCallId ?? run.parentCallId;
  if (parent !== undefined && call) row.parent_tool_use_id = call;
  const handoffFrom = textIn(event.details?.handoff_from);
  if (handoffFrom) row.handoff_from = handoffFrom;
  if (resumedFrom !== undefined) row.resumed_from_run_id = resumedFrom;
  if (run.segment > 1) row.segment = run.segment;
  const user = textIn(event.details?.user_id);
  if (user) row.user_id = user;
  const session = textIn(event.session_id);
  if (session) row.session_id = session;
  addQuestion(row, event);
  const start: SignalRow = ownRow(row, event, "start");
  if (resumedFrom === undefined && run.segment === 1) return [start];
  const resumed: GraphEvent = { kind: "resumed", from_checkpoint: "", timestamp };
  return [start, { event: resumed, event_id: derivedRowId(segmentOf(signal, run), "resumed") }];
}

function endRows(
  signal: SignalOf<"run_closes">,
  run: RunFacts,
  event: EventFacts,
  timestamp: string,
): readonly SignalRow[] {
  const { end } = signal;
  if (end.outcome === "abandoned") return NONE;
  const row: Writable<RunEnded> = { kind: "entelix.run_ended", outcome: end.outcome, timestamp };
  if (end.outcome === "failed") {
    row.failure_kind = wireWord(end.kind.type) ?? "unclassified";
    const origin = end.envelope?.origin;
    if (failureOrigin.fits(origin)) row.origin = origin;
    if (end.kind.type === "tool_error_terminal") {
      const tool = textIn(end.kind.tool_name);
      if (tool !== undefined) row.tool_name = tool;
    }
  }
  const { approvedCalls, before = NO_CALLS, deniedCalls, toolCalls, toolErrors } = run;
  // Only of this segment: another process may know the other segments and must write the same row.
  if (toolCalls !== undefined) row.tool_calls = toolCalls - before.toolCalls;
  if (toolErrors !== undefined) row.tool_errors = toolErrors - before.toolErrors;
  if (approvedCalls !== undefined) row.approved_calls = approvedCalls - before.approvedCalls;
  if (deniedCalls !== undefined) row.denied_calls = deniedCalls - before.deniedCalls;
  const degraded = degradedTools({ outcome: end.outcome, callTrail: run.callTrail });
  if (degraded.length > 0) row.degraded = degraded;
  const loop = loopOf(run.callTrail);
  if (loop !== undefined) row.loop = loop.kind;
  const usage = rowUsage(end.usage);
  if (usage !== undefined) row.usage = usage;
  addQuestion(row, event);
  const ended: SignalRow = ownRow(row, event, "end");
  const segment = segmentOf(signal, run);
  if (end.outcome === "interrupted") {
    const pause = pauseOf(end, timestamp);
    return [{ event: pause, event_id: idInSegment(segment, pause) ?? null }, ended];
  }
  if (end.outcome !== "failed") return [ended];
  const failure = failureOf(end, timestamp);
  return [{ event: failure.event, event_id: derivedRowId(segment, failure.kind) }, ended];
}

function pauseOf(end: RunEnd & { readonly outcome: "interrupted" }, timestamp: string): GraphEvent {
  const { content } = end;
  const payload = content === undefined ? null : content;
  // Read once: the log reads it later, and an object of the sender may throw then.
  const kind = { ...end.kind };
  // A kind that entelix does not know could not be read back.
  if (!interruptionKindForm.fits(kind)) return { kind: "interrupt", payload, timestamp };
  return { kind: "interrupt", interruption_kind: kind, payload, timestamp };
}

/** entelix's kind for a failure. If a required field is unknown, it is an `error` of that class. */
function failureOf(end: RunEnd & { readonly outcome: "failed" }, timestamp: string): OwnWord {
  const { envelope, kind } = end;
  const type = wireWord(kind.type) ?? "unclassified";
  const code = wireWord(envelope?.wire_code) ?? type;
  const error: GraphEvent = { kind: "error", class: type, message: code, timestamp };
  switch (kind.type) {
    case "cancelled":
      return { event: { kind: "cancelled", reason: code, timestamp }, kind: "cancelled" };
    case "usage_limit_exceeded": {
      const breach = { ...envelope?.breach };
      if (!breachForm.fits(breach)) return { event: error, kind: "usage_limit_exceeded" };
      const event: GraphEvent = { kind: "usage_limit_exceeded", breach, timestamp };
      return { event, kind: event.kind };
    }
    case "tool_error_terminal": {
      const { kind: error_kind, tool_name } = kind;
      if (!toolErrorKind.fits(error_kind) || typeof tool_name !== "string") {
        return { event: error, kind: "tool_error_terminal" };
      }
      const event: GraphEvent = { kind: "tool_error_terminal", error_kind, tool_name, timestamp };
      return { event, kind: event.kind };
    }
    default:
      return { event: error, kind: "error" };
  }
}

function decisionOf(
  signal: SignalOf<"call_approved"> | SignalOf<"call_denied">,
  timestamp: string,
): ToolCallDecided {
  const { callId, decision, name } = signal;
  const approved = signal.signal === "call_approved";
  const row: Writable<ToolCallDecided> = {
    kind: "entelix.tool_call_decided",
    tool_use_id: callId,
    name,
    decision: decision?.outcome ?? (approved ? "approved" : "denied"),
    timestamp,
  };
  const person = decision?.person;
  const proposed_input = decision?.proposed_input;
  const by = decision?.by ?? (signal.signal === "call_denied" ? deciderIn(signal) : undefined);
  const waited = signal.signal === "call_approved" ? signal.waitMs : undefined;
  const wait_ms = decision?.wait_ms ?? waited;
  const reason = approved ? decision?.reason : textIn(signal.content);
  if (by !== undefined) row.by = by;
  if (person !== undefined) row.person = person;
  if (reason) row.reason = reason;
  if (wait_ms !== undefined) row.wait_ms = wait_ms;
  if (proposed_input !== undefined) row.proposed_input = proposed_input;
  return row;
}

/** Dialects of other runtimes use the span's attribute. */
function deciderIn({ attributes }: SignalOf<"call_denied">): ToolCallDecided["by"] {
  const by = attributes?.["entelix.approval.by"];
  return by === "user" || by === "policy" ? by : undefined;
}

function segmentOf({ runId, tenantId }: SignalSubject, { segment }: RunFacts): RowSegment {
  return { tenantId, runId, segment };
}

function addQuestion(
  row: Writable<RunStarted> | Writable<RunEnded>,
  { details }: EventFacts,
): void {
  const question = newestQuestion(details?.input);
  if (question === undefined) return;
  row.input = question.value;
  if (question.cut) row.cut = ["input"];
}

/** Ignores a run that names itself. */
function otherRun(runId: string, other: string | undefined): string | undefined {
  if (!other) return undefined;
  const id = canonicalRunId(other);
  return id === canonicalRunId(runId) ? undefined : id;
}

/** A row whose ID is made of the event's own ID. */
function ownRow(row: KnownGraphEvent, event: EventFacts, suffix: string): SignalRow {
  return { event: row, event_id: idOf(event, suffix), is_new: event.is_new };
}

function idOf({ event_id, unnamed }: EventFacts, suffix: string): string | null {
  // An event has only one such row, and stores keep a UUID in less memory.
  if (unnamed === true) return event_id ?? null;
  return typeof event_id === "string" && event_id !== "" ? `${event_id}/${suffix}` : null;
}

/**
 * The audit entry of a lifecycle event. `undefined` for an event without one.
 *
 * Only tool events have one: a `tool_call` for `tool_start`, a `tool_result` for `tool_complete` and `tool_error`.
 * The entry of an error has the text that the model received, and whether the call was cancelled. It has neither the
 * operator's text nor the rest of the envelope, run, tenant and duration. An `undefined` output or input becomes
 * `null`.
 * In Rust: `AgentEvent::to_graph_event` of entelix-agents.
 *
 * @param timestamp the time of the event. Written in UTC with the fewest of 0, 3, 6 or 9 sub-second digits that lose
 *   nothing.
 * @throws RangeError if the event has an entry and `timestamp` is a text that is not an RFC 3339 time.
 *
 * @example
 * toGraphEvent(event, "2026-04-29T21:00:00.120+09:00")?.timestamp; // "2026-04-29T12:00:00.120Z"
 */
export function toGraphEvent(
  event: AgentEvent,
  timestamp: string | Readonly<Instant>,
): GraphEvent | undefined {
  checkArgument(event, "event");
  switch (event.type) {
    case "tool_start":
      return {
        kind: "tool_call",
        id: event.tool_use_id,
        name: event.tool,
        input: event.input === undefined ? null : event.input,
        timestamp: inUtc(timestamp),
      };
    case "tool_complete":
      return {
        kind: "tool_result",
        tool_use_id: event.tool_use_id,
        name: event.tool,
        content: event.output === undefined ? null : event.output,
        is_error: false,
        timestamp: inUtc(timestamp),
      };
    case "tool_error":
      return {
        kind: "tool_result",
        tool_use_id: event.tool_use_id,
        name: event.tool,
        content: event.error_for_llm === undefined ? null : event.error_for_llm,
        is_error: true,
        // Untyped programs may leave out the envelope.
        ...(event.envelope?.cancelled === true ? { cancelled: true } : {}),
        timestamp: inUtc(timestamp),
      };
    case "started":
    case "tool_call_asked":
    case "tool_call_approved":
    case "tool_call_denied":
    case "complete":
    case "failed":
    case "interrupted":
    case "model_start":
    case "model_complete":
    case "model_error":
    case "step_start":
    case "step_complete":
    case "step_error":
      return undefined;
    default:
      return unknownType(event);
  }
}

/** An event of a newer agent has no known entry. */
function unknownType(_: never): undefined {
  return undefined;
}

/**
 * The rows that events leave in the audit log. `all`: every kind. `upstream`: only kinds that entelix's readers
 * know, none of this package's own.
 */
export type AuditRows = "all" | "upstream";

/** The values of `rows`. */
export const AUDIT_ROWS = ["all", "upstream"] as const satisfies readonly AuditRows[];

/** @throws TypeError if the option is neither absent nor one of the two words. */
export function checkAuditRows(rows: unknown, option: string): void {
  checkOneOf(rows, option, AUDIT_ROWS);
}

/** Whether a kind of row is one of entelix's. */
export function isUpstreamKind(kind: string): boolean {
  return graphEventForm.variants.has(kind);
}
