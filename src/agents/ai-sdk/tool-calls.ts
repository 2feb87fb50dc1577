import { now, whyNotMade } from "../../events/door.ts";
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
import { abortError, inToolCall, isStop } from "../runtime/door.ts";
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
    return call && this.#open(state, call);
  }

  #open(state: CallState, call: Fields): OpenTool {
    const id = textOf(call.toolCallId);
    const toolUseId = id ?? state.writer.newId();
    const name = textOf(call.toolName) ?? "";
    const { since, startedMs } = startedNow();
    const tool: OpenTool = {
      toolUseId,
      tool: name,
      key: undefined,
      code: "waits",
      since,
      startedMs,
      hasOwnId: id === undefined,
    };
    state.reported.add(reportedAs(call));
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
    const tool = openCall(state, toolUseId, waits);
    if (tool === undefined) return execute();
    tool.code = "runs";
    try {
      return await inToolCall(state.active, tool, async () => execute());
    } catch (thrown) {
      tool.error = { thrown };
      state.writer.sourceOf(thrown, tool);
      throw thrown;
    } finally {
      tool.code = "ended";
      // The SDK reports the ends of calls in the order in which their code ended.
      state.writer.open.moveToEnd(tool);
    }
  }

  /** The end of a call, which the SDK reports by its ID. */
  ended(state: CallState, event: Fields): void {
    const call = fieldsOf(event.toolCall);
    if (call === undefined) return;
    const tool = openCall(state, call.toolCallId, hasEnded) ?? openCall(state, call.toolCallId);
    if (tool !== undefined) this.close(state, tool, fieldsOf(event.toolOutput));
  }

  /** @param output `{ type, output }`, or `{ type: "tool-error", error }`. */
  close(state: CallState, tool: OpenTool, output: Fields | undefined): void {
    if (!state.writer.open.has(tool)) return;
    if (output?.type === "tool-error") this.#failed(state, tool, output.error);
    else sendReturned(state.writer, tool, output?.output, this.#options);
  }

  #failed(state: CallState, tool: OpenTool, shown: unknown): void {
    const { isHidden, toolErrors, writer } = state;
    const thrown = tool.error === undefined ? shown : tool.error.thrown;
    toolErrors.add(thrown).add(shown);
    if (isStop(thrown, state.signals)) {
      writer.toolCut(tool, abortError(thrown));
      return;
    }
    const source = writer.sourceOf(thrown, tool);
    const failure = { thrown, source, text: operatorTextOf(thrown, state) };
    const forModel = isHidden ? null : modelText(thrown, state);
    if (state.sdk === 6 || state.operationId !== "ai.generateText") {
      writer.toolFailed(tool, failure, forModel);
      return;
    }
    // The SDK shows no signal. If the call ends with this error, it is the reason of a stop.
    tool.code = "failed";
    const ended = { ...tool, durationMs: performance.now() - tool.startedMs };
    const late = { at: now(), isLate: true };
    state.held.push((stop) => {
      const isStopped = stop !== undefined && stop.thrown === thrown;
      if (isStopped) writer.toolCut(ended, abortError(thrown), late);
      else writer.toolFailed(ended, failure, forModel, late);
    });
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
      if (fields?.type !== "tool-error" || fields.providerExecuted === true) continue;
      const id = textOf(fields.toolCallId);
      const isKnown = id === undefined || state.reported.has(reportedAs(fields));
      if (isKnown && !isOfSdk(fields, state)) continue;
      const text = "error" in fields ? modelText(fields.error, state) : null;
      this.notMade(state, fields, text);
    }
  }

  /**
   * Reports a call that the SDK answered itself.
   *
   * @param text what the model received. `null`: not known.
   */
  notMade(state: CallState, call: Fields, text: string | null): void {
    const { isHidden, reported, totals, writer } = state;
    const tool = textOf(call.toolName) ?? "";
    reported.add(reportedAs(call));
    totals.toolCalls += 1;
    writer.toolNotMade(
      { toolUseId: textOf(call.toolCallId) ?? writer.newId(), tool, ...startedNow() },
      {
        input: this.#inputOf(call),
        code: whyNotMade(text ?? "", isOffered(state, tool), "tool_input_invalid"),
        text: isHidden ? null : text,
        description: descriptionOf(state, tool),
      },
    );
  }
}

/** Sends the failures that are held. @param stop with the value that stopped the call, if it was stopped. */
export function sendHeld({ held }: CallState, stop?: { readonly thrown: unknown }): void {
  for (const send of held.splice(0)) send(stop);
}

function descriptionOf({ tools }: CallState, tool: string): string | undefined {
  return textOf(fieldIn(fieldIn(tools, tool), "description"));
}

/** The name of a call in {@link CallState.reported}. Calls of one answer can share their ID. */
export function reportedAs({ toolCallId, toolName }: Fields): string {
  return `${textOf(toolName) ?? ""} ${textOf(toolCallId) ?? ""}`;
}

/** Whether version 7 made this error: a text that no tool of the step threw. Hidden texts do not tell. */
function isOfSdk({ dynamic, error }: Fields, { isHidden, sdk, toolErrors }: CallState): boolean {
  return (
    sdk === 7 &&
    !isHidden &&
    dynamic === true &&
    typeof error === "string" &&
    !toolErrors.has(error)
  );
}

/** Whether the model was offered that tool, or the call has it. `undefined`: not known. */
function isOffered({ offered, tools }: CallState, tool: string): boolean | undefined {
  if (offered !== undefined) return offered.has(tool);
  const known = fieldsOf(tools);
  return known === undefined || Object.keys(known).length === 0 ? undefined : tool in known;
}

/** The first open call with that ID of the SDK, which may be empty. */
function openCall(
  { writer }: CallState,
  toolCallId: unknown,
  fits: (call: OpenTool) => boolean = ({ code }) => code !== "failed",
): OpenTool | undefined {
  const id = textOf(toolCallId);
  if (id !== undefined) return writer.open.find(id, fits);
  return [...writer.open].find((call) => call.hasOwnId && fits(call));
}

const waits = ({ code }: OpenTool) => code === "waits";
const hasEnded = ({ code }: OpenTool) => code === "ended";
