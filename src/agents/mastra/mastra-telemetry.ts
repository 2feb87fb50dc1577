import { isPromise } from "../../events/door.ts";
import { Fence, type Fields, fieldsOf, observedStream, textOf } from "../core/door.ts";
import { activeRun, carried, inModelCall } from "../runtime/door.ts";
import { EmbeddingCalls } from "./embeddings.ts";
import { HeldTraces } from "./held-traces.ts";
import { type MastraSpan, spanIn } from "./mastra-span.ts";
import { ModelCalls } from "./model-calls.ts";
import {
  checkMastraOptions,
  DEFAULT_RUNS,
  type MastraCounts,
  type MastraTelemetryOptions,
} from "./options.ts";
import { sendHiddenUse } from "./processors.ts";
import { activeIn, keepError, type OpenModel, type RunState, type SpanScope } from "./run-state.ts";
import { Runs } from "./runs.ts";
import { SpanScopes } from "./span-scopes.ts";
import { ToolCalls } from "./tool-calls.ts";
import { TraceIds } from "./trace-ids.ts";
import { WorkflowSteps } from "./workflow-steps.ts";

/** The IDs that Mastra needs for a span from `createSpan`. */
interface SpanIds {
  readonly traceId: string;
  readonly spanId: string;
}

/** Mastra stores the websocket of a model's stream under this key on the stream. */
const TRANSPORT = Symbol.for("@mastra/core.modelStreamTransport");

/**
 * An observability bridge for Mastra. It sends runs of agents and workflows, model calls, tool calls, steps, pauses
 * and approvals to a sink, and runs their code inside their spans.
 *
 * Use it as `bridge` of a configuration. As one of its `exporters` it sends the same events, but code does not run
 * inside the spans. The class does not import Mastra, and its errors never reach Mastra.
 *
 * @throws TypeError from the constructor when `tenant` is empty or an option has the wrong type.
 * @throws RangeError from the constructor when a limit is out of range.
 *
 * @example
 * const observer = new MastraTelemetry({ sink: bridge, tenant: "acme" });
 * const observability = new Observability({
 *   configs: { main: { serviceName: "support", bridge: observer } },
 * });
 * const mastra = new Mastra({ agents, observability });
 */
export class MastraTelemetry {
  /** Its name in Mastra's logs. */
  readonly name = "entelix-otel";
  readonly #options: MastraTelemetryOptions;
  readonly #fence: Fence;
  readonly #scopes = new SpanScopes();
  readonly #traceIds = new TraceIds();
  readonly #models: ModelCalls;
  readonly #embeddings: EmbeddingCalls;
  readonly #tools: ToolCalls;
  readonly #steps = new WorkflowSteps();
  readonly #runs: Runs;
  readonly #held = new HeldTraces();
  /** The last event, to detect repetitions. */
  #last: unknown;
  #outside = 0;
  #forgotten = 0;
  #duplicates = 0;

  constructor(given: MastraTelemetryOptions) {
    const options = checkMastraOptions(given);
    const { isFailure, onError, price, sink } = options;
    this.#options = options;
    this.#fence = new Fence(sink, onError);
    const { report, sink: safeSink } = this.#fence;
    const { contentNeed } = safeSink;
    const ofModels = { contentNeed, price, onError: report };
    this.#models = new ModelCalls(ofModels);
    this.#embeddings = new EmbeddingCalls(ofModels);
    this.#tools = new ToolCalls({ contentNeed, isFailure, onError: report });
    const parts = { models: this.#models, embeddings: this.#embeddings, steps: this.#steps };
    this.#runs = new Runs(options, safeSink, this.#traceIds, parts, report);
  }

  /** Counts of tracing events that were not sent as events. */
  get counts(): MastraCounts {
    return {
      outside: this.#outside,
      refused: this.#runs.refused,
      forgotten: this.#forgotten,
      forgottenSpans: this.#scopes.forgotten,
      duplicates: this.#duplicates,
      ...this.#fence.counts,
    };
  }

  /**
   * Resolves when the sink has accepted or refused all events and was flushed. Errors of the sink go to `onError`.
   * Never rejects.
   */
  async flush(): Promise<void> {
    await this.#held.settled();
    await this.#runs.settled();
    await this.#fence.flush();
  }

  /** Same as {@link MastraTelemetry.flush}. It does not shut the sink down. */
  shutdown(): Promise<void> {
    return this.flush();
  }

  /** Chooses the trace ID of an outermost run, so that Mastra's `traceId` equals the trace ID of the sink's spans. */
  createSpan(options: unknown): SpanIds | undefined {
    return this.#fence.contain(() => {
      const fields = fieldsOf(options);
      const isRun = fields?.type === "agent_run" || fields?.type === "workflow_run";
      if (!isRun || fields.parent !== undefined || fields.traceId !== undefined) return undefined;
      return activeRun() === undefined ? this.#traceIds.make() : undefined;
    });
  }

  /** Calls asynchronous code of a span inside the span of its run or call. */
  executeInContext<T>(spanId: string, fn: () => Promise<T>): Promise<T> {
    const held = this.#held.of(spanId);
    if (held !== undefined) return held.then(() => this.executeInContext(spanId, fn));
    const scope = this.#scopes.get(spanId);
    if (scope === undefined) return fn();
    const given = this.#inside(scope, fn);
    if (!isPromise(given)) return given;
    const { run, step, tool } = scope;
    given.then(undefined, (thrown: unknown) => {
      this.#fence.contain(() => {
        if (tool?.spanId === spanId) this.#tools.threw(run, tool, thrown);
        else if (step?.spanId === spanId) this.#steps.threw(run, step, thrown);
        // Spans only have copies of errors.
        else keepError(run, thrown);
      });
    });
    return given;
  }

  /** Calls synchronous code of a span, such as the code that opens a model's stream. */
  executeInContextSync<T>(spanId: string, fn: () => T): T {
    const scope = this.#scopes.get(spanId);
    if (scope === undefined) return fn();
    const { modelStep, run } = scope;
    const model = modelStep?.model;
    if (model === undefined) return this.#inside(scope, fn);
    this.#models.asked(model);
    return this.#observed(inModelCall(run.active, model, fn), run, model);
  }

  #inside<T>(scope: SpanScope, work: () => T): T {
    const { run, step, tool } = scope;
    const here = activeRun();
    const isInRun = here?.runId === run.active.runId && here.stepId === step?.stepId;
    if (isInRun && here.toolUseId === tool?.toolUseId && here.callKey === tool?.key) return work();
    const target = { tool_use_id: tool?.key ?? tool?.toolUseId, step_id: step?.stepId };
    return carried(run.active.sink, target, activeIn(scope), work);
  }

  /** Observes the model's stream. Spans only have copies of errors, and those of a paused run have no usage. */
  #observed<T>(given: T, run: RunState, model: OpenModel): T {
    if (!(given instanceof ReadableStream) || given.locked) return given;
    const stream = observedStream(given, {
      part: (part) => this.#fence.contain(() => this.#models.part(run, model, part)),
      failed: (thrown) => this.#fence.contain(() => this.#models.threw(run, model, thrown)),
      cancelled: () => {},
    });
    const transport: unknown = Reflect.get(given, TRANSPORT);
    if (transport !== undefined) Object.defineProperty(stream, TRANSPORT, { value: transport });
    return standsFor(stream, given) ? stream : given;
  }

  /** Forgets a run whose end is not exported. */
  releaseSpan(spanId: string): void {
    this.#fence.contain(() => {
      const run = this.#scopes.runOf(spanId);
      if (run !== undefined) this.#scopes.removeRun(run);
    });
  }

  /** A span started, changed or ended. */
  onTracingEvent(event: unknown): void {
    this.#fence.contain(() => {
      const fields = fieldsOf(event);
      if (fields === undefined) return;
      if (event === this.#last) this.#duplicates += 1;
      else if (!this.#held.takes(fields)) {
        const begun = this.#follow(fields);
        const span = spanIn(fieldsOf(fields.exportedSpan));
        if (begun !== undefined && span !== undefined) this.#hold(span, begun);
      }
      this.#last = event;
    });
  }

  #hold(span: MastraSpan, begun: Promise<void>): void {
    this.#held.hold(span, begun, (event) => this.#fence.contain(() => this.#follow(event)));
  }

  /** Same as {@link onTracingEvent}, for older versions of Mastra. */
  exportTracingEvent(event: unknown): Promise<void> {
    this.onTracingEvent(event);
    return Promise.resolve();
  }

  /** @returns a promise, which never rejects, if a run has to wait for the store of paused runs. */
  #follow(event: Fields): void | Promise<void> {
    const exported = fieldsOf(event.exportedSpan);
    // There is one for each part of an answer.
    if (exported === undefined || exported.type === "model_chunk") return;
    const span = spanIn(exported);
    if (span === undefined) return;
    switch (event.type) {
      case "span_started":
        return this.#started(span);
      case "span_updated":
        this.#updated(span);
        break;
      case "span_ended":
        this.#ended(span);
        break;
      default:
        break;
    }
  }

  #started(span: MastraSpan): void | Promise<void> {
    const above = this.#scopes.get(span.parentSpanId);
    if (span.type === "agent_run" || span.type === "workflow_run") {
      return this.#startedRun(span, above);
    }
    const within = above ?? this.#scopes.byRun(span.traceId, textOf(span.metadata.runId));
    if (within === undefined) this.#outside += 1;
    else this.#scopes.add(span.id, this.#scopeOf(span, within));
  }

  #startedRun(span: MastraSpan, above: SpanScope | undefined): void | Promise<void> {
    const kind = span.type === "agent_run" ? "agent" : "workflow";
    const open = this.#scopes.runOf(textOf(span.metadata.resumedFromSpanId) ?? "");
    if (open !== undefined) {
      this.#scopes.removeRun(open);
      this.#runs.pausedUnseen(open);
    }
    const run = this.#runs.start(span, kind, above);
    if (run instanceof Promise) {
      return run.then((begun) => this.#addRun(begun)).catch(this.#fence.fault);
    }
    this.#addRun(run);
  }

  #addRun(run: RunState | undefined): void {
    if (run === undefined) return;
    this.#scopes.addRun(run);
    this.#forgotten += this.#scopes.keepRuns(this.#options.maxRuns ?? DEFAULT_RUNS);
  }

  #scopeOf(span: MastraSpan, above: SpanScope): SpanScope {
    switch (span.type) {
      case "model_generation":
        return this.#models.generation(span, above);
      case "model_step":
        return this.#models.step(above);
      case "model_inference":
        this.#models.started(span, above);
        return above;
      case "rag_embedding":
        return this.#embeddings.started(span, above);
      case "tool_call":
      case "mcp_tool_call":
        return this.#tools.started(span, above);
      case "client_tool_call":
        this.#tools.leftToClient(span, above);
        return above;
      case "workflow_step":
        return this.#steps.started(span, above);
      default:
        return above;
    }
  }

  #updated(span: MastraSpan): void {
    const scope = this.#scopes.get(span.id);
    if (scope === undefined) return;
    if (span.type === "model_step") this.#models.stepUpdated(span, scope);
    else if (span.type === "model_generation") this.#models.generationUpdated(span, scope);
  }

  #ended(span: MastraSpan): void {
    const scope = this.#scopes.get(span.id);
    if (scope === undefined) return;
    sendHiddenUse(span, scope);
    switch (span.type) {
      case "agent_run":
      case "workflow_run":
        this.#scopes.removeRun(scope.run);
        this.#runs.end(span, scope.run);
        break;
      case "processor_run":
        if (this.#runs.processorEnded(span, scope.run)) this.#scopes.removeRun(scope.run);
        break;
      case "model_generation":
        this.#models.generationEnded(span, scope);
        break;
      case "model_step":
        this.#models.stepEnded(span, scope);
        this.#tools.turnEnded(span, scope);
        break;
      case "model_inference":
        this.#models.ended(span, scope);
        break;
      case "rag_embedding":
        this.#embeddings.ended(span, scope);
        break;
      case "tool_call":
      case "mcp_tool_call":
        this.#tools.ended(span, scope);
        break;
      case "workflow_step":
        this.#steps.ended(span, scope);
        break;
      default:
        break;
    }
  }
}

/** Whether both are streams, so that one can replace the other. */
function standsFor<T>(made: unknown, given: T): made is T {
  return made instanceof ReadableStream && given instanceof ReadableStream;
}
