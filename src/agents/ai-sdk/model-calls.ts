import {
  AgentError,
  FROM_MODEL,
  now,
  outputMessages,
  recordSource,
  textProperty,
} from "../../events/door.ts";
import {
  answeredBy,
  countUse,
  type Fields,
  fieldsOf,
  listOf,
  type ModelCallOptions,
  observed,
  routedIn,
  type StreamObserver,
  textOf,
  tokensIn,
} from "../core/door.ts";
import { cutBy, inModelCall } from "../runtime/door.ts";
import type { CallState, OpenModel } from "./call-state.ts";
import { modelText, operatorTextOf } from "./errors.ts";
import { endIn, requestIn } from "./requests.ts";

/** Ends of answers that a later event explains, by operation. */
const LATER: ReadonlyMap<string, string> = new Map([
  ["ai.generateText", "other"],
  ["ai.streamText", "other"],
  ["ai.streamObject", "error"],
]);

/** Follows the model call of each SDK call. There is one at a time. */
export class ModelCalls {
  readonly #options: ModelCallOptions;

  constructor(options: ModelCallOptions) {
    this.#options = options;
  }

  /** A request starts. The SDK's retries are attempts of the same call. */
  started(state: CallState, event: Fields): void {
    if (state.model !== undefined) return;
    state.toolErrors.clear();
    // The SDK leaves out tools that are not active, and all tools if it hides inputs.
    const tools = hasEntries(event.tools) ? listOf(event.tools) : undefined;
    state.offered = tools && new Set(tools.map((tool) => fieldsOf(tool)?.name));
    const { operationId, toolChoice, totals, writer } = state;
    const request = requestIn(event, toolChoice, operationId.startsWith("ai.stream"));
    const model: OpenModel = {
      modelCallId: writer.newId(),
      model: textOf(event.modelId),
      provider: request.provider,
      attempts: 0,
      responseModel: undefined,
      routed: undefined,
      startedMs: performance.now(),
    };
    state.model = model;
    totals.requests += 1;
    const reads = this.#options.contentNeed === "all";
    const asked = event.messages ?? event.promptMessages;
    writer.modelStarted(model, request, {
      input: reads && hasEntries(asked) ? writer.conversation.messages(asked) : undefined,
      system_instructions: reads ? (event.instructions ?? undefined) : undefined,
      tools: reads ? tools : undefined,
    });
  }

  /** Calls the provider inside the span of the model call. */
  async execute<T>(
    state: CallState,
    execute: () => PromiseLike<T>,
    ends: Pick<StreamObserver, "cancelled" | "failed">,
  ): Promise<T> {
    const { model } = state;
    if (model === undefined) return execute();
    let result: T;
    try {
      result = await this.attempt(state, model, async () => execute());
    } catch (thrown) {
      this.attemptFailed(state, model, thrown);
      throw thrown;
    }
    const answering = this.answering(state, model, result, ends);
    // The SDK reports the answer after it has repaired its tool calls, and not at all if that fails.
    arrived(model, fieldsOf(result));
    return answering;
  }

  /** Makes one attempt inside the span of the model call. */
  attempt<T>({ active }: CallState, model: OpenModel, work: () => T): T {
    model.attempts += 1;
    return inModelCall(active, model, work);
  }

  /** An attempt or its stream failed. The call is still open, because the SDK may retry. */
  attemptFailed({ active, since }: CallState, model: OpenModel, thrown: unknown): void {
    model.error = { thrown };
    recordSource(thrown, FROM_MODEL, { rootRunId: active.rootRunId, since });
  }

  /**
   * The provider returned an answer, or the start of a stream.
   *
   * @returns the result, with its stream observed.
   */
  answering<T>(
    state: CallState,
    model: OpenModel,
    result: T,
    { cancelled, failed, part }: Partial<StreamObserver>,
  ): T {
    model.error = undefined;
    model.answer = undefined;
    const answer = fieldsOf(result);
    model.responseModel = textOf(fieldsOf(answer?.response)?.modelId);
    model.routed = routedIn(undefined, answer?.providerMetadata);
    return observed(result, {
      part: (each) => {
        const fields = fieldsOf(each);
        if (fields?.type === "response-metadata") {
          model.responseModel = textOf(fields.modelId) ?? model.responseModel;
        } else if (fields?.type === "finish") {
          model.routed = routedIn(undefined, fields.providerMetadata);
          arrived(model, fields);
        } else if (fields?.type === "error") this.attemptFailed(state, model, fields.error);
        part?.(each);
      },
      failed: (thrown) => {
        this.attemptFailed(state, model, thrown);
        failed?.(thrown);
      },
      // After an error, the SDK cancels the stream to retry it. The reader has not left.
      cancelled: (reason) => void (model.error === undefined && cancelled?.(reason)),
    });
  }

  /**
   * The answer of version 7 is complete. If the SDK has no word for its end, the step's end has the provider's. The end of
   * `streamObject` says why its stream has an error.
   */
  answeredIn7(state: CallState, event: Fields): void {
    const { model, operationId } = state;
    if (model === undefined || event.finishReason !== LATER.get(operationId)) {
      this.answered(state, event);
      return;
    }
    model.answer = event;
  }

  /** `streamObject` of version 7 ends. An error that is not about the object is one of the model's stream. */
  objectEnded(state: CallState, { error }: Fields): void {
    const { model, operationId } = state;
    if (operationId !== "ai.streamObject" || model?.answer === undefined) return;
    const isOfObject = textProperty(error, "name") === "AI_NoObjectGeneratedError";
    if (error === undefined || error === null || isOfObject) this.answered(state, model.answer);
    else this.attemptFailed(state, model, error);
  }

  /** A step of version 7 ended. */
  stepEnded(state: CallState, { rawFinishReason }: Fields): void {
    const answer = state.model?.answer;
    if (answer !== undefined) {
      const { finishReason } = answer;
      // The SDK's event is slow to copy.
      this.answered(state, answer, endIn({ finishReason, rawFinishReason }));
    } else this.failed(state, new Error("the model's stream ended without an answer"));
  }

  /** The answer is complete: text, or an object in `objectText`. */
  answered(state: CallState, event: Fields, reason = endIn(event)): void {
    const { model, writer } = state;
    if (model === undefined) return;
    // A stream can end normally after it reported an error of the model.
    if (reason === "error" && model.error !== undefined) {
      this.failed(state, undefined, event);
      return;
    }
    state.model = undefined;
    state.modelError = undefined;
    state.lastReason = reason;
    const response = fieldsOf(event.response);
    const responseModel =
      model.responseModel ?? textOf(response?.modelId) ?? this.#streamed(state, event);
    const routed = routedIn(undefined, event.providerMetadata) ?? model.routed;
    const known = {
      provider: answeredBy(model.provider, { responseModel, routed }),
      usage: tokensIn(event.usage),
      responseModel,
      responseId: textOf(event.responseId) ?? textOf(response?.id),
    };
    // Field by field: adding fields to a spread object is slow in Node 20.
    const answer = {
      provider: known.provider,
      usage: known.usage,
      responseModel,
      responseId: known.responseId,
      cost: countUse(model, known, state.totals, this.#options),
      firstOutputMs: firstOutputIn(event),
      finishReasons: reason === undefined ? undefined : [reason],
      output: this.#options.contentNeed === "all" ? answerIn(state, event, reason) : undefined,
    };
    writer.modelAnswered(model, answer, { at: model.answeredAt });
  }

  /** The run ends. Code of the application cuts off a call whose own attempt did not fail. */
  ended(state: CallState, thrown: unknown): void {
    const { model } = state;
    const isModels = model?.error !== undefined || model?.attempts === 0;
    this.failed(state, isModels ? thrown : cutBy(thrown));
  }

  /**
   * The call ended without an answer, or the SDK will not report its end.
   *
   * @param event the SDK's event of the end, if there is one. It has the usage.
   */
  failed(state: CallState, shown: unknown, event?: Fields): void {
    const { model, writer } = state;
    if (model === undefined) return;
    if (model.answer !== undefined && model.error === undefined) {
      this.answered(state, model.answer);
      return;
    }
    state.model = undefined;
    const isStopped = shown instanceof AgentError && shown.cause === model.error?.thrown;
    const thrown = model.error === undefined || isStopped ? shown : model.error.thrown;
    state.modelError = { thrown };
    const text = operatorTextOf(thrown, state);
    const usage = tokensIn((event ?? model.answer)?.usage);
    // The SDK fills in the requested model and an ID of its own where the provider gave none.
    const { responseModel, routed } = model;
    const provider = answeredBy(model.provider, { responseModel, routed });
    const known = { provider, usage, responseModel };
    const cost = countUse(model, known, state.totals, this.#options);
    writer.modelFailed(model, { thrown, text, ...known, cost }, { at: model.answeredAt });
  }

  /** The last event of a text stream names the model that answered. */
  #streamed({ operationId }: CallState, { modelId }: Fields): string | undefined {
    return operationId === "ai.streamText" ? textOf(modelId) : undefined;
  }
}

/** The provider's answer is complete. The SDK reports its end later, or not at all. It may have to hide the content. */
function arrived(model: OpenModel, answer: Fields | undefined): void {
  const { finishReason, response, usage } = answer ?? {};
  if (finishReason === undefined) return;
  model.answer = { finishReason, response, usage };
  model.answeredAt = now();
  model.durationMs = performance.now() - model.startedMs;
}

function firstOutputIn(event: Fields): number | undefined {
  const first = fieldsOf(event.performance)?.timeToFirstOutputMs ?? event.msToFirstChunk;
  return typeof first === "number" && first >= 0 ? first : undefined;
}

/** The answer of a model as messages. Errors of calls have the text that the model gets. */
export function answerIn(
  state: Pick<CallState, "sdk">,
  event: Fields,
  reason: string | undefined,
): unknown {
  const parts = hasEntries(event.content) ? listOf(event.content) : undefined;
  const content = textOf(event.objectText) ?? parts?.map((part) => withText(state, part));
  if (content === undefined) return undefined;
  return outputMessages({ role: "assistant", content }, reason === undefined ? [] : [reason]);
}

function withText(state: Pick<CallState, "sdk">, part: unknown): unknown {
  const fields = fieldsOf(part);
  return fields?.error instanceof Error
    ? { ...fields, error: modelText(fields.error, state) }
    : part;
}

function hasEntries(list: unknown): boolean {
  return (listOf(list) ?? []).length > 0;
}
