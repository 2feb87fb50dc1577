import { type Context, context, isSpanContextValid } from "@opentelemetry/api";
import {
  checkGivenFunction,
  type EventEnvelope,
  type RunContext,
  type SpanTarget,
} from "../../events/door.ts";
import { contextInside } from "../event-context.ts";
import type { Call, Run, RunKeeper } from "../lifecycle/door.ts";
import { plainContext } from "./plain-context.ts";
import { type SpanHandle, spanRefs } from "./span-handle.ts";
import { formatTraceparent } from "./traceparent.ts";

/** OpenTelemetry contexts of open spans, for code that runs inside them. */
export class RunContexts {
  readonly #runs: RunKeeper<SpanHandle>;
  readonly #contain: (error: unknown) => void;

  /** @param contain receives the error of an invalid target, which untyped programs can pass. */
  constructor(runs: RunKeeper<SpanHandle>, contain: (error: unknown) => void) {
    this.#runs = runs;
    this.#contain = contain;
  }

  /** The active context with the innermost open span of the target. Without one, the active context. */
  of(
    tenantId: string,
    runId: string,
    toolUseId: string | undefined,
    modelCallId?: string,
    stepId?: string,
  ): Context {
    const active = context.active();
    const run = this.#runs.find(tenantId, runId);
    if (run?.handle === undefined || !run.open) return active;
    const call = toolUseId === undefined ? undefined : run.calls.newestOf(toolUseId);
    const model = modelCallId === undefined ? undefined : run.models?.newestOf(modelCallId);
    const step = stepId === undefined ? undefined : run.steps?.newestOf(stepId);
    // If the step is not in the call, the call is in the step.
    const isInCall = call === undefined || step?.inCallId === (call.key ?? call.id);
    const inStep = isInCall ? step?.handle : undefined;
    const innermost = model?.handle ?? inStep ?? call?.handle ?? run.handle;
    return contextInside(active, innermost, run, call);
  }

  /** Calls `work` in the context of the target. Throws only what `work` throws. */
  withSpan<T>(target: SpanTarget, work: () => T): T {
    checkGivenFunction(work, "work");
    return context.with(this.#contextOf(target), work);
  }

  #contextOf(target: SpanTarget): Context {
    try {
      const { tenant_id, run_id, tool_use_id, model_call_id, step_id } = target;
      return this.of(tenant_id, run_id, tool_use_id, model_call_id, step_id);
    } catch (error) {
      this.#contain(error);
      return context.active();
    }
  }
}

/**
 * The run context for a child agent in another process.
 *
 * @param run open, or closed and in memory.
 * @param toolUseId the call that starts the child, by its ID or key: the newest open one, else the last.
 */
export function runContextOf(
  run: Run<SpanHandle> | undefined,
  toolUseId: string | undefined,
): RunContext | undefined {
  if (run === undefined) return undefined;
  const call = callOf(run, toolUseId);
  return runContextAt(run, call, call?.id ?? toolUseId);
}

/** As {@link runContextOf}, for a known call or for none. */
export function runContextAt(
  run: Run<SpanHandle>,
  call: Call<SpanHandle> | undefined,
  toolUseId: string | undefined,
): RunContext {
  return {
    ...traceOf(run, call, toolUseId),
    root_run_id: run.rootRunId,
    parent_run_id: run.runId,
    ...(toolUseId === undefined || toolUseId === "" ? {} : { parent_tool_use_id: toolUseId }),
    ...(run.threadId === undefined ? {} : { thread_id: run.threadId }),
  };
}

/** The newest open call of this ID, else the last one. */
export function callOf(
  run: Run<SpanHandle>,
  toolUseId: string | undefined,
): Call<SpanHandle> | undefined {
  if (toolUseId === undefined) return undefined;
  return run.calls.newestOf(toolUseId) ?? run.history.last(toolUseId);
}

/** The trace context of the call, also if it has ended. If it was never seen, that of the run. */
function traceOf(
  run: Run<SpanHandle>,
  call: Call<SpanHandle> | undefined,
  toolUseId: string | undefined,
): Pick<RunContext, "traceparent" | "tracestate"> {
  const context = run.handle?.spanContext;
  if (context === undefined) return {};
  const spanId =
    (call === undefined ? closedCall(run, toolUseId) : spanRefs(run, call).span_id) ??
    context.spanId;
  const parent = { ...plainContext(context), spanId };
  if (!isSpanContextValid(parent)) return {};
  const tracestate = context.traceState?.serialize();
  return {
    traceparent: formatTraceparent(parent),
    ...(tracestate === undefined || tracestate === "" ? {} : { tracestate }),
  };
}

/** The span ID of the last call of this ID in a closed run, unless another ID generator chose the IDs. */
function closedCall(run: Run<SpanHandle>, toolUseId: string | undefined): string | undefined {
  if (toolUseId === undefined || run.handle?.spanContext.spanId !== run.spanId) return undefined;
  const occurrence = run.history.occurrences(toolUseId);
  return occurrence === 0 ? undefined : run.ids.childSpanId("t", toolUseId, occurrence);
}

/** The details of a run for recordings that this process knows and the events do not contain. */
export function provenanceOf(run: Run<SpanHandle> | undefined): EventEnvelope | undefined {
  if (run === undefined) return undefined;
  const outside = run.parentFromOutside ? run.parentHandle?.spanContext : undefined;
  const tracestate = outside?.traceState?.serialize() || undefined;
  // Omit the root run ID if the parent was never seen. It is a guess, and would confirm that parent.
  const guessed = run.rootRunId === run.runId || run.parentMissing;
  return {
    ...(guessed ? {} : { root_run_id: run.rootRunId }),
    ...(run.parentCallId === undefined ? {} : { parent_tool_use_id: run.parentCallId }),
    ...(run.threadId === undefined ? {} : { thread_id: run.threadId }),
    ...(run.resumedFromRunId === undefined ? {} : { resumed_from_run_id: run.resumedFromRunId }),
    ...(outside === undefined ? {} : { traceparent: formatTraceparent(outside) }),
    ...(tracestate === undefined ? {} : { tracestate }),
  };
}
