import { type Context, context } from "@opentelemetry/api";
import type { RunKeeper } from "../lifecycle/run-keeper.ts";
import type { SpanTarget } from "../sinks/agent-event-sink.ts";
import { contextInside } from "./event-context.ts";
import type { SpanHandle } from "./span-handle.ts";

/** The contexts of spans that are open, for code that runs inside them. */
export class RunContexts {
  readonly #runs: RunKeeper<SpanHandle>;
  readonly #contain: (error: unknown) => void;

  /** @param contain told of what a place that is none, from a program without types, made throw. */
  constructor(runs: RunKeeper<SpanHandle>, contain: (error: unknown) => void) {
    this.#runs = runs;
    this.#contain = contain;
  }

  /** The active context with the innermost open span of that place in it; itself where none is open. */
  of(
    tenantId: string,
    runId: string,
    toolUseId: string | undefined,
    modelCallId?: string,
  ): Context {
    const active = context.active();
    const run = this.#runs.find(tenantId, runId);
    if (run?.handle === undefined || !run.open) return active;
    const call = toolUseId === undefined ? undefined : run.calls.newestOf(toolUseId);
    const model = modelCallId === undefined ? undefined : run.modelCallsById?.get(modelCallId);
    return contextInside(active, model?.handle ?? call?.handle ?? run.handle, run, call);
  }

  /** Calls `work` in the context of that place. What `work` throws is its caller's. */
  withSpan<T>(place: SpanTarget, work: () => T): T {
    return context.with(this.#at(place), work);
  }

  #at(place: SpanTarget): Context {
    try {
      const { tenant_id, run_id, tool_use_id, model_call_id } = place;
      return this.of(tenant_id, run_id, tool_use_id, model_call_id);
    } catch (error) {
      this.#contain(error);
      return context.active();
    }
  }
}
