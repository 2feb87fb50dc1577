import { AgentError, type InterruptionKind, type UsageSnapshot } from "../../events/door.ts";
import type { AgentRun, RunHandle } from "./agent-run.ts";
import { callModel, type ModelFunction, type ModelOptions } from "./call-model.ts";
import { callStep, type StepFunction, type StepOptions } from "./call-step.ts";
import { callTool, type ToolFunction, type ToolOptions } from "./call-tool.ts";
import type { LiveRun } from "./live-run.ts";

/** The public interface of a run. */
export class PublicRun<I> implements AgentRun<I> {
  readonly #run: LiveRun<I>;

  constructor(run: LiveRun<I>) {
    this.#run = run;
  }

  get runId(): string {
    return this.#run.plan.runId;
  }

  get rootRunId(): string {
    return this.#run.plan.rootRunId;
  }

  get parentRunId(): string | undefined {
    return this.#run.plan.parent?.parent_run_id;
  }

  get tenantId(): string {
    return this.#run.plan.tenantId;
  }

  get threadId(): string | undefined {
    return this.#run.plan.threadId;
  }

  get input(): I {
    return this.#run.plan.input;
  }

  get signal(): AbortSignal {
    return this.#run.policy.signal;
  }

  get usage(): UsageSnapshot | null {
    return this.#run.policy.budget.snapshot();
  }

  get lostEvents(): number {
    return this.#run.lostEvents;
  }

  tool<T>(name: string, fn: ToolFunction<T, undefined>): Promise<T>;
  tool<T, J>(
    name: string,
    options: ToolOptions<J> & { readonly input: J },
    fn: ToolFunction<T, J>,
  ): Promise<T>;
  tool<T>(
    name: string,
    options: ToolOptions<undefined>,
    fn: ToolFunction<T, undefined>,
  ): Promise<T>;
  tool<T, J>(
    name: string,
    options: ToolFunction<T, J | undefined> | ToolOptions<J>,
    fn?: ToolFunction<T, J | undefined>,
  ): Promise<T> {
    if (typeof options === "function") return callTool(this.#run, name, {}, options);
    return callTool(this.#run, name, options ?? {}, functionOf(fn, "tool"));
  }

  model<T>(model: string, fn: ModelFunction<T>): Promise<T>;
  model<T>(model: string, options: ModelOptions, fn: ModelFunction<T>): Promise<T>;
  model<T>(
    model: string,
    options: ModelOptions | ModelFunction<T>,
    fn?: ModelFunction<T>,
  ): Promise<T> {
    if (typeof options === "function") return callModel(this.#run, model, {}, options);
    return callModel(this.#run, model, options ?? {}, functionOf(fn, "model"));
  }

  step<T>(name: string, fn: StepFunction<T>): Promise<T>;
  step<T>(name: string, options: StepOptions, fn: StepFunction<T>): Promise<T>;
  step<T>(name: string, options: StepOptions | StepFunction<T>, fn?: StepFunction<T>): Promise<T> {
    if (typeof options === "function") return callStep(this.#run, name, {}, options);
    return callStep(this.#run, name, options ?? {}, functionOf(fn, "step"));
  }

  addCost(usd: string): void {
    // Also while the run pauses, because an open call may end and report its cost.
    if (this.#run.hasEnded) throw this.#run.endedError("addCost");
    const breach = this.#run.policy.budget.addCost(usd);
    if (breach === undefined) return;
    const error = AgentError.usageLimitExceeded(breach);
    this.#run.fail(error);
    throw error;
  }

  within<T>(work: () => T): T {
    return this.#run.within(work);
  }
}

/** The public interface of a run that its code ends. */
export class PublicHandle<I> extends PublicRun<I> implements RunHandle<I> {
  readonly #run: LiveRun<I>;

  constructor(run: LiveRun<I>) {
    super(run);
    this.#run = run;
  }

  async complete(state: unknown = null): Promise<void> {
    const isFirst = this.#run.complete(state);
    await this.#run.outcome();
    if (!isFirst) throw this.#run.endedError("complete");
  }

  fail(error: unknown): Promise<void> {
    this.#run.threw(error);
    return this.#run.settled();
  }

  cancel(cause?: unknown): Promise<void> {
    this.#run.fail(AgentError.cancelled(cause === undefined ? {} : { cause }));
    return this.#run.settled();
  }

  interrupt(kind: InterruptionKind = { type: "custom" }, payload: unknown = null): Promise<void> {
    return this.fail(AgentError.interrupted(kind, payload));
  }

  close(): Promise<void> {
    this.#run.abandon();
    return this.#run.settled();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

function functionOf<F>(fn: F | undefined, of: string): F {
  if (typeof fn === "function") return fn;
  throw new TypeError(`${of}: expected a function to call, got ${typeof fn}`);
}
