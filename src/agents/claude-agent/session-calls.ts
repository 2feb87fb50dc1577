import { AgentError } from "../../events/door.ts";
import { type Fields, fieldsOf, listOf, textOf } from "../core/door.ts";
import type { AgentRun } from "./agent-run.ts";
import { type Decided, deniedByPolicy } from "./decisions.ts";
import type { SubAgents } from "./sub-agents.ts";
import type { HookEnd, OpenTool } from "./tool-calls.ts";
import { amountOf } from "./usage-difference.ts";

/** The part of a session that its calls use. */
export interface CallHost {
  readonly agents: SubAgents;
  /** Maximum number of open calls of a run. */
  readonly most: number;
  readonly readsContent: boolean;
  /** The open run of the prompt. */
  main(): AgentRun | undefined;
  /** The run of a hook's input, or of a message. */
  runOf(input: Fields): AgentRun;
  wasInterrupted(): boolean;
  /** The error of the abort controller, if it fired. */
  abortError(): AgentError | undefined;
  forgot(): void;
}

/** The tool calls of all runs of a query, from hooks, `canUseTool` and messages. */
export class SessionCalls {
  readonly #host: CallHost;

  constructor(host: CallHost) {
    this.#host = host;
  }

  /** The open call with that ID. */
  find(toolUseId: string | undefined): OpenTool | undefined {
    if (toolUseId === undefined) return undefined;
    const own = this.#host.main()?.tools.get(toolUseId);
    if (own !== undefined) return own;
    for (const { tools } of this.#host.agents.open) {
      const call = tools.get(toolUseId);
      if (call !== undefined) return call;
    }
    return undefined;
  }

  /** A block `tool_use` in an answer. */
  announced(block: Fields, message: Fields, hasHooks: boolean): void {
    const toolUseId = textOf(block.id);
    const tool = textOf(block.name);
    if (toolUseId === undefined || tool === undefined) return;
    const call = this.#callOf(toolUseId, tool, block.input, message);
    // Without hooks, only the message shows that the call starts.
    if (!hasHooks) call?.run.started(call);
  }

  /** Hook `PreToolUse`. */
  begins(input: Fields): void {
    const call = this.#named(input.tool_use_id, input);
    if (call === undefined) return;
    // The tool's real input. The model may have omitted fields with a default.
    if (call.state === "announced" && !call.isDecided) call.input = input.tool_input;
    call.run.starting(call);
  }

  /** A hook or `canUseTool` is asked about a call. The call has not started. */
  asked(toolUseId: unknown, input: Fields): void {
    const call = this.#named(toolUseId, input);
    if (call === undefined) return;
    call.askers += 1;
    call.run.asked(call);
  }

  /** A hook or `canUseTool` did not decide about a call. */
  undecided(toolUseId: string | undefined): void {
    const call = this.find(toolUseId);
    if (call === undefined) return;
    call.askers -= 1;
    if (call.state !== "asking" || call.askers > 0) return;
    call.state = "announced";
    call.run.starting(call);
  }

  /**
   * A decision about a call.
   *
   * @param toolUseId without an ID, the decision is sent without a call.
   */
  decided(toolUseId: unknown, input: Fields, decided: Decided): void {
    const call = this.#named(toolUseId, input);
    if (call === undefined && textOf(toolUseId) !== undefined) return;
    if (call === undefined) {
      const named = { toolUseId: "", tool: textOf(input.tool_name) ?? "unknown" };
      const { writer } = this.#host.runOf(input);
      const reason = this.#host.readsContent ? decided.reason : "";
      if (decided.isAllowed) writer.toolApproved(named, decided.details);
      else writer.toolDenied(named, reason, decided.details);
      return;
    }
    if ("input" in decided) call.input = decided.input;
    if (decided.isAllowed) call.run.approved(call, decided.details);
    else call.run.denied(call, decided.reason, decided.details);
  }

  /** Reads the denials that the result lists. */
  refused(denials: unknown): void {
    for (const each of listOf(denials) ?? []) {
      const denial = fieldsOf(each) ?? {};
      const call = this.find(textOf(denial.tool_use_id));
      if (call?.end === undefined && call?.isDecided === false) {
        this.decided(call.toolUseId, denial, deniedByPolicy(""));
      }
    }
  }

  /** Hooks `PostToolUse` and `PostToolUseFailure`. */
  ends(input: Fields): void {
    const call = this.#named(input.tool_use_id, input);
    if (call === undefined) return;
    call.run.started(call);
    call.end = {
      durationMs: amountOf(input.duration_ms),
      output: input.tool_response,
      error: textOf(input.error),
      isInterrupt: input.is_interrupt === true,
    };
    const agentId = textOf(fieldsOf(input.tool_response)?.agentId);
    if (agentId !== undefined) this.#host.agents.named(agentId, call.toolUseId);
    // The stream has no tool results of nested sub-agents.
    if (textOf(input.agent_id) !== undefined) this.#endedByHook(call, call.end);
  }

  #endedByHook(call: OpenTool, end: HookEnd): void {
    if (end.isInterrupt) call.run.cut(call, AgentError.cancelled());
    else call.run.ended(call, end);
    this.#host.agents.callEnded(call, end.error !== undefined);
  }

  /** A block `tool_result`: the text for the model. */
  returned(block: Fields, message: Fields): void {
    const call = this.find(textOf(block.tool_use_id));
    if (call === undefined) return;
    const isError = block.is_error === true;
    if (isError && isRefused(call, block, message)) {
      const decided = deniedByPolicy(textIn(block.content) ?? "");
      this.decided(call.toolUseId, { tool_name: call.tool }, decided);
      return;
    }
    const isInterrupt = call.end?.isInterrupt ?? this.#host.wasInterrupted();
    const cut = this.#host.abortError() ?? (isInterrupt ? AgentError.cancelled() : undefined);
    if (isError && cut !== undefined) call.run.cut(call, cut);
    else call.run.returned(call, block.content, isError, message.tool_use_result);
    this.#host.agents.callEnded(call, isError);
  }

  #named(given: unknown, input: Fields): OpenTool | undefined {
    const toolUseId = textOf(given);
    const tool = textOf(input.tool_name);
    if (toolUseId === undefined || tool === undefined) return undefined;
    return this.#callOf(toolUseId, tool, input.tool_input, input);
  }

  /** The call with that ID, or a new one. `undefined`: the call was denied. */
  #callOf(toolUseId: string, tool: string, input: unknown, from: Fields): OpenTool | undefined {
    const known = this.find(toolUseId);
    if (known !== undefined) return known;
    const { forgot, most, runOf } = this.#host;
    const { tools } = runOf(from);
    if (tools.wasDenied(toolUseId)) return undefined;
    const oldest = tools.size < most ? undefined : tools.oldest;
    if (oldest !== undefined) {
      tools.cut(oldest, AgentError.cancelled());
      forgot();
    }
    return tools.announced(toolUseId, tool, input);
  }
}

/** Whether the SDK refused the call. It says so in a field that its types omit. */
function isRefused(call: OpenTool, block: Fields, message: Fields): boolean {
  if (call.isDecided || call.end !== undefined) return false;
  for (const each of listOf(message.tool_result_meta) ?? []) {
    const meta = fieldsOf(each);
    if (meta?.id === block.tool_use_id) {
      return fieldsOf(meta?.permission_decision)?.decision === "reject";
    }
  }
  return false;
}

/** The text of content blocks. */
export function textIn(content: unknown): string | undefined {
  if (typeof content === "string") return textOf(content);
  const texts = (listOf(content) ?? [])
    .map((block) => fieldsOf(block))
    .filter((block) => block?.type === "text")
    .map((block) => textOf(block?.text) ?? "");
  return textOf(texts.join("\n"));
}

/** Whether a hook's input or a message is of a sub-agent. */
export function isOfSubAgent(from: Fields): boolean {
  return textOf(from.agent_id) !== undefined || textOf(from.parent_tool_use_id) !== undefined;
}

export function hasToolResult(message: Fields | undefined): boolean {
  return (listOf(message?.content) ?? []).some((block) => fieldsOf(block)?.type === "tool_result");
}
