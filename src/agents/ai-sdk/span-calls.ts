import { AsyncLocalStorage } from "node:async_hooks";
import { type ContentNeed, isPromise } from "../../events/door.ts";
import { fieldsOf } from "../core/door.ts";
import { carried, inToolCall } from "../runtime/door.ts";
import type { CallState, OpenEmbedding, OpenTool } from "./call-state.ts";
import { type Calls, RUNS } from "./calls.ts";
import { EMBEDDINGS } from "./embeddings.ts";
import { RecordedSpan } from "./recorded-span.ts";
import { embeddingEvent, parsed, startEvent } from "./span-events.ts";
import { SpanModels } from "./span-models.ts";
import { SpanOutcomes } from "./span-outcomes.ts";
import { type SpanRun, spanRun } from "./span-run.ts";
import { SpanTools } from "./span-tools.ts";
import type { SpanFollower, SpanWork } from "./tracer.ts";

export interface SpanCallsOptions {
  readonly calls: Calls;
  readonly contentNeed: ContentNeed;
  /** Calls `work`. Its errors do not reach the SDK. */
  readonly contain: (work: () => void | Promise<void>) => void | Promise<void>;
}

/** The SDK call that the running code belongs to. */
interface Place {
  readonly calls: SpanCalls;
  readonly run: SpanRun | undefined;
  /** The call of another follower around it. */
  readonly outer: Place | undefined;
}

/** One for the process: on Node 20, a storage of each follower would make every promise of the process dearer. */
const running = new AsyncLocalStorage<Place>();

/** The places of other followers, so that the list is no longer than there are followers. */
function othersOf(calls: SpanCalls, place: Place | undefined): Place | undefined {
  if (place === undefined) return undefined;
  const outer = othersOf(calls, place.outer);
  if (place.calls === calls) return outer;
  return outer === place.outer ? place : { ...place, outer };
}

/**
 * Follows calls of the AI SDK 6, which runs each part of a call inside a span of the given tracer. What the code in
 * the span returns or throws replaces the callbacks of the AI SDK 7.
 */
export class SpanCalls implements SpanFollower {
  readonly #options: SpanCallsOptions;
  readonly #models: SpanModels;
  readonly #tools: SpanTools;
  readonly #outcomes: SpanOutcomes;
  #started = 0;

  constructor(options: SpanCallsOptions) {
    const { calls, contentNeed } = options;
    this.#options = options;
    this.#tools = new SpanTools(calls.tools, contentNeed);
    this.#models = new SpanModels(calls.models, this.#tools, contentNeed);
    this.#outcomes = new SpanOutcomes(calls);
  }

  follow(name: string, attributes: unknown, work: SpanWork): unknown {
    if (RUNS.has(name) || EMBEDDINGS.has(name)) return this.#run(name, attributes, work);
    if (/^ai\.embed(?:Many)?\.doEmbed$/.test(name)) return this.#embedding(attributes, work);
    if (/^ai\.\w+\.do(?:Generate|Stream)$/.test(name)) return this.#model(attributes, work);
    if (name === "ai.toolCall") return this.#tool(attributes, work);
    // Others have an outer span around the span of their model.
    if (/^ai\.\w+$/.test(name)) {
      const other = { operationId: name, callId: this.#newId() };
      void this.#options.contain(() => this.#options.calls.start(other));
    }
    return work(new RecordedSpan(attributes));
  }

  /** A callback of the SDK with the content of a step. Spans of a stream do not show it. */
  stepFinished(event: unknown): void {
    void this.#options.contain(() => this.#models.stepFinished(fieldsOf(event) ?? {}));
  }

  /** Events of the SDK that show a call's signal. */
  signalled(event: unknown): void {
    const signal = fieldsOf(event)?.abortSignal;
    if (signal instanceof AbortSignal) this.#current().state?.signals.add(signal);
  }

  #newId(): string {
    this.#started += 1;
    return `ai-sdk-6-${this.#started}`;
  }

  #run(operationId: string, attributes: unknown, work: SpanWork): unknown {
    const { calls, contain, contentNeed } = this.#options;
    const run = spanRun(this.#newId(), operationId);
    const span = new RecordedSpan(attributes, (ended) => {
      // A failed stream throws its error.
      if (run.isStream && !ended.isFailed) {
        this.#with(run, (state) => this.#outcomes.streamEnded(run, state, ended));
      }
    });
    const started = contain(() =>
      calls.start(startEvent(run.callId, operationId, span, contentNeed)),
    );
    const runIt = () => this.#inRun(run, span, work);
    return started === undefined ? runIt() : started.then(runIt);
  }

  #inRun(run: SpanRun, span: RecordedSpan, work: SpanWork): unknown {
    const state = this.#options.calls.of(run);
    if (state === undefined) return this.#inside(undefined, () => work(span));
    const { active, isPart } = state;
    const within = () => work(span);
    return followed(
      () =>
        this.#inside(run, () => (isPart ? work(span) : carried(active.sink, {}, active, within))),
      (value) => {
        if (run.isStream) return;
        this.#with(run, (open) => this.#outcomes.returned(run, open, span, value));
      },
      (thrown) => this.#with(run, (open) => this.#outcomes.threw(run, open, thrown)),
    );
  }

  #model(attributes: unknown, work: SpanWork): unknown {
    const { run, state } = this.#current();
    if (run === undefined || state === undefined) return work(new RecordedSpan(attributes));
    const span = new RecordedSpan(attributes, (ended) => {
      if (run.isStream && !ended.isFailed) {
        this.#with(run, (open) => this.#models.streamEnded(run, open, ended));
      }
    });
    this.#with(run, () => {
      this.#options.calls.requested(state, () => parsed(span.get("ai.prompt.messages")));
      this.#models.started(run, state, span);
    });
    const { model } = state;
    if (model === undefined) return work(span);
    const { models } = this.#options.calls;
    return followed(
      () => models.attempt(state, model, () => work(span)),
      (value) =>
        this.#with(run, () => {
          if (run.isStream) this.#models.streams(run, state, model, value, this.#hooks(run));
          else this.#models.answered(run, state, model, span, value);
        }),
      (thrown) => this.#with(run, () => models.attemptFailed(state, model, thrown)),
    );
  }

  #embedding(attributes: unknown, work: SpanWork): unknown {
    const span = new RecordedSpan(attributes);
    const { run, state } = this.#current();
    if (run === undefined || state === undefined) return work(span);
    const { embeddings, models } = this.#options.calls;
    let open: OpenEmbedding | undefined;
    this.#with(run, () => {
      open = embeddings.started(state, embeddingEvent(span));
    });
    const call = open;
    if (call === undefined) return work(span);
    return followed(
      () => models.attempt(state, call, () => work(span)),
      (value) => this.#with(run, () => embeddings.answered(state, call.id, fieldsOf(value) ?? {})),
      (thrown) => this.#with(run, () => models.attemptFailed(state, call, thrown)),
    );
  }

  #tool(attributes: unknown, work: SpanWork): unknown {
    const span = new RecordedSpan(attributes);
    const { run, state } = this.#current();
    if (run === undefined || state === undefined) return work(span);
    let tool: OpenTool | undefined;
    this.#with(run, () => {
      tool = this.#tools.started(run, state, span);
    });
    const open = tool;
    if (open === undefined) return work(span);
    const { tools } = this.#options.calls;
    return followed(
      () => inToolCall(state.active, open, () => work(span)),
      (value) => this.#with(run, () => this.#tools.returned(run, state, open, span, value)),
      (error) => this.#with(run, () => tools.close(state, open, { type: "tool-error", error })),
    );
  }

  /** Handles the end of a model's stream that the SDK does not report. */
  #hooks(run: SpanRun) {
    // The SDK may end the call itself in the same tick.
    const later = (work: (state: CallState) => void) =>
      setImmediate(() => this.#with(run, (state) => state.model !== undefined && work(state)));
    return {
      broken: (thrown: unknown) => void later((state) => this.#outcomes.threw(run, state, thrown)),
      cancelled: (reason: unknown) =>
        void later((state) => this.#options.calls.aborted(run, state, reason)),
      contain: (work: () => void) => this.#with(run, work),
    };
  }

  #inside<T>(run: SpanRun | undefined, work: () => T): T {
    return running.run({ calls: this, run, outer: othersOf(this, running.getStore()) }, work);
  }

  #current() {
    let place = running.getStore();
    while (place !== undefined && place.calls !== this) place = place.outer;
    const run = place?.run;
    return { run, state: run === undefined ? undefined : this.#options.calls.of(run) };
  }

  /** Calls `work` if the call is still open. */
  #with(run: SpanRun, work: (state: CallState) => unknown): void {
    void this.#options.contain(() => {
      const state = this.#options.calls.of(run);
      if (state !== undefined) work(state);
    });
  }
}

/**
 * Calls `work` and reports its outcome before code that awaits it continues.
 *
 * @returns what `work` returned.
 */
function followed(
  work: () => unknown,
  returned: (value: unknown) => void,
  threw: (thrown: unknown) => void,
): unknown {
  let result: unknown;
  try {
    result = work();
  } catch (thrown) {
    threw(thrown);
    throw thrown;
  }
  if (isPromise(result)) result.then(returned, threw);
  else returned(result);
  return result;
}
