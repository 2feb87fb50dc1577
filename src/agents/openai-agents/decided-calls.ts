import { type ContentNeed, type Instant, type NotMade, textOfResult } from "../../events/door.ts";
import { type Fields, fieldsOf, listOf, type ToolDecision, textOf } from "../core/door.ts";
import type { Approvals } from "./approvals.ts";
import { begins } from "./asked-calls.ts";
import type { SdkSpan } from "./sdk.ts";
import { type AskedCall, isNoJson, isUnmade } from "./span-answer.ts";
import { givenIn, toolInput } from "./span-input.ts";
import type { AgentRun, OpenModel, TraceRecord } from "./trace-record.ts";

/**
 * Sends calls that get no span: calls of tools that do not exist or without readable input, and decisions about refused
 * calls of OpenAI's own tools (shell, editor, computer) and calls that OpenAI makes (hosted MCP). The run's state shows
 * them, if it is known, and so does the next request to the model, which has the answer to each call.
 */
export class DecidedCalls {
  readonly #approvals: Approvals;
  readonly #need: ContentNeed;

  constructor(approvals: Approvals, need: ContentNeed) {
    this.#approvals = approvals;
    this.#need = need;
  }

  /** @param spanId the span that shows that the run no longer waits for the calls. */
  fromState(trace: TraceRecord, run: AgentRun, spanId: string, at: Readonly<Instant>): void {
    for (const call of run.asked.filter(isUnmade)) {
      const decision = this.#approvals.decisionIn(trace, call);
      if (decision !== undefined) this.#send(trace, run, call, decision, spanId, at, run.resumed);
    }
  }

  /** The agent's span ended. */
  agentEnded(
    trace: TraceRecord,
    run: AgentRun,
    { error, spanId }: SdkSpan,
    at: Readonly<Instant>,
  ): void {
    this.fromState(trace, run, spanId, at);
    this.unreadable(trace, run, spanId, at);
    if (error !== null) this.missing(trace, run, spanId, at);
  }

  /** Reads the request of a call of the agent's model, if its span has it. */
  fromRequest(trace: TraceRecord, run: AgentRun, { afterPause, span, startedAt }: OpenModel): void {
    const unmade = run.asked.filter((call) => isUnmade(call) || isMissing(call));
    const given = unmade.length === 0 ? undefined : listOf(givenIn(span.spanData));
    for (const item of given ?? []) {
      const fields = fieldsOf(item);
      if (fields === undefined) continue;
      for (const call of unmade) {
        if (isMissing(call)) {
          const text = answerIn(fields, call);
          if (text === undefined) continue;
          const why = { code: "tool_unknown", text } as const;
          this.#notMade(trace, run, call, why, span.spanId, startedAt);
          continue;
        }
        const decision = call.begun ? undefined : decisionOf(fields, call);
        if (decision === undefined) continue;
        this.#send(trace, run, call, decision, span.spanId, startedAt, afterPause);
      }
    }
  }

  /** The model is asked again, or the run failed: calls of tools that do not exist had no other answer. */
  missing(trace: TraceRecord, run: AgentRun, spanId: string, at: Readonly<Instant>): void {
    for (const call of run.asked.filter(isMissing)) {
      this.#notMade(trace, run, call, { code: "tool_unknown", text: null }, spanId, at);
    }
  }

  /** The model is asked again, or the run ended: before 0.20, the SDK itself answers calls without readable input. */
  unreadable(trace: TraceRecord, run: AgentRun, spanId: string, at: Readonly<Instant>): void {
    const why = { code: "tool_input_invalid", text: null } as const;
    for (const call of run.asked) {
      if (call.bare && !call.begun && isNoJson(call.input)) {
        this.#notMade(trace, run, call, why, spanId, at);
      }
    }
  }

  #notMade(
    trace: TraceRecord,
    run: AgentRun,
    call: AskedCall,
    { code, text }: { readonly code: NotMade; readonly text: string | null },
    spanId: string,
    at: Readonly<Instant>,
  ): void {
    begins(run, call);
    trace.totals.toolCalls += 1;
    const { id: toolUseId, input, tool } = call;
    run.writer.toolNotMade(
      { toolUseId, tool, startedMs: 0, durationMs: 0 },
      { code, input: this.#need === "none" ? undefined : toolInput(input), text },
      { eventId: `${spanId}:call-start:${toolUseId}`, at },
      { eventId: `${spanId}:call-end:${toolUseId}`, at },
    );
  }

  #send(
    trace: TraceRecord,
    run: AgentRun,
    call: AskedCall,
    decision: ToolDecision,
    spanId: string,
    at: Readonly<Instant>,
    hasWaited: boolean,
  ): void {
    begins(run, call);
    const { outcome, reason } = decision;
    const details = this.#approvals.detailsOf(trace, run, decision, hasWaited);
    const on = { eventId: `${spanId}:${outcome}:${call.id}`, at };
    if (outcome === "denied") run.writer.toolDenied(decision, reason, details, undefined, on);
    else run.writer.toolApproved(decision, details, undefined, on);
  }
}

const isMissing = (call: AskedCall) => call.isMissing && !call.begun;

/** The text of the SDK's answer to the call, if the item of a request is that. */
function answerIn(item: Fields, { id }: AskedCall): string | undefined {
  if (item.type === "function_call_result" && item.callId === id) return textOfResult(item.output);
  // In Chat Completions, it is a message.
  return item.role === "tool" && item.tool_call_id === id ? textOfResult(item.content) : undefined;
}

/** The decision about the call, if the item of a request is its answer. */
function decisionOf(item: Fields, { id, tool }: AskedCall): ToolDecision | undefined {
  const data = fieldsOf(item.providerData);
  if (item.name === "mcp_approval_response" && data?.approval_request_id === id) {
    const outcome = data.approve === true ? "approved" : "denied";
    return { outcome, tool, toolUseId: id, reason: textOf(data.reason) ?? "" };
  }
  const reason = item.callId === id ? refusalIn(item) : undefined;
  return reason === undefined ? undefined : { outcome: "denied", tool, toolUseId: id, reason };
}

/** The text of the SDK's answer to a call that was refused. The call itself was not made. */
function refusalIn(item: Fields): string | undefined {
  switch (item.type) {
    case "shell_call_output": {
      const output = fieldsOf(listOf(item.output)?.[0]);
      const isRefused = fieldsOf(output?.outcome)?.exitCode === null;
      return isRefused ? (textOf(output?.stderr) ?? "") : undefined;
    }
    case "apply_patch_call_output":
      return item.status === "failed" ? (textOf(item.output) ?? "") : undefined;
    case "computer_call_result": {
      const data = fieldsOf(fieldsOf(item.output)?.providerData);
      return data?.approvalStatus === "rejected" ? (textOf(data.message) ?? "") : undefined;
    }
    default:
      return undefined;
  }
}
