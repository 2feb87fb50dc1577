import { Fence, type Fields, fieldsOf, observedStream, textOf } from "../core/door.ts";
import type { CallState } from "./call-state.ts";
import { Calls, responding } from "./calls.ts";
import { type AiSdkCounts, type AiSdkTelemetryOptions, checkAiSdkOptions } from "./options.ts";
import { SpanCalls } from "./span-calls.ts";
import { type AiSdkTracer, SpanTracer } from "./tracer.ts";

/** Marks a telemetry of any loaded copy of this package. */
export const AI_SDK_TELEMETRY: unique symbol = Symbol.for("entelix-otel.ai-sdk-telemetry.v1");

/** The argument of `executeLanguageModelCall` and `executeTool`. */
interface Execution<T> {
  readonly callId: string;
  readonly execute: () => PromiseLike<T>;
}

/**
 * A telemetry integration for the AI SDK 7. It sends runs, model calls, tool calls and approvals to a sink. The AI
 * SDK 6 uses its {@link tracer}.
 *
 * Each call of `generateText`, `streamText`, `generateObject` and `streamObject` is a run. So is each call of an
 * agent. A call inside a tool is a child run of that tool call. `embed` and `embedMany` are model calls of the run
 * around them, or runs of their own. The class does not import the SDK, and its errors never reach the SDK.
 *
 * @throws TypeError from the constructor when `tenant` is empty or an option has the wrong type.
 * @throws RangeError from the constructor when a limit is out of range.
 *
 * @example
 * import { registerTelemetry } from "ai";
 *
 * registerTelemetry(new AiSdkTelemetry({ sink: bridge, tenant: "acme" }));
 */
export class AiSdkTelemetry {
  readonly [AI_SDK_TELEMETRY] = true;
  readonly #fence: Fence;
  readonly #calls: Calls;
  readonly #tracer: SpanTracer;

  constructor(given: AiSdkTelemetryOptions) {
    const options = checkAiSdkOptions(given);
    this.#fence = new Fence(options.sink, options.onError);
    this.#calls = new Calls(options, this.#fence.sink, this.#fence.report);
    const spans = new SpanCalls({
      calls: this.#calls,
      contentNeed: this.#fence.sink.contentNeed,
      contain: (work) => this.#fence.follow(work),
    });
    this.#tracer = new SpanTracer(spans);
  }

  /**
   * The tracer for the AI SDK 6: each call that gets it is a run. Also pass it as `integrations`. Without that, and
   * in versions before 6.0.111, a stream that waits for an approval looks complete.
   *
   * @example
   * const { tracer } = telemetry;
   * streamText({
   *   model,
   *   prompt,
   *   experimental_telemetry: { isEnabled: true, functionId: "support", tracer, integrations: tracer },
   * });
   */
  get tracer(): AiSdkTracer {
    return this.#tracer;
  }

  /** Counts of callbacks that were not sent as events. */
  get counts(): AiSdkCounts {
    return {
      ...this.#calls.counts,
      ...this.#fence.counts,
    };
  }

  /**
   * Resolves when the sink has accepted or refused all events and was flushed. Errors of the sink go to `onError`.
   * Never rejects.
   */
  async flush(): Promise<void> {
    await this.#calls.settled();
    await this.#fence.flush();
  }

  /**
   * Makes a streamed response whose runs are cancelled when the client disconnects. Without it, the SDK keeps waiting
   * for the model's answer and the run stays open.
   *
   * @param make returns the response. Pass the signal on as `abortSignal`: it fires when the client disconnects, and
   *    stops the model.
   * @returns the same response with an observed body.
   *
   * @example
   * return integration.respond((abortSignal) =>
   *   streamText({ model, prompt, abortSignal }).toUIMessageStreamResponse(),
   * );
   */
  async respond(make: (signal: AbortSignal) => Response | Promise<Response>): Promise<Response> {
    const controller = new AbortController();
    const { signal } = controller;
    const response = await responding.run(signal, () => make(signal));
    const { body, headers, status, statusText } = response;
    if (body === null) return response;
    const cancelled = (reason: unknown) => controller.abort(reason);
    const watched = observedStream(body, { part: ignore, failed: ignore, cancelled });
    return new Response(watched, { headers, status, statusText });
  }

  // Callbacks of the SDK's interface `Telemetry`. Events are read field by field, because they differ between
  // versions.

  onStart(event: unknown): void | Promise<void> {
    const fields = fieldsOf(event);
    if (fields === undefined) return;
    return this.#fence.follow(() => this.#calls.start(fields));
  }

  onLanguageModelCallStart(event: unknown): void {
    this.#with(event, (state, fields) => {
      this.#calls.requested(state, () => fields.messages);
      this.#calls.models.started(state, fields);
    });
  }

  onLanguageModelCallEnd(event: unknown): void {
    this.#with(event, (state, fields) => this.#calls.models.answeredIn7(state, fields));
  }

  onObjectStepStart(event: unknown): void {
    this.#with(event, (state, fields) => this.#calls.models.started(state, fields));
  }

  onObjectStepEnd(event: unknown): void {
    this.#with(event, (state, fields) => this.#calls.models.answeredIn7(state, fields));
  }

  onEmbedStart(event: unknown): void {
    this.#with(event, (state, fields) => {
      this.#calls.embeddings.started(state, fields).attempts += 1;
    });
  }

  onEmbedEnd(event: unknown): void {
    this.#with(event, (state, fields) =>
      this.#calls.embeddings.answered(state, textOf(fields.embedCallId), fields),
    );
  }

  onToolExecutionStart(event: unknown): void {
    this.#with(event, (state, fields) => this.#calls.tools.started(state, fields));
  }

  onToolExecutionEnd(event: unknown): void {
    this.#with(event, (state, fields) => this.#calls.tools.ended(state, fields));
  }

  onStepEnd(event: unknown): void {
    this.#with(event, (state, fields) => this.#calls.stepEnded(state, fields));
  }

  onEnd(event: unknown): void {
    this.#with(event, (state, fields) => this.#calls.ended(state, fields));
  }

  onAbort(event: unknown): void {
    this.#with(event, (state, fields) => this.#calls.aborted(fields, state, fields.reason));
  }

  onError(event: unknown): void {
    this.#with(event, (state, fields) => this.#calls.failed(fields, state, fields.error));
  }

  /** Calls the model inside the span of its call. */
  executeLanguageModelCall<T>(options: Execution<T>): PromiseLike<T> {
    const state = this.#stateOf(options);
    if (state === undefined) return options.execute();
    return this.#calls.models.execute(state, options.execute, {
      // The SDK does not report this of `streamObject`, and before 7.0.173 of no stream.
      failed: (thrown) =>
        this.#later(options, (open, fields) => this.#calls.failed(fields, open, thrown)),
      // The reader left.
      cancelled: (reason) =>
        this.#later(options, (open, fields) => this.#calls.aborted(fields, open, reason)),
    });
  }

  /** Calls the tool inside the span of its call. */
  executeTool<T>(options: Execution<T> & { readonly toolCallId: string }): PromiseLike<T> {
    const state = this.#stateOf(options);
    if (state === undefined) return options.execute();
    return this.#calls.tools.execute(state, options.toolCallId, options.execute);
  }

  /** Handles the end of a stream, unless the SDK reports it in the same tick, or starts the next request. */
  #later(options: unknown, work: (state: CallState, fields: Fields) => void): void {
    setImmediate(() => {
      this.#with(options, (state, fields) => {
        if (state.model !== undefined) work(state, fields);
      });
    });
  }

  #stateOf(event: unknown): CallState | undefined {
    const fields = fieldsOf(event);
    return fields === undefined ? undefined : this.#calls.of(fields);
  }

  #with(event: unknown, work: (state: CallState, fields: Fields) => void): void {
    this.#fence.contain(() => {
      const fields = fieldsOf(event);
      const state = fields === undefined ? undefined : this.#calls.of(fields);
      if (fields !== undefined && state !== undefined) work(state, fields);
    });
  }
}

function ignore(): void {}
