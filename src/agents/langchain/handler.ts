import type { InnerSink } from "../../events/door.ts";
import { Fence } from "../core/door.ts";
import { CallTracker } from "./call-tracker.ts";
import {
  checkHandlerOptions,
  type HandlerCounts,
  type LangChainHandlerOptions,
} from "./handler-options.ts";
import { runningConfig } from "./running-config.ts";
import { type SpanScope, spanScopeOf } from "./scope.ts";

/** LangGraph reports pauses to handlers with this property. */
const GRAPH_HANDLER: unique symbol = Symbol.for("langgraph.graph_callback_handler");

/** Identifies a handler of any loaded copy of this package for {@link inSpan}. */
export const SPAN_SCOPE: unique symbol = Symbol.for("entelix-otel.langchain-span-place.v1");

/**
 * A callback handler for LangChain.js and LangGraph. It sends runs, steps, tool calls and model calls to a sink.
 *
 * The outermost chain or graph is a run. So is each graph inside it. Nodes of graphs and retrievers are steps. All
 * other calls belong to their run. The handler never throws into the framework. After a run, it only remembers paused
 * threads and the last 1,000 calls that ended. Register it with an invocation, a model or a tool. A second handler on
 * the same sink does not create duplicate spans.
 *
 * @throws TypeError from the constructor when `tenant` is empty or an option has the wrong type.
 * @throws RangeError from the constructor when a limit is out of range.
 *
 * @example
 * const handler = new LangChainHandler({ sink: bridge, tenant: "acme" });
 * await graph.invoke(input, { callbacks: [handler], configurable: { thread_id: "t1" } });
 */
export class LangChainHandler {
  readonly name = "entelix-otel";
  readonly raiseError = false;
  readonly ignoreLLM = false;
  readonly ignoreChain = false;
  readonly ignoreAgent = false;
  readonly ignoreRetriever = false;
  readonly ignoreCustomEvent = true;
  readonly [GRAPH_HANDLER] = true;
  readonly #sink: InnerSink;
  readonly #fence: Fence;
  readonly #calls: CallTracker;

  constructor(given: LangChainHandlerOptions) {
    const options = checkHandlerOptions(given);
    this.#sink = options.sink;
    this.#fence = new Fence(options.sink, options.onError);
    this.#calls = new CallTracker(options, this.#fence);
  }

  /** LangChain then calls the callbacks in order and in the caller's context, so that the current run is known. */
  get awaitHandlers(): true {
    // LangChain leaves its async storage after it read this, and calls the callback at once.
    this.#calls.running = runningConfig();
    return true;
  }

  /** Counts of callbacks that were not sent as events. */
  get counts(): HandlerCounts {
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
    await this.#fence.follow(() => this.#calls.flush());
    await this.#fence.flush();
  }

  /** Returns the handler itself. LangChain copies its own handlers for each run. */
  copy(): this {
    return this;
  }

  /** The span and run for the code of a LangChain call, for {@link inSpan}. */
  [SPAN_SCOPE](runId: string, signal?: AbortSignal): SpanScope | undefined {
    return spanScopeOf(this.#sink, this.#calls.scopeOf(runId, signal));
  }

  // LangChain's callbacks, with the arguments as they are passed. Some versions declare those of `handleChainStart`
  // in another order.

  handleChainStart(
    chain: unknown,
    inputs: unknown,
    runId: string,
    parentRunId?: string,
    tags?: readonly string[] | string,
    metadata?: unknown,
    _runType?: unknown,
    runName?: string,
  ): void | Promise<void> {
    return this.#fence.follow(() =>
      this.#calls.chainStarts(chain, inputs, runId, parentRunId, metadata, runName, tags),
    );
  }

  handleChainEnd(outputs: unknown, runId: string, parentRunId?: string): void {
    this.#fence.contain(() => this.#calls.chainEnds(outputs, runId, parentRunId));
  }

  handleChainError(thrown: unknown, runId: string, parentRunId?: string): void {
    this.#fence.contain(() => this.#calls.chainFails(thrown, runId, parentRunId));
  }

  /** A graph paused. Only newer versions of LangGraph call this. */
  handleInterrupt(event: unknown): void {
    this.#fence.contain(() => this.#calls.graphPauses(event));
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
    this.#fence.contain(() =>
      this.#calls.toolStarts(tool, input, runId, parentRunId, metadata, runName, toolCallId, tags),
    );
  }

  handleToolEnd(output: unknown, runId: string): void {
    this.#fence.contain(() => this.#calls.toolEnds(output, runId));
  }

  handleToolError(thrown: unknown, runId: string): void {
    this.#fence.contain(() => this.#calls.toolFails(thrown, runId));
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
    this.#fence.contain(() => {
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
    this.#fence.contain(() =>
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
    this.#fence.contain(() => this.#calls.modelEnds(result, runId, extra));
  }

  handleLLMError(thrown: unknown, runId: string): void {
    this.#fence.contain(() => this.#calls.modelFails(thrown, runId));
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
    this.#fence.contain(() =>
      this.#calls.retrievers.starts(retriever, query, runId, parentRunId, invocation, runName),
    );
  }

  handleRetrieverEnd(documents: unknown, runId: string): void {
    this.#fence.contain(() => this.#calls.retrievers.ends(documents, runId));
  }

  handleRetrieverError(thrown: unknown, runId: string): void {
    this.#fence.contain(() => this.#calls.retrievers.fails(thrown, runId));
  }
}
