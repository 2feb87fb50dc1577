import type { InterruptionKind, UsageSnapshot } from "../../events/door.ts";
import type { ModelFunction, ModelOptions } from "./call-model.ts";
import type { StepFunction, StepOptions } from "./call-step.ts";
import type { ToolFunction, ToolOptions } from "./call-tool.ts";

/**
 * The run that the agent's code receives.
 *
 * @typeParam I the agent's input.
 */
export interface AgentRun<I = unknown> {
  readonly runId: string;
  /** The run at the top of the tree. A run without a parent is its own root. */
  readonly rootRunId: string;
  readonly parentRunId: string | undefined;
  readonly tenantId: string;
  readonly threadId: string | undefined;
  readonly input: I;
  /** Aborted when the run is cancelled while its code still works. Pass it to everything that accepts a signal. */
  readonly signal: AbortSignal;
  /** Usage of the run and its sub-agents. `null` without a budget and without any reported usage. */
  readonly usage: UsageSnapshot | null;
  /** Number of events that the sink refused while the run continued. */
  readonly lostEvents: number;

  /**
   * Calls a tool. The events are `tool_start`, and `tool_complete` or `tool_error` with the measured duration. `fn`
   * runs in the context of the call's span, after the sink has accepted the start.
   *
   * @returns the result of `fn`. It rejects with the error of `fn`, with a `ToolDeniedError` if the call was denied,
   *    or with the run's error if a policy or the budget ends the run. It rejects at once if the run ends first.
   *
   * @example
   * const order = await run.tool("lookup_order", { input: { id: 17 } }, ({ input }) => orders.get(input.id));
   */
  tool<T>(name: string, fn: ToolFunction<T, undefined>): Promise<T>;
  tool<T, I>(
    name: string,
    options: ToolOptions<I> & { readonly input: I },
    fn: ToolFunction<T, I>,
  ): Promise<T>;
  tool<T>(
    name: string,
    options: ToolOptions<undefined>,
    fn: ToolFunction<T, undefined>,
  ): Promise<T>;

  /**
   * Calls a model. The events are `model_start`, and `model_complete` or `model_error`. `fn` runs in the context of
   * the call's span. Its reported usage counts against the budget.
   *
   * @returns as {@link tool}.
   *
   * @example
   * const answer = await run.model("small-1", { provider: "openai" }, async (call) => {
   *   const answer = await client.ask(messages, { signal: call.signal });
   *   call.report({ usage: { input_tokens: answer.usage.in, output_tokens: answer.usage.out } });
   *   return answer;
   * });
   */
  model<T>(model: string, fn: ModelFunction<T>): Promise<T>;
  model<T>(model: string, options: ModelOptions, fn: ModelFunction<T>): Promise<T>;

  /**
   * Runs a part of the run as a step. The events are `step_start`, and `step_complete` or `step_error`. `fn` runs in
   * the context of the step's span. Calls, sub-agents and steps inside are its children. An error of `fn` is thrown
   * unchanged, and ends the run only if your code does not catch it.
   *
   * @returns as {@link tool}.
   *
   * @example
   * const plan = await run.step("plan", () => run.model("small-1", (call) => ask(question, call.signal)));
   * const docs = await run.step("docs", { kind: "retrieval", input: query }, () => store.search(query));
   */
  step<T>(name: string, fn: StepFunction<T>): Promise<T>;
  step<T>(name: string, options: StepOptions, fn: StepFunction<T>): Promise<T>;

  /**
   * Adds US dollars to the usage of the run, exactly.
   *
   * @param usd a decimal number from 0 as text: `"0.0031"`.
   * @throws TypeError for any other value.
   * @throws AgentError (usage limit) if it exceeds the budget. The run fails with the same error.
   * @throws RunEndedError after the run's end.
   */
  addCost(usd: string): void;

  /**
   * Calls `work` as code of this run. Runs that it starts are sub-agents, and its spans are children of the run's
   * span.
   */
  within<T>(work: () => T): T;
}

/**
 * A run from `startRun`. Your code ends it with `complete`, `fail`, `cancel` or `interrupt`. Only the first of these
 * calls counts.
 */
export interface RunHandle<I = unknown> extends AgentRun<I>, AsyncDisposable {
  /**
   * Ends the run as complete.
   *
   * @param state content: the agent's final state. Default `null`.
   * @throws (rejects) with the sink's error, with the error that ended the run before, or with a RunEndedError if the
   *   run was complete before.
   */
  complete(state?: unknown): Promise<void>;
  /**
   * Ends the run as failed, or as paused if the error is an interruption. Does nothing after the run's end. Never
   * rejects.
   */
  fail(error: unknown): Promise<void>;
  /**
   * Ends the run as cancelled, for example when the client of a stream disconnected. Open calls and sub-agents are
   * cancelled. Does nothing after the run's end. Never rejects.
   *
   * @param cause of the cancellation, such as the `reason` of a signal. Default: none.
   */
  cancel(cause?: unknown): Promise<void>;
  /** Ends the run as paused. Does nothing after the run's end. Never rejects. */
  interrupt(kind?: InterruptionKind, payload?: unknown): Promise<void>;
  /** Releases the handle. An open run fails as `unclassified`. `await using` calls it. Never rejects. */
  close(): Promise<void>;
}
