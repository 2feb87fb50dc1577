import { AgentError, asAgentError, FROM_MODEL, now, recordSource } from "../../events/door.ts";
import {
  aiSdkProvider,
  answeredBy,
  countUse,
  type Fields,
  fieldsOf,
  listOf,
  type ModelCall,
  type ModelCallOptions,
  type ModelUse,
  replacementText,
  routedIn,
  textOf,
  tokensIn,
} from "../core/door.ts";
import { keepTurn, requestAtEnd, requestAtStart, turnOutput } from "./conversation.ts";
import { copiedError } from "./errors.ts";
import { type MastraSpan, startedMsOf, timeAt } from "./mastra-span.ts";
import { isRequest, requestIn } from "./requests.ts";
import {
  type Generation,
  keepError,
  type ModelStep,
  type OpenModel,
  type RunState,
  type SpanScope,
  sendAwaited,
  sendHeld,
} from "./run-state.ts";

/** Parts of a model's stream that count as output. */
const OUTPUT: ReadonlySet<unknown> = new Set([
  "text-delta",
  "reasoning-delta",
  "tool-call-delta",
  "tool-call",
  "object",
]);

/**
 * Follows model requests: spans of type `model_inference`. If Mastra does not export these, a `model_step` stands for
 * its request, or a `model_generation` for all its requests.
 */
export class ModelCalls {
  readonly #options: ModelCallOptions;

  constructor(options: ModelCallOptions) {
    this.#options = options;
  }

  /** Mastra's model loop starts. */
  generation(span: MastraSpan, { run, step, tool }: SpanScope): SpanScope {
    const { attributes } = span;
    const isAll = this.#options.contentNeed === "all";
    const messages = isAll ? (listOf(fieldsOf(span.input)?.messages) ?? []) : [];
    const request = requestIn(attributes, attributes);
    const generation: Generation = {
      request,
      provider: request.provider,
      model: textOf(attributes.model),
      attributes,
      messages: [...messages],
      isFresh: !run.isResumed,
      askedAgain: undefined,
      calls: 0,
    };
    return { run, step, tool, generation };
  }

  /** A turn of the loop starts. */
  step(scope: SpanScope): SpanScope {
    const { generation, run, step, tool } = scope;
    if (generation === undefined) return scope;
    const modelStep: ModelStep = {
      generation,
      preview: undefined,
      results: [],
      model: undefined,
      hasInference: false,
    };
    return { run, step, tool, generation, modelStep };
  }

  /** Mastra asks another model, for example the next one after a failure. */
  generationUpdated({ attributes }: MastraSpan, { generation }: SpanScope): void {
    if (generation === undefined) return;
    generation.provider = aiSdkProvider(textOf(attributes.provider)) ?? generation.provider;
  }

  stepUpdated({ input }: MastraSpan, { modelStep }: SpanScope): void {
    if (modelStep !== undefined && this.#options.contentNeed === "all") {
      modelStep.preview = listOf(input) ?? modelStep.preview;
    }
  }

  /** A request starts. */
  started(span: MastraSpan, { modelStep, run }: SpanScope): void {
    if (modelStep === undefined) return;
    modelStep.hasInference = true;
    if (!isRequest(span.attributes)) return;
    modelStep.model = this.#open(span, run, modelStep.generation);
  }

  #open(span: MastraSpan, run: RunState, generation: Generation, startedMs?: number): OpenModel {
    sendHeld(run);
    this.flushFailed(run);
    sendAwaited(run, undefined);
    generation.askedAgain?.();
    generation.askedAgain = undefined;
    const { attributes } = span;
    const request = requestIn(generation.attributes, attributes);
    const model: OpenModel = {
      modelCallId: run.writer.newId(),
      model: textOf(attributes.model) ?? generation.model,
      provider: request.provider,
      generation,
      attempts: 0,
      startedMs: startedMs ?? performance.now(),
      ended: undefined,
      error: undefined,
      finish: undefined,
      responseModel: undefined,
      responseId: undefined,
      firstOutputMs: undefined,
    };
    run.totals.requests += 1;
    run.models.set(span.id, model);
    const reads = this.#options.contentNeed === "all";
    const { tools } = generation.attributes;
    const content = {
      input: reads ? requestAtStart(generation, run.writer.conversation) : undefined,
      system_instructions: undefined,
      tools: reads && (listOf(tools) ?? []).length > 0 ? tools : undefined,
    };
    const at = startedMs === undefined ? undefined : timeAt(startedMs);
    run.writer.modelStarted(model, request, content, undefined, { at });
    generation.calls += 1;
    return model;
  }

  /** The provider is called, for the first time or with a fallback model. */
  asked(model: OpenModel): void {
    model.attempts += 1;
    model.error = undefined;
    model.finish = undefined;
    model.ended = undefined;
  }

  /** Reads a part of the model's stream before Mastra gets it. */
  part(run: RunState, model: OpenModel, part: unknown): void {
    const fields = fieldsOf(part);
    const payload = fieldsOf(fields?.payload);
    if (OUTPUT.has(fields?.type)) model.firstOutputMs ??= performance.now() - model.startedMs;
    switch (fields?.type) {
      case "response-metadata":
        model.responseModel = textOf(payload?.modelId) ?? model.responseModel;
        model.responseId = textOf(payload?.id) ?? model.responseId;
        break;
      case "error":
        this.threw(run, model, payload?.error);
        break;
      case "finish":
        model.finish = payload;
        model.ended = { at: now(), ms: performance.now() };
        break;
      default:
        break;
    }
  }

  /** The provider's client threw an error. */
  threw(run: RunState, model: OpenModel, thrown: unknown): void {
    model.error = { thrown };
    model.ended = { at: now(), ms: performance.now() };
    keepError(run, thrown);
    recordSource(thrown, FROM_MODEL, { rootRunId: run.active.rootRunId, since: run.since });
  }

  /** The span of a request has ended. */
  ended(span: MastraSpan, { modelStep, run }: SpanScope): void {
    const model = run.models.get(span.id);
    if (modelStep === undefined || model === undefined) return;
    this.#close(run, span.id, model, span, modelStep);
    modelStep.model = undefined;
    if (this.#options.contentNeed === "all") keepTurn(modelStep, span.output);
  }

  #close(
    run: RunState,
    spanId: string,
    model: OpenModel,
    span: MastraSpan,
    step: ModelStep | undefined,
  ): void {
    run.models.delete(spanId);
    const { attributes, errorInfo } = span;
    const isError = errorInfo !== undefined || attributes.finishReason === "error";
    const isAnswered = model.finish !== undefined;
    if (errorInfo !== undefined && model.error === undefined && !isAnswered) {
      this.threw(run, model, copiedError(errorInfo));
    }
    if (model.error !== undefined) this.#hold(run, model, model.error.thrown, attributes);
    // The answer is complete, so the error is Mastra's, not the model's.
    else if (isError && isAnswered) this.#answered(run, model, undefined, step);
    else if (isError) {
      model.ended ??= { at: now(), ms: performance.now() };
      run.failedModel = model;
    } else if (isAnswered || attributes.finishReason !== undefined) {
      this.#answered(run, model, span, step);
    } else this.cut(run, model, AgentError.cancelled());
  }

  #answered(
    run: RunState,
    model: OpenModel,
    span: MastraSpan | undefined,
    step: ModelStep | undefined,
  ): void {
    const attributes: Fields = span?.attributes ?? {};
    const { finish } = model;
    const reason = textOf(attributes.finishReason) ?? textOf(fieldsOf(finish?.stepResult)?.reason);
    const reads = this.#options.contentNeed === "all";
    const isKnown = step?.generation.isFresh === true && step.generation.calls === 1;
    const input =
      reads && step !== undefined && !isKnown
        ? requestAtEnd(step, run.writer.conversation)
        : undefined;
    const answer = {
      content: input === undefined ? undefined : { input },
      ...this.#useIn(run, model, attributes),
      firstOutputMs: model.firstOutputMs,
      finishReasons: reason === undefined ? undefined : [reason],
      output: reads ? turnOutput(span?.output, reason) : undefined,
    };
    run.writer.modelAnswered(timed(model), answer, { at: model.ended?.at });
  }

  /** What the call used, from its span or its stream, added to the totals of its run. */
  #useIn(run: RunState, model: OpenModel, attributes: Fields): ModelUse {
    const responseModel = model.responseModel ?? textOf(attributes.responseModel);
    const { provider } = model.generation;
    const metadata = fieldsOf(model.finish?.metadata)?.providerMetadata;
    const isOther = provider !== model.generation.request.provider;
    const routed = routedIn(undefined, metadata) ?? (isOther ? provider : undefined);
    const use = {
      provider: answeredBy(model.provider, { responseModel, routed }),
      usage: tokensIn(attributes.usage) ?? tokensIn(fieldsOf(model.finish?.output)?.usage),
      responseModel,
      responseId: model.responseId ?? textOf(attributes.responseId),
    };
    return { ...use, cost: countUse(model, use, run.totals, this.#options) };
  }

  #failed(run: RunState, model: OpenModel, thrown: unknown, { usage }: Fields = {}): void {
    // Mastra fills in the requested model where the provider gave none.
    const use = this.#useIn(run, model, { usage });
    const failure = { thrown, text: replacementText(thrown), ...use };
    run.writer.modelFailed(timed(model), failure, { at: model.ended?.at });
  }

  /** Sends the failure when something follows. A stop may have caused an error that is none of the provider's. */
  #hold(run: RunState, model: OpenModel, thrown: unknown, attributes: Fields): void {
    model.ended ??= { at: now(), ms: performance.now() };
    run.held.push((stop) => {
      const isStop = stop !== undefined && asAgentError(thrown) === undefined;
      this.#failed(run, model, isStop ? stop : thrown, attributes);
    });
  }

  /** Ends a call without an end of its own: it was suspended after its answer, or cut off. */
  cut(run: RunState, model: OpenModel, error: unknown): void {
    if (model.error !== undefined) this.#failed(run, model, model.error.thrown);
    else if (model.finish !== undefined || run.finish === "suspended") {
      this.#answered(run, model, undefined, undefined);
    } else this.#failed(run, model, error);
  }

  cutAll(run: RunState, error: unknown): void {
    for (const model of run.models.values()) this.cut(run, model, error);
    run.models.clear();
    this.flushFailed(run, error);
  }

  /** Reports a call whose error is known only at the end of its run. */
  flushFailed(run: RunState, error?: unknown): void {
    const { failedModel } = run;
    if (failedModel === undefined) return;
    run.failedModel = undefined;
    const thrown = error === undefined ? new Error("the model failed") : error;
    this.#failed(run, failedModel, thrown);
  }

  /** A turn ended. Without a request span, the turn is reported as the request. */
  stepEnded(span: MastraSpan, { modelStep, run }: SpanScope): void {
    if (modelStep === undefined || modelStep.hasInference) return;
    this.#past(span, run, modelStep.generation, modelStep);
  }

  /** The loop ended. Without spans of turns, the loop is reported as one request. */
  generationEnded(span: MastraSpan, { generation, run }: SpanScope): void {
    run.finish = textOf(span.attributes.finishReason);
    run.showsOutput ||= span.output !== undefined;
    const hasUsage = tokensIn(span.attributes.usage) !== undefined;
    if (generation === undefined || generation.calls > 0) return;
    if (hasUsage || span.errorInfo !== undefined) this.#past(span, run, generation, undefined);
  }

  #past(
    span: MastraSpan,
    run: RunState,
    generation: Generation,
    step: ModelStep | undefined,
  ): void {
    const model = this.#open(span, run, generation, startedMsOf(span));
    this.#close(run, span.id, model, span, step);
  }
}

/** The call, with the duration of its stream if that ended before the span. */
function timed(open: OpenModel): ModelCall {
  const { attempts, ended, model, modelCallId, provider, startedMs } = open;
  if (ended === undefined) return open;
  return { modelCallId, model, provider, attempts, startedMs, durationMs: ended.ms - startedMs };
}
