import type { ContentNeed } from "../../events/door.ts";
import { type Fields, fieldsOf, textOf } from "../core/door.ts";
import type { CallState, OpenModel } from "./call-state.ts";
import type { ModelCalls } from "./model-calls.ts";
import type { RecordedSpan } from "./recorded-span.ts";
import { answerEvent, contentOn, fieldsIn, parsed, requestEvent, toolsOn } from "./span-events.ts";
import type { AskedCall, SpanRun } from "./span-run.ts";
import type { SpanTools } from "./span-tools.ts";

/** Reports the end of a stream that the SDK does not report. */
interface StreamHooks {
  /** The stream failed. The SDK does not end its spans then. */
  readonly broken: (thrown: unknown) => void;
  readonly cancelled: (reason: unknown) => void;
  /** Calls `work` if the call is still open. Never throws. */
  readonly contain: (work: () => void) => void;
}

/** Follows the model calls of the AI SDK 6: attempts, answers and streams. */
export class SpanModels {
  readonly #models: ModelCalls;
  readonly #tools: SpanTools;
  readonly #contentNeed: ContentNeed;
  /** Runs by the request object of their last stream. We add this object, and the SDK passes it to integrations. */
  readonly #requests = new WeakMap<object, SpanRun>();

  constructor(models: ModelCalls, tools: SpanTools, contentNeed: ContentNeed) {
    this.#models = models;
    this.#tools = tools;
    this.#contentNeed = contentNeed;
  }

  /** An attempt starts. The first attempt starts the call. */
  started(run: SpanRun, state: CallState, span: RecordedSpan): void {
    if (state.model !== undefined) return;
    this.#tools.refused(run, state, span);
    run.content = undefined;
    run.tools = () => toolsOn(span);
    state.toolChoice = parsed(span.get("ai.prompt.toolChoice"));
    this.#models.started(state, requestEvent(span, this.#contentNeed));
  }

  /** The model returned a complete answer. */
  answered(
    run: SpanRun,
    state: CallState,
    model: OpenModel,
    span: RecordedSpan,
    value: unknown,
  ): void {
    const result = fieldsOf(this.#models.answering(state, model, value, {}));
    const content = fieldsIn(result?.content);
    this.#saw(run, state, span, content.some(isShown));
    run.asked = content.flatMap((part) => askedIn(part) ?? []);
    run.lastReason = textOf(span.get("ai.response.finishReason"));
    const shown = span.showsOutputs ? content : undefined;
    this.#models.answered(state, answerEvent(span, result, shown));
  }

  /**
   * The model starts to stream its answer.
   *
   * @param value `{ result: { stream, … }, … }`, a new object of the SDK.
   */
  streams(
    run: SpanRun,
    state: CallState,
    model: OpenModel,
    value: unknown,
    { broken, contain, cancelled }: StreamHooks,
  ): void {
    const result = fieldsOf(fieldsOf(value)?.result);
    if (typeof value !== "object" || value === null || result === undefined) return;
    const part = (each: unknown) =>
      contain(() => {
        const fields = fieldsOf(each);
        const asked = fields === undefined ? undefined : askedIn(fields);
        if (asked !== undefined) run.asked.push(asked);
      });
    const request = { ...fieldsOf(result.request) };
    this.#requests.set(request, run);
    const hooks = { part, failed: broken, cancelled };
    Reflect.set(
      value,
      "result",
      this.#models.answering(state, model, { ...result, request }, hooks),
    );
  }

  /** A stream ended normally. */
  streamEnded(run: SpanRun, state: CallState, span: RecordedSpan): void {
    const reason = textOf(span.get("ai.response.finishReason"));
    run.lastReason = reason;
    if (reason === undefined) {
      this.#models.failed(state, new Error("the model's stream ended without an answer"));
      return;
    }
    // An object of the wrong form is not shown either, so only text streams are sure.
    this.#saw(run, state, span, run.operationId === "ai.streamText");
    this.#models.answered(state, answerEvent(span, state.model?.answer, contentOn(span)));
  }

  stepFinished(event: Fields): void {
    const request = event.request;
    if (typeof request !== "object" || request === null) return;
    const run = this.#requests.get(request);
    if (run !== undefined) run.content = event.content;
  }

  /** @param isSure whether the span would have outputs if the settings allowed them. */
  #saw(run: SpanRun, state: CallState, span: RecordedSpan, isSure: boolean): void {
    if (span.showsOutputs) run.showsOutputs = true;
    else if (isSure) {
      run.showsOutputs = false;
      state.isHidden = true;
    }
  }
}

/** Whether the SDK shows this part in an attribute. */
function isShown({ type }: Fields): boolean {
  return type === "text" || type === "tool-call";
}

function askedIn(part: Fields): AskedCall | undefined {
  const toolCallId = textOf(part.toolCallId);
  if (part.type !== "tool-call" || toolCallId === undefined) return undefined;
  return {
    toolCallId,
    toolName: textOf(part.toolName) ?? "",
    input: parsed(part.input) ?? part.input,
    isProviders: part.providerExecuted === true,
  };
}
