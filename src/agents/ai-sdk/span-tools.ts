import type { ContentNeed } from "../../events/door.ts";
import { type Fields, fieldsOf } from "../core/door.ts";
import type { CallState, OpenTool } from "./call-state.ts";
import type { RecordedSpan } from "./recorded-span.ts";
import { errorTextsIn, fieldsIn, parsed } from "./span-events.ts";
import type { AskedCall, SpanRun } from "./span-run.ts";
import type { ToolCalls } from "./tool-calls.ts";

/** Follows the tool calls of the AI SDK 6. */
export class SpanTools {
  readonly #tools: ToolCalls;
  readonly #contentNeed: ContentNeed;

  constructor(tools: ToolCalls, contentNeed: ContentNeed) {
    this.#tools = tools;
    this.#contentNeed = contentNeed;
  }

  started(run: SpanRun, state: CallState, span: RecordedSpan): OpenTool | undefined {
    if (!isShown(run, span)) state.isHidden = true;
    state.tools = run.tools();
    const args = this.#contentNeed === "none" ? undefined : parsed(span.get("ai.toolCall.args"));
    const toolCallId = span.get("ai.toolCall.id");
    const toolName = span.get("ai.toolCall.name");
    const toolCall = { toolCallId, toolName, input: args };
    answered(run, toolCall);
    return this.#tools.started(state, { toolCall });
  }

  /** The tool ended. The SDK returns a tool's failure instead of throwing it. */
  returned(
    run: SpanRun,
    state: CallState,
    tool: OpenTool,
    span: RecordedSpan,
    value: unknown,
  ): void {
    const result = fieldsOf(value);
    const toolOutput =
      result?.type === "tool-error"
        ? { type: "tool-error", error: result.error }
        : { type: "tool-result", output: isShown(run, span) ? result?.output : undefined };
    this.#tools.close(state, tool, toolOutput);
  }

  /**
   * The next request starts, so all earlier calls have answers. The SDK answered those without a span: their input or name
   * was invalid.
   */
  refused(run: SpanRun, state: CallState, next: RecordedSpan): void {
    // The SDK also continues without answers of the provider's own tools.
    const asked = run.asked.some(({ isProviders }) => isProviders) ? [] : run.asked;
    run.asked = [];
    if (asked.length === 0) return;
    const texts = errorTextsIn(next);
    for (const { input, ...call } of asked) {
      const shown = { ...call, input: run.showsOutputs === true ? input : undefined };
      this.#tools.notMade(state, shown, texts.get(call.toolCallId) ?? null);
    }
  }
}

/** A call of the last answer has a span. Its name or input differs from the model's if it was repaired. */
function answered(run: SpanRun, { input, toolCallId, toolName }: Fields): void {
  const ofId = run.asked.filter((call) => call.toolCallId === toolCallId);
  const ofTool = ofId.filter((call) => call.toolName === toolName);
  const isSame = (call: AskedCall) => JSON.stringify(call.input) === JSON.stringify(input);
  const same = ofTool.length > 1 ? ofTool.find(isSame) : undefined;
  const made = same ?? ofTool[0] ?? ofId[0];
  run.asked = run.asked.filter((call) => call !== made);
}

/** Whether outputs are shown. A span without outputs shows nothing, so the run's model calls are checked as well. */
export function isShown(run: SpanRun, span: RecordedSpan): boolean {
  return span.showsOutputs || run.showsOutputs === true;
}

/** The parts of a step's content that the call's settings show. */
export function shownIn(content: unknown, isShown: boolean): readonly Fields[] {
  const parts = fieldsIn(content);
  if (isShown) return parts;
  return parts
    .filter(({ type }) => type === "tool-approval-request" || type === "tool-error")
    .map(({ approvalId, providerExecuted, toolCall, toolCallId, toolName, type }) => {
      const call = fieldsOf(toolCall);
      return {
        type,
        approvalId,
        providerExecuted,
        toolCallId,
        toolName,
        toolCall: { toolCallId: call?.toolCallId, toolName: call?.toolName },
      };
    });
}
