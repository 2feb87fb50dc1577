import type {
  AnyGraphEvent,
  KnownGraphEvent,
  RunEnded,
  RunStarted,
  SubAgentInvoked,
  ToolCall,
  ToolResult,
} from "../../../audit/door.ts";
import {
  type Instant,
  RecentPairs,
  type RunEnd,
  type Signal,
  type SignalAttributes,
} from "../../../events/door.ts";
import { derivedRunId, type ProjectedRow } from "../mapping.ts";
import type { LogRow } from "./log-row.ts";
import { LogRun } from "./log-run.ts";
import type { LogThread } from "./log-thread.ts";
import { endOf, FAILED_UNSEEN, PAUSED_TEXT } from "./terminals.ts";
import type { TraceParents } from "./trace-parents.ts";
import { callerOf, dispatchOf, innermost, levelsOf, ownerOf } from "./turn-levels.ts";

/** The signals and audit rows that were read. */
export interface RowsRead {
  readonly signals: Signal[];
  readonly rows: ProjectedRow[];
}

/** Maximum depth of sub-agents with runs of their own. Agents nest far less. */
const DEEPEST = 64;

/** Reads rows as signals of their run. */
export class RowReader {
  readonly #parents: TraceParents;
  /** Whether audit rows are made. */
  readonly #rows: boolean;
  /** Sub-agents by the thread that they write to. */
  readonly #subThreads: RecentPairs<LogRun>;
  /** Kinds of erased rows. Without their payload they cannot be written again. */
  readonly unprojected = new Map<string, number>();

  constructor(parents: TraceParents, rows: boolean, remembered: number) {
    this.#parents = parents;
    this.#rows = rows;
    this.#subThreads = new RecentPairs(remembered);
  }

  /** The sub-agent whose own log a thread is. */
  subAgentOf(tenantId: string, thread: string): LogRun | undefined {
    return this.#subThreads.get(tenantId, thread);
  }

  /** @param opens whether this row opened the run. */
  read(thread: LogThread, turn: LogRun, row: LogRow, opens: boolean, read: RowsRead): void {
    const { at, line } = row;
    switch (line.form) {
      case "known": {
        const run = this.#readKnown(thread, turn, line.event, row, opens, read.signals);
        if (this.#rows) read.rows.push(projected(run, row, line.event));
        return;
      }
      case "unknown": {
        const run = innermost(turn);
        const attributes: SignalAttributes = { "entelix.graph.kind": line.event.kind };
        run.note("entelix.graph.unknown", attributes, at, read.signals);
        if (this.#rows) read.rows.push(projected(run, row, line.event));
        return;
      }
      case "erased": {
        const { kind } = line.event;
        const attributes: SignalAttributes = { "entelix.graph.kind": kind };
        innermost(turn).note("entelix.graph.erased", attributes, at, read.signals);
        this.unprojected.set(kind, (this.unprojected.get(kind) ?? 0) + 1);
        return;
      }
      default:
        line satisfies never;
    }
  }

  /** @returns the run of the row. */
  #readKnown(
    thread: LogThread,
    turn: LogRun,
    event: KnownGraphEvent,
    row: LogRow,
    opens: boolean,
    out: Signal[],
  ): LogRun {
    const { at } = row;
    switch (event.kind) {
      case "user_message":
        if (opens || thread.awaitsTask) turn.keepAlive(at);
        else turn.userInput(at, out);
        return turn;
      case "resumed":
        turn.keepAlive(at);
        if (!opens) {
          const attributes: SignalAttributes = {
            "entelix.resumed.checkpoint": event.from_checkpoint || undefined,
          };
          turn.note("entelix.resumed", attributes, at, out);
        }
        return turn;
      case "assistant_message": {
        const run = innermost(turn);
        run.reply(event, at, out);
        return run;
      }
      case "thinking_delta": {
        const run = innermost(turn);
        run.think(at, out);
        return run;
      }
      case "tool_call":
        return this.#toolCall(turn, event, row, out);
      case "tool_result":
        return this.#toolResult(thread, turn, event, row, out);
      case "sub_agent_invoked":
        return this.#subAgent(thread, turn, event, row, out);
      case "checkpoint_marker":
        thread.noteCheckpoint(event.checkpoint_id, turn.runId);
        turn.point(event, at, out);
        return turn;
      case "branch_created":
        turn.point(event, at, out);
        return turn;
      case "agent_handoff":
      case "context_compacted":
      case "memory_recall":
      case "rate_limit":
      case "warning": {
        const run = innermost(turn);
        run.point(event, at, out);
        return run;
      }
      case "interrupt":
        thread.pausedRunId = turn.runId;
        turn.pausedIn = row.line.span_id;
        return endAll(turn, endOf(event), at, !turn.asks(event), out);
      case "cancelled":
        return endAll(turn, endOf(event), at, true, out);
      case "tool_error_terminal":
      case "usage_limit_exceeded": {
        // Each level that it ends writes a row, innermost first.
        const run = innermost(turn);
        run.mayEnd(endOf(event), at, true, out);
        return run;
      }
      case "error": {
        const run = innermost(turn);
        run.failModel(event.class, event.message, at, out);
        run.point(event, at, out);
        run.mayEnd(endOf(event), at, false, out);
        return run;
      }
      case "entelix.run_started":
        if (!opens) started(thread, turn, event, row, out);
        else turn.keepAlive(at);
        return turn;
      case "entelix.tool_call_decided": {
        const run = innermost(turn);
        run.decided(event, at, out);
        return run;
      }
      case "entelix.run_ended":
        ended(turn, event, at, out);
        return turn;
      default:
        return event satisfies never;
    }
  }

  #toolCall(turn: LogRun, event: ToolCall, { at, line }: LogRow, out: Signal[]): LogRun {
    const run = callerOf(turn, event.id, event.name);
    run.callTool(event, line.span_id, at, out);
    return run;
  }

  /** The result of a call that dispatched a sub-agent also ends the sub-agent. */
  #toolResult(
    thread: LogThread,
    turn: LogRun,
    event: ToolResult,
    { at, line }: LogRow,
    out: Signal[],
  ): LogRun {
    const { name, tool_use_id } = event;
    const run = ownerOf(turn, tool_use_id, name) ?? innermost(turn);
    const subAgent = run.findCall(tool_use_id, name, line.span_id)?.subAgent;
    if (subAgent !== undefined) endSubAgent(run, subAgent, event, at, out);
    run.toolResult(event, line.span_id, at, out);
    if (turn.possibleEnd?.outcome === "interrupted") thread.pausedRunId = turn.runId;
    return run;
  }

  #subAgent(
    thread: LogThread,
    turn: LogRun,
    event: SubAgentInvoked,
    row: LogRow,
    out: Signal[],
  ): LogRun {
    const { agent_id, sub_thread_id } = event;
    const { at, line } = row;
    const dispatch = dispatchOf(turn, thread.name, event);
    const run = dispatch?.run ?? innermost(turn);
    const call = dispatch?.call;
    run.goOn();
    run.keepAlive(at);
    const { tenantId } = thread;
    out.push({
      tenantId,
      runId: run.runId,
      at,
      signal: "span_event",
      name: "entelix.sub_agent",
      on: call === undefined ? "run" : { callId: call.id },
      attributes: {
        "gen_ai.agent.name": agent_id,
        "entelix.sub_agent.thread_id": sub_thread_id,
      } satisfies SignalAttributes,
    });
    if (typeof line.run_id === "string") {
      // The sub-agent's rows name its run and open it.
      const traceId = turn.traceId;
      const dispatched = { run, agent: agent_id, subThread: sub_thread_id, call };
      if (traceId !== undefined) this.#parents.dispatched(traceId, dispatched);
      return run;
    }
    if (call === undefined || depthOf(run) >= DEEPEST) return run;
    const stream = `${run.stream}/${call.id}`;
    const runId = derivedRunId(tenantId, stream, row.opening);
    const subAgent = new LogRun(tenantId, runId, stream, at, run);
    call.subAgent = subAgent;
    run.subAgents.push(subAgent);
    this.#subThreads.set(tenantId, sub_thread_id, subAgent);
    out.push({
      tenantId,
      runId,
      at,
      signal: "run_opens",
      agent: agent_id,
      parentRunId: run.runId,
      parentCallId: call.id,
      threadId: sub_thread_id || undefined,
      attributes: { "entelix.source": "graph" } satisfies SignalAttributes,
    });
    return run;
  }
}

/** The unchanged row. Missing IDs are not filled in. */
function projected(run: LogRun, { eventId, line }: LogRow, event: AnyGraphEvent): ProjectedRow {
  // Empty: the default would be the ID of the line that is read now, and this row may have waited.
  return {
    runId: run.runId,
    event,
    eventId: eventId ?? "",
    traceId: line.trace_id,
    spanId: line.span_id,
  };
}

/** A start that opened no run: of the run that a message opened before, or of a sub-agent. */
function started(
  { conversation: threadId, tenantId }: LogThread,
  turn: LogRun,
  { agent, parent_run_id }: RunStarted,
  { at, line }: LogRow,
  out: Signal[],
): void {
  turn.keepAlive(at);
  if (turn.isNamed) {
    if (parent_run_id !== undefined && typeof line.run_id !== "string") turn.startsInside++;
    return;
  }
  if (agent === undefined) return;
  turn.isNamed = true;
  out.push({ tenantId, runId: turn.runId, at, signal: "run_opens", agent, threadId });
}

/** An end without a run ID may be that of a sub-agent. */
function ended(turn: LogRun, event: RunEnded, at: Instant, out: Signal[]): void {
  if (turn.startsInside > 0) turn.startsInside--;
  else turn.ended(event, at, out);
}

/** A turn that pauses or is cancelled ends its sub-agents too. */
function endAll(turn: LogRun, end: RunEnd, at: Instant, over: boolean, out: Signal[]): LogRun {
  for (const run of levelsOf(turn)) run.mayEnd(end, at, over, out);
  return turn;
}

function endSubAgent(
  caller: LogRun,
  subAgent: LogRun,
  result: ToolResult,
  at: Instant,
  out: Signal[],
): void {
  const end = endByResult(result);
  if (caller.subAgents.includes(subAgent)) {
    caller.subAgents = caller.subAgents.filter((each) => each !== subAgent);
    subAgent.close(out, { end, at });
  } else if (!subAgent.mayBeOver) subAgent.mayEnd(end, at, false, out);
}

/** The end of a sub-agent that only its caller's result shows. */
function endByResult({ content, is_error }: ToolResult): RunEnd {
  if (!is_error) return { outcome: "complete" };
  return content === PAUSED_TEXT ? { outcome: "interrupted" } : FAILED_UNSEEN;
}

function depthOf(run: LogRun): number {
  let depth = 0;
  for (let above = run.parent; above !== undefined; above = above.parent) depth++;
  return depth;
}
