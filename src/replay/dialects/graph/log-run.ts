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
import { decisionIn, type PointRow, pointOf, usageAttributes } from "./row-attributes.ts";
import { CANCELLED, endTold, PAUSED_TEXT } from "./terminals.ts";

/** Open calls that are remembered of a run; of older ones only the lifecycle knows. */
const MAX_OPEN_CALLS = 1_000;

/** A tool call of the log whose result has not come. */
export interface OpenCall {
  readonly id: string;
  readonly name: string;
  /** The sub-agent that it dispatched. */
  subAgent: LogRun | undefined;
}

/** How a run ended, if nothing but trailing rows follows. */
interface PossibleEnd {
  readonly end: RunEnd;
  at: Instant;
  /** Whether what works on after it is another run. */
  readonly over: boolean;
}

/** Nobody says how it ended. */
const SUPERSEDED: RunEnd = { outcome: "abandoned", reason: "superseded" };

/** One run of a log: what must be known of it to read its next row. */
export class LogRun {
  readonly tenantId: string;
  readonly runId: string;
  /** The stream that the ids of its sub-agents derive from. */
  readonly stream: string;
  readonly parent: LogRun | undefined;
  /** Its open calls, oldest first. */
  readonly calls: OpenCall[] = [];
  /** Sub-agents at work whose rows have no run id, oldest first. */
  subAgents: LogRun[] = [];
  /** It has a log of its own: rows of its parent's log are not its. */
  hasOwnLog = false;
  /** Its trace, where its rows name it. */
  traceId: string | undefined = undefined;
  /** The span that its last pause was in, where its row says so. */
  pausedIn: string | undefined = undefined;
  /** Its end was passed on. */
  isClosed = false;
  /** The log tells its end, so that none needs to be concluded. */
  isTold = false;
  /** Its agent is known. */
  isNamed = false;
  /** Sub-agents that began and did not end, whose rows name no run. */
  startsInside = 0;
  lastAt: Instant;
  #end: PossibleEnd | undefined = undefined;
  /** The row that the next model call is measured from. */
  #idleSince: Instant | undefined = undefined;
  /** Pieces of thinking of the model call that is open, and when the last one came. */
  #thinking = 0;
  #thoughtAt: Instant | undefined = undefined;
  /** Calls that the last reply asked for and that were not made yet. */
  #announced: ReadonlySet<string> | undefined = undefined;
  /** Calls that were refused while they were open: their results say no more. */
  #denied: Set<string> | undefined = undefined;
  #counts: Partial<Record<AttributeName, number>> | undefined = undefined;

  constructor(tenantId: string, runId: string, stream: string, at: Instant, parent?: LogRun) {
    this.tenantId = tenantId;
    this.runId = runId;
    this.stream = stream;
    this.parent = parent;
    this.lastAt = at;
  }

  /** Ended, so that only trailing rows can be its. */
  get isOver(): boolean {
    return this.#end?.over === true;
  }

  /** Ended, or looks like it: the last reply asked for nothing more. */
  get mayBeOver(): boolean {
    return this.#end !== undefined;
  }

  get possibleEnd(): RunEnd | undefined {
    return this.#end?.end;
  }

  announced(id: string, name: string): boolean {
    return this.#announced?.has(callKey(id, name)) === true;
  }

  findCall(id: string, name: string): OpenCall | undefined {
    for (const call of this.calls) if (call.id === id && call.name === name) return call;
    return undefined;
  }

  /**
   * Whether a pause waits for an answer about a call that began here: who asks so goes on with the same
   * run. A call that the pause kept from beginning has no row, and the run is over.
   */
  asks({ interruption_kind: kind }: Interrupt): boolean {
    if (kind?.type !== "approval_pending" || kind.tool_use_id === "") return false;
    return this.calls.some(({ id }) => id === kind.tool_use_id);
  }

  /** Something that the next model call may be an answer to. */
  keepAlive(at: Instant): void {
    this.#moveOn(at);
    this.#idleSince = at;
  }

  /** A message to the model in the middle of the run. */
  told(at: Instant, out: Signal[]): void {
    this.#end = undefined;
    this.keepAlive(at);
    const { tenantId, runId } = this;
    out.push({ tenantId, runId, at, signal: "span_event", name: "entelix.user_input" });
  }

  /** The model answered: its call is known by this alone, and by the thinking before it. */
  reply(row: AssistantMessage, at: Instant, out: Signal[]): void {
    this.#end = undefined;
    if (this.#thinking === 0) this.#openModel(this.#idleSince ?? at, out);
    this.#closeModel(at, usageAttributes(row.usage), out);
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

  callTool(row: ToolCall, at: Instant, out: Signal[]): void {
    this.#end = undefined;
    this.#endThinking(out);
    this.keepAlive(at);
    const { id, name } = row;
    this.calls.push({ id, name, subAgent: undefined });
    if (this.calls.length > MAX_OPEN_CALLS) this.calls.shift();
    const { tenantId, runId } = this;
    out.push({ tenantId, runId, at, signal: "call_opens", callId: id, name, content: row.input });
  }

  /** The result of a call of this run, whether the call was seen or not. */
  toolResult(row: ToolResult, at: Instant, out: Signal[]): void {
    this.#endThinking(out);
    this.keepAlive(at);
    const { name, tool_use_id } = row;
    if (this.#denied?.delete(callKey(tool_use_id, name))) {
      this.trail(at, out);
      return;
    }
    this.#dropCall(tool_use_id, name);
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
      name,
      durationMs: 0,
      end,
    });
    if (end.outcome === "interrupted" && !this.isOver) {
      this.mayEnd(asked ?? { outcome: "interrupted" }, at, true, out);
    } else this.trail(at, out);
  }

  /** Somebody decided about a call: before it began, or while it waited. */
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

  /** The log tells how it ended. What rows before said of that end in more detail stays. */
  ended(row: RunEnded, at: Instant, out: Signal[]): void {
    if (this.isClosed) return;
    this.#moveOn(at);
    this.#end = { end: endTold(row, this.#end?.end), at, over: true };
    this.isTold = true;
    this.close(out);
  }

  /** A point in its life. What it says of the provider does not part the call from its reply. */
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

  /** A note without a row of its own kind. */
  note(name: string, attributes: SignalAttributes, at: Instant, out: Signal[]): void {
    this.#moveOn(at);
    const { tenantId, runId } = this;
    out.push({ tenantId, runId, at, signal: "span_event", name, attributes });
    this.trail(at, out);
  }

  /** Thinking that an error cut short was a model call that failed. */
  failModel(type: string, message: string, at: Instant, out: Signal[]): void {
    if (this.#thinking === 0) return;
    const attributes: OwnAttributes = {};
    this.#takeThinking(attributes);
    const { tenantId, runId } = this;
    const end = { outcome: "error", problem: { type, message }, attributes } as const;
    out.push({ tenantId, runId, at, signal: "model_closes", end });
  }

  /**
   * It ended so, if it does not go on. The first end that is one stays: an error that is recorded
   * after a cancel does not make the cancel a failure of another kind.
   */
  mayEnd(end: RunEnd, at: Instant, over: boolean, out: Signal[]): void {
    this.#moveOn(at);
    if (!this.isOver) this.#end = { end, at, over };
    this.trail(at, out);
  }

  /** A trailing row came: the end is no earlier than that. */
  trail(at: Instant, out: Signal[]): void {
    const possible = this.#end;
    if (possible === undefined || this.isTold) return;
    if (compareInstants(at, possible.at) > 0) possible.at = at;
    const { tenantId, runId } = this;
    const { at: endAt, end, over } = possible;
    out.push({ tenantId, runId, at: endAt, signal: "run_may_end", end, over: over || undefined });
  }

  /** It goes on, whatever looked like its end. */
  goOn(): void {
    this.#end = undefined;
  }

  /** The next segment of a paused run: nothing of the last one is open any more. */
  reopen(at: Instant): void {
    this.#end = undefined;
    this.isClosed = false;
    this.isTold = false;
    this.startsInside = 0;
    this.#denied = undefined;
    this.calls.length = 0;
    this.subAgents = [];
    this.#takeThinking({});
    this.#idleSince = undefined;
    this.#announced = undefined;
    this.lastAt = at;
  }

  /** Nothing more is heard. */
  settle(out: Signal[]): void {
    if (this.isClosed) return;
    for (const subAgent of this.subAgents) subAgent.settle(out);
    this.#cutThinking(out);
  }

  /** Nothing more is its: it ended as it may have, else nobody says how. */
  close(out: Signal[], orElse?: { readonly end: RunEnd; readonly at: Instant }): void {
    for (const subAgent of this.subAgents) subAgent.close(out);
    this.subAgents = [];
    this.#cutThinking(out);
    this.isClosed = true;
    const { tenantId, runId } = this;
    const { at, end } = this.#end ?? orElse ?? { at: this.lastAt, end: SUPERSEDED };
    const supposed = !this.isTold && (this.#end !== undefined || orElse === undefined);
    out.push({ tenantId, runId, at, signal: "run_closes", end, supposed });
  }

  #dropCall(id: string, name: string): void {
    const call = this.findCall(id, name);
    if (call !== undefined) this.calls.splice(this.calls.indexOf(call), 1);
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

  /** The model thought, and tools follow: its call is over, though no reply was logged. */
  #endThinking(out: Signal[]): void {
    if (this.#thoughtAt !== undefined) this.#closeModel(this.#thoughtAt, {}, out);
  }

  /** Thinking that nothing followed was cut, and the run lasted until then. */
  #cutThinking(out: Signal[]): void {
    if (this.#thinking === 0) return;
    const attributes: OwnAttributes = {};
    this.#takeThinking(attributes);
    const { lastAt: at, runId, tenantId } = this;
    const end = { outcome: "unfinished", attributes } as const;
    out.push({ tenantId, runId, at, signal: "model_closes", end });
    // The lifecycle takes that for a sign of life, and it is none.
    this.trail(at, out);
  }

  #takeThinking(attributes: OwnAttributes): void {
    if (this.#thinking > 0) attributes["entelix.thinking.deltas"] = this.#thinking;
    this.#thinking = 0;
    this.#thoughtAt = undefined;
  }

  /** The class of the error where a terminal row has said it: results do not. */
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

  /** The pause that may be over with the result of this call. */
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
