import { type AgentError, recordSource, whyNotMade } from "../../events/door.ts";
import {
  type Fields,
  fieldIn,
  fieldsOf,
  listOf,
  sendReturned,
  startedNow,
  type ToolCallOptions,
  textOf,
} from "../core/door.ts";
import { abortError, carried, isStop } from "../runtime/door.ts";
import type { CallState, OpenTool } from "./call-state.ts";
import { modelText, operatorTextOf } from "./errors.ts";

/** Follows the tool calls of the SDK. */
export class ToolCalls {
  readonly #options: ToolCallOptions;

  constructor(options: ToolCallOptions) {
    this.#options = options;
  }

  started(state: CallState, event: Fields): OpenTool | undefined {
    const call = fieldsOf(event.toolCall);
    const toolUseId = textOf(call?.toolCallId);
    return call && toolUseId !== undefined ? this.#open(state, toolUseId, call) : undefined;
  }

  #open(state: CallState, toolUseId: string, call: Fields): OpenTool {
    const name = textOf(call.toolName) ?? "";
    const times = startedNow();
    const tool: OpenTool = { toolUseId, tool: name, key: undefined, code: "waits", ...times };
    state.openTools.add(tool);
    state.reported.add(toolUseId);
    state.totals.toolCalls += 1;
    state.writer.toolStarted(tool, this.#inputOf(call), descriptionOf(state, name));
    return tool;
  }

  #inputOf(call: Fields): unknown {
    return this.#options.contentNeed === "none" ? undefined : call.input;
  }

  /** Calls the tool's code inside the span of the call. */
  async execute<T>(state: CallState, toolUseId: string, execute: () => PromiseLike<T>): Promise<T> {
    // The SDK calls the code of calls in the order of their starts.
    const tool = openTool(state, toolUseId, "waits");
    if (tool === undefined) return execute();
    tool.code = "runs";
    try {
      return await this.inCall(state, tool, async () => execute());
    } catch (thrown) {
      tool.error = { thrown };
      const source = { origin: "tool", tool: tool.tool } as const;
      const { rootRunId } = state.active;
      recordSource(thrown, source, { rootRunId, since: tool.since });
      throw thrown;
    } finally {
      tool.code = "ended";
      // The SDK reports the ends of calls in the order in which their code ended.
      if (state.openTools.delete(tool)) state.openTools.add(tool);
    }
  }

  /** Runs code inside the span of the tool call, as code of that call. */
  inCall<T>({ active }: CallState, { key, tool, toolUseId }: OpenTool, work: () => T): T {
    const run = { ...active, toolUseId, callKey: key, tool };
    return carried(active.sink, { tool_use_id: key ?? toolUseId }, run, work);
  }

  /** The end of a call, which the SDK reports by its ID. */
  ended(state: CallState, event: Fields): void {
    const id = textOf(fieldsOf(event.toolCall)?.toolCallId);
    const tool = openTool(state, id, "ended") ?? openTool(state, id);
    if (tool !== undefined) this.close(state, tool, fieldsOf(event.toolOutput));
  }

  /** @param output `{ type, output }`, or `{ type: "tool-error", error }`. */
  close(state: CallState, tool: OpenTool, output: Fields | undefined): void {
    if (!state.openTools.delete(tool)) return;
    if (output?.type === "tool-error") this.#failed(state, tool, output.error);
    else sendReturned(state.writer, tool, output?.output, this.#options);
  }

  #failed(state: CallState, tool: OpenTool, shown: unknown): void {
    const thrown = tool.error === undefined ? shown : tool.error.thrown;
    if (isStop(thrown, state.signals)) {
      state.writer.toolCut(tool, abortError(thrown));
      return;
    }
    const { active, isHidden, writer } = state;
    const source = recordSource(
      thrown,
      { origin: "tool", tool: tool.tool },
      { rootRunId: active.rootRunId, since: tool.since },
    );
    const failure = { thrown, source, text: operatorTextOf(thrown, state) };
    writer.toolFailed(tool, failure, isHidden ? null : modelText(thrown, state));
  }

  /**
   * Reports calls that the SDK refused because their input or name was invalid. The model gets an error instead of a
   * result.
   *
   * @param content parts of an answer. If a part has no `error`, the model's text is not known.
   */
  refusedIn(state: CallState, content: unknown): void {
    for (const part of listOf(content) ?? []) {
      const fields = fieldsOf(part);
      const toolUseId = textOf(fields?.toolCallId);
      if (fields?.type !== "tool-error" || toolUseId === undefined) continue;
      if (fields.providerExecuted === true || state.reported.has(toolUseId)) continue;
      state.reported.add(toolUseId);
      state.totals.toolCalls += 1;
      const tool = textOf(fields.toolName) ?? "";
      const text = "error" in fields ? modelText(fields.error, state) : null;
      const isKnown = isOffered(state.tools, tool);
      const code = whyNotMade(text ?? "", isKnown, "tool_input_invalid");
      const shown = state.isHidden ? null : text;
      const call = { input: this.#inputOf(fields), code, text: shown };
      const description = descriptionOf(state, tool);
      state.writer.toolNotMade({ toolUseId, tool, ...startedNow() }, { ...call, description });
    }
  }

  /** @param error ends the calls that are still open. */
  cutAll(state: CallState, error: AgentError): void {
    for (const tool of state.openTools) state.writer.toolCut(tool, error);
    state.openTools.clear();
  }
}

function descriptionOf({ tools }: CallState, tool: string): string | undefined {
  return textOf(fieldIn(fieldIn(tools, tool), "description"));
}

/** Whether the call has that tool. `undefined`: its tools are not known. */
function isOffered(tools: unknown, tool: string): boolean | undefined {
  const known = fieldsOf(tools);
  return known === undefined || Object.keys(known).length === 0 ? undefined : tool in known;
}

/** @param code state of its code. Default: any. */
function openTool(
  { openTools }: CallState,
  toolUseId: string | undefined,
  code?: OpenTool["code"],
): OpenTool | undefined {
  for (const tool of openTools) {
    if (tool.toolUseId === toolUseId && (code === undefined || tool.code === code)) return tool;
  }
  return undefined;
}
