import type {
  AssistantMessage,
  Interrupt,
  RunEnded,
  ToolCall,
  ToolCallDecided,
  ToolResult,
} from "../../../audit/door.ts";
import {
  type AttributeName,
  type CallResult,
  compareInstants,
  type Instant,
  type OwnAttributes,
  type RunEnd,
  type Signal,
  type SignalAttributes,
  type ToolErrorKind,
} from "../../../events/door.ts";
import { announcedIn, callKey } from "./log-row.ts";
import { decisionIn, type PointRow, pointOf, tokensOf } from "./row-attributes.ts";
import { CANCELLED, PAUSED_TEXT, statedEnd } from "./terminals.ts";

/** Maximum number of remembered open calls of a run. The lifecycle knows older ones. */
const MAX_OPEN_CALLS = 1_000;

/** A tool call without a result yet. */
export interface OpenCall {
  readonly id: string;
  readonly name: string;
  /** Its span, if its row names it. */
  readonly spanId: string | undefined;
  /** That span ID, if another call of its ID was open when it started. */
  readonly key: string | undefined;
  /** The sub-agent that it dispatched. */
  subAgent: LogRun | undefined;
}

/** The end of a run, unless more than trailing rows follows. */
interface PossibleEnd {
  readonly end: RunEnd;
  at: Instant;
  /** Whether later work belongs to another run. */
  readonly over: boolean;
}

/** The end of a run that no row states. */
const SUPERSEDED: RunEnd = { outcome: "abandoned", reason: "superseded" };

/** One run of a log: the state to read its next row. */
export class LogRun {
  readonly tenantId: string;
  readonly runId: string;
  /** Stream for the IDs of its sub-agents. */
  readonly stream: string;
  readonly parent: LogRun | undefined;
  /** Its open calls, oldest first. */
  readonly calls: OpenCall[] = [];
  /** Active sub-agents whose rows have no run ID, oldest first. */
  subAgents: LogRun[] = [];
  /** Whether it has a log of its own, so that rows of its parent's log are not its. */
  hasOwnLog = false;
  /** Its trace, if its rows name it. */
  traceId: string | undefined = undefined;
  /** The span of its last pause, if the row names it. */
  pausedIn: string | undefined = undefined;
  /** Whether its end was reported. */
  isClosed = false;
  /** Whether the log states its end. */
  hasStatedEnd = false;
  /** Whether its agent is known. */
  isNamed = false;
  /** Sub-agents that began but did not end, and whose rows have no run ID. */
  startsInside = 0;
  lastAt: Instant;
  #end: PossibleEnd | undefined = undefined;
  /** Time of the row at which the next model call begins. */
  #idleSince: Instant | undefined = undefined;
  /** Number of thinking rows of the open model call, and the time of the last one. */
  #thinking = 0;
  #thoughtAt: Instant | undefined = undefined;
  /** Calls that the last reply asked for and that have not begun. */
  #announced: ReadonlySet<string> | undefined = undefined;
  /** Calls that were denied while open. Their results say nothing new. */
  #denied: Set<string> | undefined = undefined;
  #counts: Partial<Record<AttributeName, number>> | undefined = undefined;

  constructor(tenantId: string, runId: string, stream: string, at: Instant, parent?: LogRun) {
    this.tenantId = tenantId;
    this.runId = runId;
    this.stream = stream;
    this.parent = parent;
    this.lastAt = at;
  }

  /** Whether it ended, so that only trailing rows can belong to it. */
  get isOver(): boolean {
    return this.#end?.over === true;
  }

  /** Whether it ended, or may have: the last reply asked for no call. */
  get mayBeOver(): boolean {
    return this.#end !== undefined;
  }

  get possibleEnd(): RunEnd | undefined {
    return this.#end?.end;
  }

  announced(id: string, name: string): boolean {
    return this.#announced?.has(callKey(id, name)) === true;
  }

  /** The call of that span, else the oldest one. */
  findCall(id: string, name: string, spanId?: string): OpenCall | undefined {
    const same = this.calls.filter((call) => call.id === id && call.name === name);
    return same.find((call) => call.spanId === spanId) ?? same[0];
  }

  /**
   * Whether a pause asks about a call that has begun here. The answer then continues the same run. A pause before the
   * call begins ends the run: such a call has no row.
   */
  asks({ interruption_kind: kind }: Interrupt): boolean {
    if (kind?.type !== "approval_pending" || kind.tool_use_id === "") return false;
    return this.calls.some(({ id }) => id === kind.tool_use_id);
  }

  /** A row that the next model call may answer. */
  keepAlive(at: Instant): void {
    this.#moveOn(at);
    this.#idleSince = at;
  }

  /** A user's message within the run. */
  userInput(at: Instant, out: Signal[]): void {
    this.#end = undefined;
    this.keepAlive(at);
    const { tenantId, runId } = this;
    out.push({ tenantId, runId, at, signal: "span_event", name: "entelix.user_input" });
  }

  /** The model answered. Only this row, and thinking before it, show the model call. */
  reply(row: AssistantMessage, at: Instant, out: Signal[]): void {
    this.#end = undefined;
    if (this.#thinking === 0) this.#openModel(this.#idleSince ?? at, out);
    this.#closeModel(at, tokensOf(row.usage), out);
    this.keepAlive(at);
    this.#announced = announcedIn(row);
    if (this.#announced === undefined && this.calls.length === 0) {
      this.mayEnd({ outcome: "complete" }, at, false, out);
    }
  }

  think(at: Instant, out: Signal[]): void {
    this.#end = undefined;
    if (this.#thinking === 0) this.#openModel(this.#idleSince ?? at, out);
    this.#thinking++;
    this.#thoughtAt = at;
    this.#moveOn(at);
  }

  callTool(row: ToolCall, spanId: string | undefined, at: Instant, out: Signal[]): void {
    this.#end = undefined;
    this.#endThinking(out);
    this.keepAlive(at);
    const { id: callId, input: content, name } = row;
    const other = this.findCall(callId, name, spanId);
    const key = other === undefined || other.spanId === spanId ? undefined : spanId;
    this.calls.push({ id: callId, name, spanId, key, subAgent: undefined });
    if (this.calls.length > MAX_OPEN_CALLS) this.calls.shift();
    const { tenantId, runId } = this;
    const call = { callId, callKey: key, name, content };
    out.push({ tenantId, runId, at, signal: "call_opens", ...call });
  }

  /** The result of a call of this run, even if the call was not seen. */
  toolResult(row: ToolResult, spanId: string | undefined, at: Instant, out: Signal[]): void {
    this.#endThinking(out);
    this.keepAlive(at);
    const { name, tool_use_id } = row;
    if (this.#denied?.delete(callKey(tool_use_id, name))) {
      this.trail(at, out);
      return;
    }
    const call = this.#dropCall(tool_use_id, name, spanId);
    const end = this.#resultOf(row);
    const asked = this.#askedAbout(tool_use_id);
    if (asked !== undefined) this.#end = undefined;
    const { tenantId, runId } = this;
    out.push({
      tenantId,
      runId,
      at,
      signal: "call_closes",
      callId: tool_use_id,
      callKey: call?.key,
      name,
      durationMs: 0,
      end,
    });
    if (end.outcome === "interrupted" && !this.isOver) {
      this.mayEnd(asked ?? { outcome: "interrupted" }, at, true, out);
    } else this.trail(at, out);
  }

  /** A decision about a call, before it began or while it waited. */
  decided(row: ToolCallDecided, at: Instant, out: Signal[]): void {
    this.keepAlive(at);
    const { name, reason, tool_use_id: callId, wait_ms: waitMs } = row;
    const isOpen = this.findCall(callId, name) !== undefined;
    const { tenantId, runId } = this;
    const beforeStart = isOpen ? undefined : true;
    const about = { tenantId, runId, at, callId, name, beforeStart, decision: decisionIn(row) };
    if (row.decision === "approved" || row.decision === "edited") {
      out.push({ ...about, signal: "call_approved", waitMs });
      return;
    }
    out.push({ ...about, signal: "call_denied", content: reason });
    if (!isOpen) return;
    this.#dropCall(callId, name);
    this.#denied ??= new Set();
    if (this.#denied.size < MAX_OPEN_CALLS) this.#denied.add(callKey(callId, name));
  }

  /** The end as the log states it. Details of the same end from earlier rows are kept. */
  ended(row: RunEnded, at: Instant, out: Signal[]): void {
    if (this.isClosed) return;
    this.#moveOn(at);
    this.#end = { end: statedEnd(row, this.#end?.end), at, over: true };
    this.hasStatedEnd = true;
    this.close(out);
  }

  /** A span event. Rows about the provider do not separate a model call from its reply. */
  point(row: PointRow, at: Instant, out: Signal[]): void {
    const { count, attributes, name } = pointOf(row);
    const provider = row.kind === "rate_limit" || row.kind === "warning";
    if (provider) this.#moveOn(at);
    else this.keepAlive(at);
    const on = provider ? "model" : "run";
    const { tenantId, runId } = this;
    out.push({ tenantId, runId, at, signal: "span_event", name, on, attributes });
    if (count !== undefined) this.#count(count, at, out);
    this.trail(at, out);
  }

  /** A span event for a row of no known kind. */
  note(name: string, attributes: SignalAttributes, at: Instant, out: Signal[]): void {
    this.#moveOn(at);
    const { tenantId, runId } = this;
    out.push({ tenantId, runId, at, signal: "span_event", name, attributes });
    this.trail(at, out);
  }

  /** Thinking that an error cut off belongs to a failed model call. */
  failModel(type: string, message: string, at: Instant, out: Signal[]): void {
    if (this.#thinking === 0) return;
    const attributes: OwnAttributes = {};
    this.#takeThinking(attributes);
    const { tenantId, runId } = this;
    const end = { outcome: "error", problem: { type, message }, attributes } as const;
    out.push({ tenantId, runId, at, signal: "model_closes", end });
  }

  /**
   * The run ended unless it continues. The first end stays: an error recorded after a cancellation does not change the
   * failure kind.
   */
  mayEnd(end: RunEnd, at: Instant, over: boolean, out: Signal[]): void {
    this.#moveOn(at);
    if (!this.isOver) this.#end = { end, at, over };
    this.trail(at, out);
  }

  /** A trailing row moves a possible end to its time. */
  trail(at: Instant, out: Signal[]): void {
    const possible = this.#end;
    if (possible === undefined || this.hasStatedEnd) return;
    if (compareInstants(at, possible.at) > 0) possible.at = at;
    const { tenantId, runId } = this;
    const { at: endAt, end, over } = possible;
    out.push({ tenantId, runId, at: endAt, signal: "run_may_end", end, over: over || undefined });
  }

  /** The run continues: drops a possible end. */
  goOn(): void {
    this.#end = undefined;
  }

  /** Begins the next segment of a paused run, with nothing open. */
  reopen(at: Instant): void {
    this.#end = undefined;
    this.isClosed = false;
    this.hasStatedEnd = false;
    this.startsInside = 0;
    this.#denied = undefined;
    this.calls.length = 0;
    this.subAgents = [];
    this.#takeThinking({});
    this.#idleSince = undefined;
    this.#announced = undefined;
    this.lastAt = at;
  }

  /** No more rows follow: closes open model calls. */
  settle(out: Signal[]): void {
    if (this.isClosed) return;
    for (const subAgent of this.subAgents) subAgent.settle(out);
    this.#cutThinking(out);
  }

  /** Closes the run: with its possible end, else with `orElse`, else as superseded. */
  close(out: Signal[], orElse?: { readonly end: RunEnd; readonly at: Instant }): void {
    for (const subAgent of this.subAgents) subAgent.close(out);
    this.subAgents = [];
    this.#cutThinking(out);
    this.isClosed = true;
    const { tenantId, runId } = this;
    const { at, end } = this.#end ?? orElse ?? { at: this.lastAt, end: SUPERSEDED };
    const supposed = !this.hasStatedEnd && (this.#end !== undefined || orElse === undefined);
    out.push({ tenantId, runId, at, signal: "run_closes", end, supposed });
  }

  #dropCall(id: string, name: string, spanId?: string): OpenCall | undefined {
    const call = this.findCall(id, name, spanId);
    if (call !== undefined) this.calls.splice(this.calls.indexOf(call), 1);
    return call;
  }

  #moveOn(at: Instant): void {
    if (compareInstants(at, this.lastAt) > 0) this.lastAt = at;
  }

  #openModel(from: Instant, out: Signal[]): void {
    const attributes: SignalAttributes = { "entelix.model.start_inferred": true };
    const { tenantId, runId } = this;
    out.push({ tenantId, runId, at: from, signal: "model_opens", attributes });
  }

  #closeModel(at: Instant, attributes: OwnAttributes, out: Signal[]): void {
    this.#takeThinking(attributes);
    const { tenantId, runId } = this;
    const end = { outcome: "complete", attributes } as const;
    out.push({ tenantId, runId, at, signal: "model_closes", end });
  }

  /** Tools follow the thinking: the model call is over without a logged reply. */
  #endThinking(out: Signal[]): void {
    if (this.#thoughtAt !== undefined) this.#closeModel(this.#thoughtAt, {}, out);
  }

  /** Thinking without a reply was cut off at the end of the run. */
  #cutThinking(out: Signal[]): void {
    if (this.#thinking === 0) return;
    const attributes: OwnAttributes = {};
    this.#takeThinking(attributes);
    const { lastAt: at, runId, tenantId } = this;
    const end = { outcome: "unfinished", attributes } as const;
    out.push({ tenantId, runId, at, signal: "model_closes", end });
    // The lifecycle takes the closed call as activity, so the possible end is repeated.
    this.trail(at, out);
  }

  #takeThinking(attributes: OwnAttributes): void {
    if (this.#thinking > 0) attributes["entelix.thinking.deltas"] = this.#thinking;
    this.#thinking = 0;
    this.#thoughtAt = undefined;
  }

  /** The outcome of a result. Its error kind comes from an earlier terminal row: results have none. */
  #resultOf({ cancelled, content, is_error, name }: ToolResult): CallResult {
    if (!is_error) return { outcome: "complete", content };
    if (content === PAUSED_TEXT) return { outcome: "interrupted" };
    if (cancelled === true) return { outcome: "cancelled", message: "", envelope: CANCELLED };
    return { outcome: "error", kind: this.#terminalKind(name), message: "" };
  }

  #terminalKind(tool: string): ToolErrorKind | undefined {
    const end = this.#end?.end;
    if (end?.outcome !== "failed" || end.kind.type !== "tool_error_terminal") return undefined;
    return end.kind.tool_name === tool ? end.kind.kind : undefined;
  }

  /** The pause that may end with the result of this call. */
  #askedAbout(callId: string): RunEnd | undefined {
    const end = this.#end?.over === false ? this.#end.end : undefined;
    if (end?.outcome !== "interrupted" || end.kind?.type !== "approval_pending") return undefined;
    return end.kind.tool_use_id === callId ? end : undefined;
  }

  #count(name: AttributeName, at: Instant, out: Signal[]): void {
    this.#counts ??= {};
    const count = (this.#counts[name] ?? 0) + 1;
    this.#counts[name] = count;
    const { tenantId, runId } = this;
    out.push({ tenantId, runId, at, signal: "attributes", attributes: { [name]: count } });
  }
}
