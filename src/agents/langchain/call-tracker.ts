import {
  type ContentNeed,
  FROM_MODEL,
  readsRows,
  recordSource,
  sourceMoment,
} from "../../events/door.ts";
import {
  type AdapterCounts,
  countUse,
  describedIn,
  type Fence,
  fieldsOf,
  listOf,
  type ModelCallOptions,
  type ResultOptions,
  textOf,
  whenKnown,
} from "../core/door.ts";
import { refuseUnreadable } from "./asked-calls.ts";
import { eventOf } from "./event-ids.ts";
import {
  DEFAULT_OPEN_CALLS,
  type HandlerCounts,
  type LangChainHandlerOptions,
} from "./handler-options.ts";
import { HeldFailures } from "./held-failures.ts";
import {
  agentName,
  isGraph,
  namedAgent,
  toolDescription,
  toolInput,
  toolName,
  toolOutput,
} from "./invocation.ts";
import { failureOf, signalOf } from "./langchain-errors.ts";
import { answerOf, modelNameOf } from "./llm-result.ts";
import {
  answeredOf,
  askedMessages,
  askedOf,
  conventionalOutputs,
  type ModelInput,
} from "./messages.ts";
import { requestOf, toolsIn } from "./model-request.ts";
import { IGNORED, OpenCalls } from "./open-calls.ts";
import { addPause, graphPause } from "./pauses.ts";
import { Decisions } from "./pending-reviews.ts";
import { Retrievers } from "./retrievers.ts";
import { noteNode } from "./run-state.ts";
import { parentIn, signalIn } from "./running-config.ts";
import { Runs } from "./runs.ts";
import type { ModelScope, Scope, ToolScope } from "./scope.ts";
import { isChain, isOver, madeIn, ScopeTable } from "./scope.ts";
import { nodeName, stepCompleted, stepStarted, stepThrew } from "./steps.ts";
import { StoppedGraphs } from "./stopped-graphs.ts";
import { toolThrew } from "./tool-failures.ts";

/**
 * Follows LangChain's calls by their run IDs, and sends runs, steps, tool calls and model calls. A chain that is
 * neither a run nor a node has no state: its ID maps to the scope around it.
 */
export class CallTracker {
  readonly retrievers: Retrievers;
  readonly #runs: Runs;
  /** Agent name for outermost runs, from the handler's options. */
  readonly #agent: string | undefined;
  readonly #options: ResultOptions & Pick<ModelCallOptions, "price">;
  readonly #decisions: Decisions;
  readonly #needs: ContentNeed;
  readonly #scopes: ScopeTable;
  readonly #stopped: StoppedGraphs;
  readonly #open: OpenCalls;
  readonly #held: HeldFailures;
  /** The abort signal of the code that makes the call that is reported next. */
  #signal: AbortSignal | undefined;
  #shownElsewhere = 0;

  constructor(options: LangChainHandlerOptions, fence: Fence) {
    const { report: onError, sink } = fence;
    const { openCalls = DEFAULT_OPEN_CALLS } = options.limits ?? {};
    this.#scopes = new ScopeTable(options.sink, openCalls);
    this.#needs = sink.contentNeed;
    this.#held = HeldFailures.of(options.sink);
    this.#runs = new Runs(options, sink, this.#scopes, this.#held, onError);
    this.#stopped = new StoppedGraphs(this.#scopes, (run, thrown, at) =>
      fence.contain(() => this.#runs.end(run, thrown, at)),
    );
    this.#open = new OpenCalls(options, this.#runs, this.#scopes, this.#stopped);
    this.retrievers = new Retrievers(this.#open, this.#scopes, this.#runs, this.#needs);
    this.#agent = options.agent;
    this.#options = { isFailure: options.isFailure, price: options.price, onError };
    this.#decisions = new Decisions(options.decidedBy, onError);
  }

  /** The configuration of the code that makes the call that is reported next. */
  set running(config: unknown) {
    this.#signal = signalIn(config);
    this.#open.runningIn = parentIn(config);
  }

  get counts(): Omit<HandlerCounts, keyof AdapterCounts> {
    return {
      ...this.#runs.counts,
      ...this.#open.counts,
      forgotten: this.#scopes.forgotten,
      shownElsewhere: this.#shownElsewhere,
    };
  }

  /** Sends the events that wait for the model's text. Resolves when the store has the paused runs. */
  flush(): Promise<void> {
    this.#held.flush();
    return this.#runs.settled();
  }

  /** The scope of the call with that ID. @param signal of its code. */
  scopeOf(id: string, signal: AbortSignal | undefined): Scope | undefined {
    const scope = this.#scopes.get(id);
    if (scope !== undefined && scope.kind !== "refused") scope.run.stops.add(signal);
    return scope;
  }

  chainStarts(
    serialized: unknown,
    inputs: unknown,
    id: string,
    parentId: string | undefined,
    metadata: unknown,
    runName: unknown,
    tags: unknown,
  ): void | Promise<void> {
    const above = this.#open.above(id, parentId, metadata);
    if (above === IGNORED) return;
    const graph = isGraph(serialized);
    const isOutside = above === undefined || above.kind === "foreign" || this.#open.isLeftBehind;
    if (isOutside || graph) {
      const named = namedAgent(metadata);
      const isInside = above !== undefined && above.kind !== "foreign";
      const own = named === above?.run.namedAgent ? undefined : named;
      const known = isInside ? own : (this.#agent ?? own);
      const agent = agentName(serialized, runName, known);
      const from = {
        id,
        above,
        agent,
        metadata,
        tags,
        graph,
        inputs,
        asked: readsRows(this.#needs) ? askedOf(inputs) : undefined,
      };
      const started = graph ? this.#runs.startGraph(from) : this.#runs.start(from);
      return whenKnown(started, (run) => {
        if (run === undefined) return;
        run.namedAgent = named;
        this.#scopes.set(id, parentId, { kind: "run", id, run, toolUseId: undefined });
      });
    }
    const { run } = above;
    run.stops.add(this.#signal);
    const isInGraph = above.kind === "run" && above.id === parentId && run.graph;
    if (isInGraph) {
      noteNode(run, metadata, runName);
      run.reviews?.nodeStarted(id, inputs);
      if (run.continues) run.asked.continued(inputs);
    }
    const name = isInGraph && !run.ended ? nodeName(metadata, runName, tags) : undefined;
    if (name === undefined) this.#scopes.set(id, parentId, above);
    else this.#scopes.set(id, parentId, stepStarted({ kind: "node", id, above, run, step: name }));
  }

  chainEnds(outputs: unknown, id: string, parentId: string | undefined): void {
    const scope = this.#open.take(id, "run", "node");
    if (scope?.kind !== "run" && scope?.kind !== "node") return;
    if (isOver(scope, id)) return;
    this.#held.chainEnded(scope.run, id, parentId, outputs);
    if (scope.kind === "node" || scope.id !== id) {
      this.#decisions.nodeEnded(scope.run, id, outputs);
      // Chains inside a node end before the decisions of the node are known.
      const stepId = scope.kind === "node" && scope.id === id ? id : undefined;
      if (parentId === scope.run.id) scope.run.asked.answered(scope.run, id, outputs, stepId);
      if (scope.kind === "node" && scope.id === id) stepCompleted(scope);
      if (parentId === scope.run.id) this.#stopped.nodeEnded(scope.run);
      return;
    }
    const { run } = scope;
    run.asked.answered(run, id, outputs);
    // The batch of a sequence with `returnExceptions` reports a failed input as an output.
    if (outputs instanceof Error) {
      this.#runs.end(run, outputs);
      return;
    }
    const pause = graphPause(run, outputs);
    if (pause === undefined) {
      const state = this.#needs === "all" ? conventionalOutputs(outputs) : null;
      const answer = this.#needs === "all" ? answeredOf(state, outputs) : undefined;
      this.#runs.complete(run, state, answer);
    } else this.#runs.pause(run, pause);
  }

  chainFails(thrown: unknown, id: string, parentId: string | undefined): void {
    const scope = this.#open.take(id, "run", "node");
    if (scope?.kind !== "run" && scope?.kind !== "node") return;
    if (isOver(scope, id)) return;
    const { run } = scope;
    this.#held.chainFailed(run, id, parentId);
    const isNode = scope.kind === "node" && scope.id === id;
    if (scope.kind === "run" && scope.id === id) this.#runs.end(run, thrown);
    else run.reviews?.nodeFailed(id);
    if (isNode) stepThrew(scope, thrown);
    else if (scope.kind !== "run" || scope.id !== parentId) return;
    const signal = signalOf(thrown);
    if (signal === undefined) {
      run.lastError = thrown;
      this.#stopped.nodeFailed(run, thrown);
    } else if (signal === "pause" && run.graph) addPause(run, thrown);
  }

  /** LangGraph's report of a pause. It arrives before the end of the graph's chain. */
  graphPauses(event: unknown): void {
    const fields = fieldsOf(event);
    const id = textOf(fields?.runId);
    const scope = this.#scopes.get(id);
    if (scope?.kind !== "run" || scope.id !== id) return;
    const named = listOf(fields?.interrupts) ?? [];
    const interrupts = named.length > 0 ? named : (scope.run.pause?.interrupts ?? []);
    const checkpointId = textOf(fields?.checkpointId);
    scope.run.pause = { status: textOf(fields?.status), interrupts, checkpointId };
  }

  toolStarts(
    serialized: unknown,
    input: unknown,
    id: string,
    parentId: string | undefined,
    metadata: unknown,
    runName: unknown,
    callId: unknown,
    tags: unknown,
  ): void {
    const above = this.#open.above(id, parentId, metadata);
    if (above === IGNORED) return;
    const given = textOf(callId);
    if (above?.kind === "foreign" && above.toolUseId !== undefined) {
      if (given === undefined || given === above.toolUseId) {
        this.#shownElsewhere += 1;
        this.#scopes.set(id, parentId, above);
        return;
      }
    }
    // LangChain also gives the ID of the call around it to a tool that the code of a tool calls.
    const toolCallId = given === above?.toolUseId ? undefined : given;
    const asked = toolCallId && above?.run.asked.toolOf(toolCallId);
    const tool = toolName(serialized, runName, asked);
    const invocation = { metadata, tags, asked: undefined };
    const found = this.#open.runFor(id, above, tool, invocation);
    if (found === undefined) return;
    const { run, within } = found;
    run.stops.add(this.#signal);
    run.totals.toolCalls += 1;
    const call: ToolScope = {
      kind: "tool",
      id,
      run,
      toolUseId: toolCallId ?? id,
      key: undefined,
      stepId: within?.stepId,
      tool,
      startedMs: performance.now(),
      since: sourceMoment(),
      chainId: isChain(within) ? parentId : undefined,
      details: madeIn(within),
      signal: this.#signal,
      alone: within === undefined,
    };
    this.#scopes.set(id, parentId, call);
    if (given === undefined) run.asked.madeWithoutId(tool, input);
    else run.asked.known(call.toolUseId, tool, input);
    this.#held.callRepeated(run, call.toolUseId);
    const description = toolDescription(serialized) ?? describedIn(run.tools, tool);
    const on = eventOf(id, "call-start");
    const shown = this.#needs === "none" ? undefined : toolInput(input);
    run.writer.toolStarted(call, shown, description, call.stepId, on);
    this.#open.started(call, (error) => run.writer.toolCut(call, error, eventOf(id, "call-end")));
  }

  toolEnds(output: unknown, id: string): void {
    const call = this.#open.takeOpen(id, "tool");
    if (call?.kind !== "tool") return;
    const shown = this.#needs === "none" ? undefined : toolOutput(output);
    call.run.writer.toolReturned(call, output, shown, this.#options, eventOf(id, "call-end"));
    if (call.alone) this.#runs.complete(call.run, null);
  }

  toolFails(thrown: unknown, id: string): void {
    const call = this.#open.takeOpen(id, "tool");
    if (call?.kind !== "tool") return;
    toolThrew(this.#held, call, thrown);
    if (call.alone) this.#runs.end(call.run, thrown);
  }

  modelStarts(
    serialized: unknown,
    request: ModelInput,
    id: string,
    parentId: string | undefined,
    extra: unknown,
    metadata: unknown,
    tags: unknown,
  ): void {
    const above = this.#open.above(id, parentId, metadata);
    if (above === IGNORED) return;
    const fields = fieldsOf(metadata);
    const further = fieldsOf(extra);
    const model = modelNameOf(fieldsOf(serialized), further, fields);
    const isRead = this.#needs === "all" || (this.#needs === "rows" && above?.run.ended !== false);
    const input = isRead ? askedMessages(request, above?.run.writer.conversation) : undefined;
    const invocation = { metadata, tags, asked: input };
    const found = this.#open.runFor(id, above, model ?? "model", invocation);
    if (found === undefined) return;
    const { run, within } = found;
    run.stops.add(this.#signal);
    const signal = signalIn(further?.options);
    run.stops.add(signal);
    run.totals.requests += 1;
    if ("messages" in request) run.asked.askedAgain(run, id, request.messages, within?.stepId);
    run.tools = fieldsOf(further?.invocation_params)?.tools;
    const asked = requestOf(fieldsOf(serialized), further, fields);
    const call: ModelScope = {
      kind: "model",
      id,
      modelCallId: id,
      run,
      toolUseId: within?.toolUseId,
      key: within?.key,
      stepId: within?.stepId,
      model,
      provider: asked.provider,
      startedMs: performance.now(),
      since: sourceMoment(),
      firstMs: undefined,
      details: madeIn(within),
      signal,
      alone: within === undefined,
    };
    this.#scopes.set(id, parentId, call);
    const content = { input, tools: toolsIn(further) };
    run.writer.modelStarted(call, asked, content, call.stepId, eventOf(id, "call-start"));
    this.#open.started(call, (error) =>
      run.writer.modelCut(call, error, undefined, eventOf(id, "call-end")),
    );
  }

  modelStreams(id: string): void {
    const call = this.#scopes.get(id);
    if (call?.kind === "model") call.firstMs ??= performance.now();
  }

  modelEnds(result: unknown, id: string, extra: unknown): void {
    const call = this.#open.takeOpen(id, "model");
    if (call?.kind !== "model") return;
    const { run } = call;
    const answer = answerOf(
      fieldsOf(result),
      call.provider,
      fieldsOf(extra)?.cached === true,
      this.#needs === "all",
    );
    const cost = countUse(call, answer, run.totals, this.#options);
    run.asked.add(answer.toolCalls);
    const firstOutputMs = call.firstMs === undefined ? undefined : call.firstMs - call.startedMs;
    // No spread: adding fields after one is slow in Node 20.
    const { finishReasons, output, provider, responseId, responseModel, usage } = answer;
    run.writer.modelAnswered(
      call,
      { provider, usage, cost, responseModel, responseId, firstOutputMs, finishReasons, output },
      eventOf(id, "call-end"),
    );
    refuseUnreadable(run, call, answer.unreadableCalls);
    if (call.alone) this.#runs.complete(run, null, answer.output);
  }

  modelFails(thrown: unknown, id: string): void {
    const call = this.#open.takeOpen(id, "model");
    if (call?.kind !== "model") return;
    const { run, signal, since } = call;
    run.lastError = thrown;
    run.stops.callFailed(thrown, signal);
    recordSource(thrown, FROM_MODEL, { rootRunId: run.rootId, since });
    run.writer.modelFailed(
      call,
      failureOf(thrown, FROM_MODEL, run.stops.errorFor(thrown)),
      eventOf(id, "call-end"),
    );
    if (call.alone) this.#runs.end(run, thrown);
  }
}
