import { AgentError } from "../../events/door.ts";
import { type Fields, fieldsOf, listOf, textOf } from "../core/door.ts";
import type { AgentRun } from "./agent-run.ts";
import { type Decided, deniedByPolicy, isSame } from "./decisions.ts";
import type { SubAgents } from "./sub-agents.ts";
import type { HookEnd, OpenTool, ToolCalls } from "./tool-calls.ts";
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

  /** @param input content: tells calls with one ID apart. */
  find(toolUseId: string | undefined, input?: unknown): OpenTool | undefined {
    return likeliest(this.#openWith(toolUseId), ({ input }) => input, input);
  }

  /** The open calls with that ID, mostly one. */
  #openWith(toolUseId: string | undefined): readonly OpenTool[] {
    if (toolUseId === undefined) return [];
    return this.#toolsOfRuns().flatMap(({ writer }) => writer.open.withId(toolUseId));
  }

  #toolsOfRuns(): ToolCalls[] {
    const main = this.#host.main();
    const below = this.#host.agents.open.map(({ tools }) => tools);
    return main === undefined ? below : [main.tools, ...below];
  }

  /** A block `tool_use` in an answer. */
  announced(block: Fields, message: Fields, hasHooks: boolean): void {
    const toolUseId = textOf(block.id);
    const tool = textOf(block.name);
    if (toolUseId === undefined || tool === undefined) return;
    const call = this.#callOf(toolUseId, tool, block.input, message, "isShown");
    // Without hooks, only the message shows that the call starts.
    if (!hasHooks) call?.run.started(call);
  }

  /** Hook `PreToolUse`. */
  begins(input: Fields): void {
    const call = this.#named(input.tool_use_id, input, "hasBegun");
    if (call === undefined) return;
    // The tool's real input. The model may have omitted fields with a default.
    if (call.state === "announced" && !call.isDecided) call.input = input.tool_input;
    call.run.starting(call);
  }

  /**
   * A hook or `canUseTool` is asked about a call. The call has not started.
   *
   * @returns the call. `undefined`: it was denied.
   */
  asked(toolUseId: unknown, input: Fields): OpenTool | undefined {
    const call = this.#named(toolUseId, input, "isDecided");
    if (call === undefined) return undefined;
    call.askers += 1;
    call.run.asked(call);
    return call;
  }

  /** A hook or `canUseTool` did not decide about a call. */
  undecided(call: OpenTool): void {
    if (!call.run.writer.open.has(call)) return;
    call.askers -= 1;
    if (call.state !== "asking" || call.askers > 0) return;
    call.state = "announced";
    call.run.starting(call);
  }

  /**
   * A decision about a call.
   *
   * @param toolUseId without an ID, the decision is sent without a call.
   * @param asked the call, if {@link asked} returned it.
   */
  decided(toolUseId: unknown, input: Fields, decided: Decided, asked?: OpenTool): void {
    const isOpen = asked?.run.writer.open.has(asked) === true;
    const call = isOpen ? asked : this.#named(toolUseId, input, "isDecided");
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
    if (decided.isAllowed) call.run.approve(call, decided.details);
    else call.run.deny(call, decided.reason, decided.details);
  }

  /** Reads the denials that the result lists. */
  refused(denials: unknown): void {
    for (const each of listOf(denials) ?? []) {
      const denial = fieldsOf(each) ?? {};
      const call = this.find(textOf(denial.tool_use_id), denial.tool_input);
      if (call?.end === undefined && call?.isDecided === false) {
        this.decided(call.toolUseId, denial, deniedByPolicy(""), call);
      }
    }
  }

  /** Hooks `PostToolUse` and `PostToolUseFailure`. */
  ends(input: Fields): void {
    const call = this.#named(input.tool_use_id, input, "end");
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
    const isError = block.is_error === true;
    const call = this.#returnedCall(textOf(block.tool_use_id), isError, message);
    if (call === undefined) return;
    if (isError && isRefused(call, block, message)) {
      const decided = deniedByPolicy(textIn(block.content) ?? "");
      this.decided(call.toolUseId, {}, decided, call);
      return;
    }
    const isInterrupt = call.end?.isInterrupt ?? this.#host.wasInterrupted();
    const cut = this.#host.abortError() ?? (isInterrupt ? AgentError.cancelled() : undefined);
    if (isError && cut !== undefined) call.run.cut(call, cut);
    else call.run.returned(call, block.content, isError, message.tool_use_result);
    this.#host.agents.callEnded(call, isError);
  }

  /** The call of a result: one whose end a hook reported, unless there is none. */
  #returnedCall(toolUseId: string | undefined, isError: boolean, { tool_use_result }: Fields) {
    const calls = this.#openWith(toolUseId);
    const ended = calls.filter(({ end }) => end !== undefined);
    const call = likeliest(ended, ({ end }) => end?.output, tool_use_result);
    if (call !== undefined || toolUseId === undefined) return call;
    // The result of a denied call, while another call of its ID is open.
    const isDenied = isError && this.#toolsOfRuns().some((tools) => tools.denied(toolUseId));
    return isDenied ? undefined : calls[0];
  }

  #named(given: unknown, input: Fields, report: Report): OpenTool | undefined {
    const toolUseId = textOf(given);
    const tool = textOf(input.tool_name);
    if (toolUseId === undefined || tool === undefined) return undefined;
    return this.#callOf(toolUseId, tool, input.tool_input, input, report);
  }

  /**
   * The call with that ID, or a new one. A second report of `isShown` or `hasBegun` is one of another call, because
   * the SDK makes each once for each call.
   *
   * @returns `undefined` for a denied call.
   */
  #callOf(toolUseId: string, tool: string, input: unknown, from: Fields, report: Report) {
    const open = this.#openWith(toolUseId).filter((call) => call.tool === tool);
    const denied = this.#toolsOfRuns().flatMap((tools) => tools.denied(toolUseId) ?? []);
    const known = [...open, ...denied];
    const lacking = known.filter((call) => !call[report]);
    const opens = report === "isShown" || report === "hasBegun";
    const again = opens ? denied.find((call) => isSame(call.input, input)) : known[0];
    const found = likeliest(lacking, (call) => call.input, input) ?? again;
    const call = found ?? this.#begin(toolUseId, tool, input, from);
    if (opens) call[report] = true;
    return denied.includes(call) ? undefined : call;
  }

  #begin(toolUseId: string, tool: string, input: unknown, from: Fields): OpenTool {
    const { forgot, most, runOf } = this.#host;
    const { tools } = runOf(from);
    const { open } = tools.writer;
    const [oldest] = open.size < most ? [] : open;
    if (oldest !== undefined) {
      tools.cut(oldest, AgentError.cancelled());
      forgot();
    }
    return tools.begin(toolUseId, tool, input);
  }
}

/** What a report about a call sets. */
type Report = "isShown" | "hasBegun" | "isDecided" | "end";

/** The first call whose value is that of the report, else the first one. */
function likeliest(
  calls: readonly OpenTool[],
  read: (call: OpenTool) => unknown,
  value: unknown,
): OpenTool | undefined {
  if (calls.length < 2) return calls[0];
  return calls.find((call) => isSame(read(call), value)) ?? calls[0];
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
