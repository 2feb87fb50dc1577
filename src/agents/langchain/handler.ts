import { type InnerSink, tellHook } from "../../events/door.ts";
import { SafeSink } from "../core/safe-sink.ts";
import { CallTracker } from "./call-tracker.ts";
import {
  checkHandlerOptions,
  type HandlerCounts,
  type LangChainHandlerOptions,
} from "./handler-options.ts";
import { type SpanScope, spanScopeOf } from "./scope.ts";

/** LangGraph calls a handler with this property when a graph pauses. */
const GRAPH_HANDLER: unique symbol = Symbol.for("langgraph.graph_callback_handler");

/** By this {@link inSpan} knows a handler, of whichever copy of this package. */
export const SPAN_SCOPE: unique symbol = Symbol.for("entelix-otel.langchain-span-place.v1");

/**
 * A callback handler for LangChain.js and LangGraph: sends runs, steps, tool calls and model calls to
 * a sink.
 *
 * The outermost chain or graph is a run, and so is each graph inside it. Nodes of graphs and retrievers
 * are steps. All other calls belong to their run. The handler never throws into the framework. After a run, it keeps only the paused
 * threads. Register it with an invocation, a model or a tool. A second handler on the same sink
 * makes no second span.
 *
 * @throws TypeError, RangeError from the constructor: an empty `tenant`, an option of another type,
 *   a limit out of range.
 *
 * @example
 * const handler = new LangChainHandler({ sink: bridge, tenant: "acme" });
 * await graph.invoke(input, { callbacks: [handler], configurable: { thread_id: "t1" } });
 */
export class LangChainHandler {
  readonly name = "entelix-otel";
  /** Callbacks run where they are called, so that the current run is known, and in order. */
  readonly awaitHandlers = true;
  readonly raiseError = false;
  readonly ignoreLLM = false;
  readonly ignoreChain = false;
  readonly ignoreAgent = false;
  readonly ignoreRetriever = false;
  readonly ignoreCustomEvent = true;
  readonly [GRAPH_HANDLER] = true;
  readonly #sink: InnerSink;
  readonly #safeSink: SafeSink;
  readonly #calls: CallTracker;
  readonly #onError: ((error: unknown) => void) | undefined;
  #faults = 0;

  constructor(options: LangChainHandlerOptions) {
    checkHandlerOptions(options);
    this.#sink = options.sink;
    this.#onError = options.onError;
    this.#safeSink = new SafeSink({ sink: options.sink, onError: options.onError });
    this.#calls = new CallTracker(options, this.#safeSink, (error) => this.#report(error));
  }

  /** Counts of callbacks that were not sent as events so far. */
  get counts(): HandlerCounts {
    return {
      ...this.#calls.counts,
      sinkFailures: this.#safeSink.failures,
      faults: this.#faults,
    };
  }

  /**
   * Resolves when the sink accepted or refused all events and was flushed. Never rejects. Errors of
   * the sink go to `onError`.
   */
  async flush(): Promise<void> {
    this.#contain(() => this.#calls.flush());
    await this.#safeSink.settled();
    try {
      await this.#sink.forceFlush?.();
    } catch (error) {
      this.#report(error);
    }
  }

  /** The same handler: LangChain copies handlers that it makes itself. */
  copy(): this {
    return this;
  }

  /** Used by {@link inSpan}: the span of a LangChain run's code. */
  [SPAN_SCOPE](runId: string): SpanScope | undefined {
    return spanScopeOf(this.#sink, this.#calls.scopeOf(runId));
  }

  // LangChain's callbacks. The arguments are as its tracers read them; the declared order of those of
  // `handleChainStart` is another in some versions, and not what is passed.

  handleChainStart(
    chain: unknown,
    inputs: unknown,
    runId: string,
    parentRunId?: string,
    tags?: readonly string[] | string,
    metadata?: unknown,
    _runType?: unknown,
    runName?: string,
  ): void {
    this.#contain(() =>
      this.#calls.chainStarts(chain, inputs, runId, parentRunId, metadata, runName, tags),
    );
  }

  handleChainEnd(outputs: unknown, runId: string, parentRunId?: string): void {
    this.#contain(() => this.#calls.chainEnds(outputs, runId, parentRunId));
  }

  handleChainError(thrown: unknown, runId: string, parentRunId?: string): void {
    this.#contain(() => this.#calls.chainFails(thrown, runId, parentRunId));
  }

  /** LangGraph's, from the versions that have it: a graph paused. */
  handleInterrupt(event: unknown): void {
    this.#contain(() => this.#calls.graphPauses(event));
  }

  handleToolStart(
    tool: unknown,
    input: string,
    runId: string,
    parentRunId?: string,
    tags?: readonly string[],
    metadata?: unknown,
    runName?: string,
    toolCallId?: string,
  ): void {
    this.#contain(() =>
      this.#calls.toolStarts(tool, input, runId, parentRunId, metadata, runName, toolCallId, tags),
    );
  }

  handleToolEnd(output: unknown, runId: string): void {
    this.#contain(() => this.#calls.toolEnds(output, runId));
  }

  handleToolError(thrown: unknown, runId: string): void {
    this.#contain(() => this.#calls.toolFails(thrown, runId));
  }

  handleChatModelStart(
    model: unknown,
    messages: readonly (readonly unknown[])[],
    runId: string,
    parentRunId?: string,
    extra?: unknown,
    tags?: readonly string[],
    metadata?: unknown,
  ): void {
    this.#contain(() => {
      const request = { messages: messages[0] };
      this.#calls.modelStarts(model, request, runId, parentRunId, extra, metadata, tags);
    });
  }

  handleLLMStart(
    model: unknown,
    prompts: readonly string[],
    runId: string,
    parentRunId?: string,
    extra?: unknown,
    tags?: readonly string[],
    metadata?: unknown,
  ): void {
    this.#contain(() =>
      this.#calls.modelStarts(model, { prompts }, runId, parentRunId, extra, metadata, tags),
    );
  }

  handleLLMNewToken(_token: unknown, _index: unknown, runId: string): void {
    this.#calls.modelStreams(runId);
  }

  handleChatModelStreamEvent(_event: unknown, runId: string): void {
    this.#calls.modelStreams(runId);
  }

  handleLLMEnd(
    result: unknown,
    runId: string,
    _parentRunId?: string,
    _tags?: readonly string[],
    extra?: unknown,
  ): void {
    this.#contain(() => this.#calls.modelEnds(result, runId, extra));
  }

  handleLLMError(thrown: unknown, runId: string): void {
    this.#contain(() => this.#calls.modelFails(thrown, runId));
  }

  handleRetrieverStart(
    retriever: unknown,
    query: string,
    runId: string,
    parentRunId?: string,
    tags?: readonly string[],
    metadata?: unknown,
    runName?: string,
  ): void {
    const invocation = { metadata, tags };
    this.#contain(() =>
      this.#calls.retrieverStarts(retriever, query, runId, parentRunId, invocation, runName),
    );
  }

  handleRetrieverEnd(documents: unknown, runId: string): void {
    this.#contain(() => this.#calls.retrieverEnds(documents, runId));
  }

  handleRetrieverError(thrown: unknown, runId: string): void {
    this.#contain(() => this.#calls.retrieverFails(thrown, runId));
  }

  /** Nothing that goes wrong here reaches the framework. */
  #contain(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#faults += 1;
      this.#report(error);
    }
  }

  #report(error: unknown): void {
    tellHook(this.#onError, error);
  }
}
