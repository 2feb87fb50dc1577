import {
  AgentError,
  asAgentError,
  FROM_RUN,
  handed,
  outputMessages,
  readsRows,
} from "../../events/door.ts";
import {
  type AskedTenant,
  askedTenant,
  beginRun,
  type Decision,
  type Fields,
  fieldsOf,
  type KnownPause,
  LEFT_OPEN,
  PAUSED,
  Pauses,
  placeIn,
  replacementText,
  type SafeSink,
  sendDecision,
  textOf,
  threadOf,
  waitedMs,
  whenKnown,
} from "../core/door.ts";
import { type ActiveRun, abortError, activeRun, cutBy } from "../runtime/door.ts";
import { answeredIn, askedIn, awaitedIn, decisionIn } from "./conversation.ts";
import type { EmbeddingCalls } from "./embeddings.ts";
import { failureOf } from "./errors.ts";
import { type MastraSpan, runIn } from "./mastra-span.ts";
import type { ModelCalls } from "./model-calls.ts";
import type { MastraRun, MastraTelemetryOptions } from "./options.ts";
import { endsUnseen, processorEndIn } from "./processors.ts";
import { activeIn, type OpenTool, type RunState, type SpanScope, sendHeld } from "./run-state.ts";
import { runOfTrace, type TraceIds } from "./trace-ids.ts";
import type { WorkflowSteps } from "./workflow-steps.ts";

export interface RunParts {
  readonly models: ModelCalls;
  readonly embeddings: EmbeddingCalls;
  readonly steps: WorkflowSteps;
}

/** Data of a run's start. */
interface MastraStart {
  readonly span: MastraSpan;
  readonly info: MastraRun;
  readonly above: SpanScope | undefined;
  readonly outer: ActiveRun | undefined;
  readonly asked: AskedTenant;
  readonly runId: string | undefined;
}

/** Follows the runs of agents and workflows. */
export class Runs {
  readonly #options: MastraTelemetryOptions;
  readonly #sink: SafeSink;
  readonly #traceIds: TraceIds;
  readonly #parts: RunParts;
  readonly #onError: (error: unknown) => void;
  readonly #paused: Pauses;
  /** Runs without a known tenant. */
  refused = 0;

  constructor(
    options: MastraTelemetryOptions,
    sink: SafeSink,
    traceIds: TraceIds,
    parts: RunParts,
    onError: (error: unknown) => void,
  ) {
    this.#options = options;
    this.#sink = sink;
    this.#traceIds = traceIds;
    this.#parts = parts;
    this.#onError = onError;
    this.#paused = new Pauses({
      sink: options.sink,
      framework: "mastra",
      store: options.pausedRuns,
      sharesKeys: true,
      onError,
    });
  }

  /** Resolves when the store has the paused runs. Never rejects. */
  settled(): Promise<void> {
    return this.#paused.settled();
  }

  /**
   * @param above the parent in Mastra's trace.
   * @returns `undefined` if the tenant is not known. A promise if the run is resumed, and the store of paused runs
   *    gives one.
   */
  start(
    span: MastraSpan,
    kind: RunState["kind"],
    above: SpanScope | undefined,
  ): RunState | undefined | Promise<RunState | undefined> {
    const outer = above === undefined ? activeRun() : activeIn(above);
    const info = runIn(span, kind);
    const asked: AskedTenant = outer ?? askedTenant(this.#options.tenant, info);
    const { tenantId } = asked;
    const runId = this.#traceIds.takeRunId(span.traceId);
    const start = { span, info, above, outer, asked, runId };
    const key = pauseKeyOf(info);
    if (span.metadata.resumed !== true) return this.#begin(start);
    const ofTrace = () => (outer === undefined ? runOfTrace(span.traceId) : undefined);
    if (key === undefined) return this.#begin(start, undefined, ofTrace());
    // Mastra gives a resumed run its request context only if the caller passes it again.
    return whenKnown(this.#paused.find(key, tenantId), (paused) => {
      if (paused !== undefined) this.#paused.delete(key, paused);
      if (paused !== undefined) return this.#begin(start, paused, paused.runId);
      // In another process, Mastra's trace has the ID of the first run. It may not be that of another tenant.
      return whenKnown(this.#paused.hasOther(key, tenantId), (isOther) =>
        this.#begin(start, undefined, isOther ? undefined : ofTrace()),
      );
    });
  }

  /** @param before the run that it resumes. It may be known without its pause. */
  #begin(start: MastraStart, paused?: KnownPause, before?: string): RunState | undefined {
    const { above, asked, info, outer, runId, span } = start;
    const tenantId = asked.tenantId ?? paused?.tenantId;
    if (tenantId === undefined) {
      this.refused += 1;
      this.#onError(asked.problem);
      return undefined;
    }
    const { context } = this.#options;
    const begun = beginRun<OpenTool>(
      {
        runId,
        tenantId,
        threadId: this.#threadOf(info),
        outer,
        paused,
        ask: context === undefined || outer !== undefined ? undefined : () => context(handed(info)),
        totals: above?.run.totals,
      },
      this.#sink,
      this.#onError,
    );
    const run: RunState = {
      ...begun,
      kind: info.kind,
      spanId: span.id,
      traceId: span.traceId,
      mastraRunId: info.runId,
      pauseKey: pauseKeyOf(info),
      isResumed: span.metadata.resumed === true,
      models: new Map(),
      embeddings: new Map(),
      steps: new Set(),
      awaited: undefined,
      clientTools: new Set(),
      spans: new Set(),
      failedModel: undefined,
      held: [],
      showsOutput: false,
      processor: undefined,
      finish: undefined,
      errors: [],
    };
    run.writer.started({
      agent: textOf(span.fields.entityName) ?? info.id ?? info.kind,
      ...placeIn(outer),
      resumedFromRunId: before,
      details: info.kind === "workflow" ? { operation: "invoke_workflow" } : undefined,
      asked: readsRows(this.#sink.contentNeed) ? askedIn(span.input) : undefined,
    });
    this.#decided(run, span, paused, info);
    return run;
  }

  #decided(
    run: RunState,
    span: MastraSpan,
    paused: KnownPause | undefined,
    { requestContext }: MastraRun,
  ): void {
    if (!run.isResumed || run.kind !== "agent") return;
    const waitMs = waitedMs(paused);
    const send = (decision: Decision) =>
      sendDecision(run.writer, decision, {
        by: "user",
        decidedBy: this.#options.decidedBy,
        metadata: requestContext,
        waitMs,
        onError: this.#onError,
      });
    const decision = decisionIn(span.input, paused);
    if (decision !== undefined) send(decision);
    // Durable agents do not show with what they resume.
    else if (span.input === undefined) {
      const call = awaitedIn(paused);
      const decided = (approved: boolean) => call && send({ ...call, approved, reason: "" });
      run.awaited = call && { toolUseId: call.toolUseId, decided };
    }
  }

  #threadOf(run: MastraRun): string | undefined {
    return threadOf(this.#options.thread, run, this.#onError) ?? run.threadId;
  }

  end(span: MastraSpan, run: RunState): void {
    const { attributes, errorInfo } = span;
    const output = fieldsOf(span.output);
    const status = run.kind === "workflow" ? attributes.status : (output?.status ?? run.finish);
    const { processor } = run;
    if (errorInfo !== undefined) this.#fail(run, errorInfo);
    else if (status === "suspended") this.#pause(run, span);
    else if (isTripped(attributes, status)) this.#trip(run, attributes);
    else if (STOPPED.has(status) || wasCut(run, span)) this.#cancel(run);
    // The span of such a run shows an answer, which the caller does not get.
    else if (processor?.phase !== "outputResult") this.#complete(run, span);
    else if (processor.errorInfo === undefined) this.#trip(run);
    else this.#fail(run, processor.errorInfo);
  }

  /** @returns whether the processor ended its run, for which Mastra then ends no span. */
  processorEnded(span: MastraSpan, run: RunState): boolean {
    run.processor = processorEndIn(span) ?? run.processor;
    const isOver = run.processor !== undefined && endsUnseen(run.processor);
    if (isOver) this.#trip(run);
    return isOver;
  }

  #complete(run: RunState, span: MastraSpan): void {
    this.#close(run, LEFT_OPEN);
    const isAll = this.#sink.contentNeed === "all";
    const answer = isAll ? answeredIn(span.output, run.kind === "agent") : undefined;
    run.writer.completed(answer === undefined ? undefined : { output: answer });
  }

  #fail(run: RunState, info: Fields): void {
    const failure = failureOf(run, info);
    this.#close(run, cutBy(failure.thrown), failure.thrown);
    run.writer.failed(failure);
  }

  #cancel(run: RunState): void {
    const reason = run.errors.find(isStop);
    const thrown = abortError(reason);
    sendHeld(run, thrown);
    this.#close(run, thrown);
    run.writer.failed({ thrown, source: FROM_RUN, text: replacementText(thrown) });
  }

  /** A processor stopped the run. Its reason is not sent, because it may quote content. */
  #trip(run: RunState, { tripwireAbort }: Fields = {}): void {
    const name = textOf(fieldsOf(tripwireAbort)?.processorId) ?? run.processor?.name;
    const text = `${name === undefined ? "a processor" : `the processor ${name}`} stopped the run`;
    const thrown = AgentError.invalidRequest(text);
    this.#close(run, LEFT_OPEN);
    run.writer.failed({ thrown, source: FROM_RUN, text });
  }

  /** Another run resumes it, and its span has not ended: for a later resumption, durable agents begin an empty one. */
  pausedUnseen(run: RunState): void {
    this.#close(run, PAUSED);
    run.writer.interrupted({ type: "custom" }, [], undefined);
  }

  #pause(run: RunState, span: MastraSpan): void {
    const output = fieldsOf(span.output);
    const tool = textOf(output?.toolName);
    const toolUseId = textOf(output?.toolCallId);
    const isApproval = APPROVALS.has(output?.reason) && toolUseId !== undefined;
    run.finish = "suspended";
    this.#close(run, PAUSED);
    const { active, pauseKey } = run;
    if (pauseKey !== undefined) {
      const { runId, subject, tenantId, threadId } = active;
      const details = { isApproval, toolUseId, tool };
      this.#paused.add(pauseKey, { runId, tenantId, at: Date.now(), threadId, subject, details });
    }
    const call = toolUseId === undefined ? undefined : { tool_use_id: toolUseId, tool };
    run.writer.interrupted(
      isApproval ? { type: "approval_pending", tool_use_id: toolUseId } : { type: "custom" },
      call === undefined ? [] : [call],
      call === undefined || this.#sink.contentNeed !== "all" ? undefined : askedOf(toolUseId, tool),
    );
  }

  #close(run: RunState, cut: AgentError, thrown: unknown = cut): void {
    sendHeld(run);
    run.writer.cutTools(cut);
    this.#parts.models.cutAll(run, thrown);
    this.#parts.embeddings.cutAll(run, cut);
    this.#parts.steps.cutAll(run, cut);
  }
}

/** Why an agent is suspended, if a tool call waits for an approval. The second is that of durable agents. */
const APPROVALS: ReadonlySet<unknown> = new Set(["tool-call-approval", "approval"]);

/** How a run ends that was stopped. The last is that of durable agents. */
const STOPPED: ReadonlySet<unknown> = new Set(["aborted", "canceled", "abort"]);

/** Includes the agent or workflow, because a nested workflow has the same run ID. */
function pauseKeyOf({ id, kind, runId }: MastraRun): string | undefined {
  return runId === undefined ? undefined : `${kind} ${id} ${runId}`;
}

function isTripped({ tripwireAbort }: Fields, status: unknown): boolean {
  return fieldsOf(tripwireAbort) !== undefined || status === "tripwire";
}

/** Whether an agent stopped because its tool was aborted. Mastra ends such an agent without output or error. */
function wasCut({ errors, finish, held, showsOutput }: RunState, { output }: MastraSpan): boolean {
  if (output !== undefined || finish !== "tool-calls") return false;
  return errors.some(isStop) || (showsOutput && held.length > 0);
}

function isStop(thrown: unknown): boolean {
  const type = asAgentError(thrown)?.detail.type;
  return type === "cancelled" || type === "deadline_exceeded";
}

function askedOf(toolUseId: string | undefined, tool: string | undefined): unknown {
  const call = { type: "tool_call", id: toolUseId, name: tool };
  return outputMessages({ role: "assistant", content: [call] }, ["tool_call"]);
}
