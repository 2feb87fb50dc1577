import { AgentError, now, property } from "../../events/door.ts";
import {
  fieldsOf,
  listOf,
  PAUSED,
  replacementText,
  sendReturned,
  startedNow,
  type ToolCallOptions,
  textOf,
} from "../core/door.ts";
import { keepResult } from "./conversation.ts";
import { modelText, thrownOf } from "./errors.ts";
import type { MastraSpan } from "./mastra-span.ts";
import {
  keepError,
  type ModelStep,
  type OpenTool,
  type RunState,
  type SpanScope,
  sendAwaited,
} from "./run-state.ts";

/** Follows Mastra's tool calls, including those of MCP servers. */
export class ToolCalls {
  readonly #options: ToolCallOptions;

  constructor(options: ToolCallOptions) {
    this.#options = options;
  }

  started(span: MastraSpan, scope: SpanScope): SpanScope {
    const { modelStep, run, step } = scope;
    const { attributes, fields } = span;
    const toolUseId = textOf(attributes.toolCallId) ?? span.id;
    const name = textOf(fields.entityName) ?? textOf(fields.entityId) ?? "";
    const { since, startedMs } = startedNow();
    const tool: OpenTool = {
      spanId: span.id,
      toolUseId,
      tool: name,
      since,
      startedMs,
      modelStep,
      error: undefined,
      isOver: false,
    };
    run.totals.toolCalls += 1;
    sendAwaited(run, toolUseId);
    const input = this.#options.contentNeed === "none" ? undefined : span.input;
    run.writer.toolStarted(tool, input, textOf(attributes.toolDescription), step?.stepId);
    return { run, tool };
  }

  /** Mastra has no code of the tool. */
  leftToClient({ fields }: MastraSpan, { run }: SpanScope): void {
    const name = textOf(fields.entityName) ?? textOf(fields.entityId);
    if (name !== undefined) run.clientTools.add(name);
  }

  /** A turn ended. If the model is asked again, Mastra itself has answered calls of tools that do not exist. */
  turnEnded({ attributes, output }: MastraSpan, scope: SpanScope): void {
    const { modelStep, run } = scope;
    if (run.clientTools.size === 0 || modelStep === undefined) return;
    const send = () => this.#answered(output, modelStep, scope);
    if (attributes.isContinued === true) send();
    // Durable agents do not say it.
    else if (attributes.isContinued === undefined) modelStep.generation.askedAgain = send;
  }

  #answered(output: unknown, modelStep: ModelStep, { run, step }: SpanScope): void {
    const offered = listOf(modelStep.generation.attributes.tools) ?? [];
    for (const asked of listOf(fieldsOf(output)?.toolCalls) ?? []) {
      const call = fieldsOf(asked);
      const [tool, toolUseId] = [textOf(call?.toolName), textOf(call?.toolCallId)];
      if (tool === undefined || toolUseId === undefined || !run.clientTools.has(tool)) continue;
      if (offered.some((one) => fieldsOf(one)?.name === tool)) continue;
      run.totals.toolCalls += 1;
      const input = this.#options.contentNeed === "none" ? undefined : call?.args;
      run.writer.toolNotMade(
        { toolUseId, tool, ...startedNow() },
        { input, code: "tool_unknown", text: null, stepId: step?.stepId },
      );
    }
  }

  /** The tool's code threw an error. */
  threw(run: RunState, tool: OpenTool, thrown: unknown): void {
    tool.error = { thrown };
    keepError(run, thrown);
    run.writer.sourceOf(thrown, tool);
  }

  ended(span: MastraSpan, { run, tool }: SpanScope): void {
    if (tool === undefined || tool.isOver || !run.writer.open.has(tool)) return;
    tool.isOver = true;
    const { attributes, errorInfo, output } = span;
    if (tool.error !== undefined || errorInfo !== undefined) {
      const thrown = tool.error?.thrown ?? thrownOf(errorInfo ?? {}, run.errors);
      this.#failed(run, tool, thrown);
    } else if (attributes.success === false || isRefusal(output)) {
      this.#refused(run, tool, output);
    } else if (attributes.success === undefined && output === undefined) this.#cut(run, tool);
    else this.#returned(run, tool, output);
  }

  #failed(run: RunState, tool: OpenTool, thrown: unknown): void {
    const source = run.writer.sourceOf(thrown, tool);
    const shown = modelText(thrown);
    if (isUnknownTool(thrown)) {
      run.writer.toolRefused(tool, "tool_unknown", shown);
      this.#keep(tool, { type: "error-text", value: shown ?? "" });
      return;
    }
    this.#keep(tool, { type: "error-text", value: shown ?? "" });
    const failure = { thrown, source, text: replacementText(thrown) };
    const ended = { ...tool, durationMs: performance.now() - tool.startedMs };
    const late = { at: now(), isLate: true };
    const send = (stop: AgentError | undefined) => {
      if (stop === undefined) run.writer.toolFailed(ended, failure, shown, late);
      else run.writer.toolCut(ended, stop, late);
    };
    if (run.kind === "agent") run.held.push(send);
    else send(undefined);
  }

  /** Mastra refused the input or the result of a tool. The model gets the reason as a result. */
  #refused(run: RunState, tool: OpenTool, output: unknown): void {
    const text = `Mastra refused the result of ${tool.tool}: it has not the expected form`;
    const source = { origin: "tool", tool: tool.tool } as const;
    const shown = textOf(fieldsOf(output)?.message) ?? null;
    if (shown?.startsWith("Tool output") === true) {
      run.writer.toolFailed(tool, { thrown: AgentError.invalidRequest(text), source, text }, shown);
    } else run.writer.toolRefused(tool, "tool_input_invalid", shown);
    this.#keep(tool, { type: "json", value: output });
  }

  #returned(run: RunState, tool: OpenTool, output: unknown): void {
    sendReturned(run.writer, tool, output, this.#options);
    this.#keep(tool, typeof output === "string" ? output : { type: "json", value: output });
  }

  #keep(tool: OpenTool, output: unknown): void {
    if (this.#options.contentNeed === "all") keepResult(tool.modelStep, tool, output);
  }

  /** The span ended without a result: the run paused in the call, or the call was aborted. */
  #cut(run: RunState, tool: OpenTool): void {
    const isPaused = run.finish === "suspended";
    run.writer.toolCut(tool, isPaused ? PAUSED : AgentError.cancelled());
  }
}

/** Whether Mastra replaced a tool's result because a schema did not match. */
function isRefusal(output: unknown): boolean {
  const fields = fieldsOf(output);
  return fields?.error === true && fields.validationErrors !== undefined;
}

/** Whether Mastra has no tool of that name. Spans only have a copy of its error. */
function isUnknownTool(thrown: unknown): boolean {
  if (property(thrown, "name") === "ToolNotFoundError") return true;
  return /^Tool "[^"]{1,200}" not found/.test(textOf(property(thrown, "message")) ?? "");
}
