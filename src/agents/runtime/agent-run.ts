import type { InterruptionKind, UsageSnapshot } from "../../events/door.ts";
import type { ModelFunction, ModelOptions } from "./call-model.ts";
import type { StepFunction, StepOptions } from "./call-step.ts";
import type { ToolFunction, ToolOptions } from "./call-tool.ts";

/**
 * The run that the agent's code receives.
 *
 * @typeParam I what the agent works on.
 */
export interface AgentRun<I = unknown> {
  readonly runId: string;
  /** The run at the top of the tree; a run without a parent is its own. */
  readonly rootRunId: string;
  readonly parentRunId: string | undefined;
  readonly tenantId: string;
  readonly threadId: string | undefined;
  readonly input: I;
  /**
   * Aborted when the run is cancelled while its code still works. Pass it to everything that takes
   * a signal.
   */
  readonly signal: AbortSignal;
  /** Usage of the run and its sub-agents. `null` without a budget and without any report. */
  readonly usage: UsageSnapshot | null;
  /** Number of events that the sink refused while the run continued. */
  readonly lostEvents: number;

  /**
   * Calls a tool: `tool_start`, then `fn` in the context of the call's span, then `tool_complete`
   * or `tool_error` with the measured duration. `fn` is called when the sink has taken the start.
   *
   * @returns what `fn` returns. It rejects with what `fn` throws, with a `ToolDeniedError` if the
   *   call was denied, with the run's error if a policy or the budget ends the run, and at once if
   *   the run ends first.
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
   * Calls a model: `model_start`, then `fn` in the context of the call's span, then `model_complete`
   * or `model_error`. What `fn` reports as used counts against the budget.
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
   * Names a part of the run: `step_start`, then `fn` in the context of the step's span, then
   * `step_complete` or `step_error`. Calls, sub-agents and steps inside stand below it. An error
   * of `fn` is thrown to the caller as it is, and only what the caller lets through ends the run.
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
   * Adds US dollars to what the run has used, exactly.
   *
   * @param usd a decimal number from 0 as text: `"0.0031"`.
   * @throws TypeError for anything else; the usage-limit error, which the run fails with, where that
   *   passes the budget; RunEndedError after the run's end.
   */
  addCost(usd: string): void;

  /**
   * Calls `work` as code of this run. Runs that it starts are sub-agents, and its spans are
   * children of the run's span.
   */
  within<T>(work: () => T): T;
}

/**
 * A run that `startRun` returned. Your code ends it with `complete`, `fail`, `cancel` or `interrupt`. The
 * first of these calls counts.
 */
export interface RunHandle<I = unknown> extends AgentRun<I>, AsyncDisposable {
  /**
   * The run is done.
   *
   * @param state content: the agent's final state. Default `null`.
   * @throws (rejects) with the sink's error, or with what the run ended with before.
   */
  complete(state?: unknown): Promise<void>;
  /**
   * Ends the run as failed, or as paused if the error is an interruption. Never rejects. Does
   * nothing after the run ended.
   */
  fail(error: unknown): Promise<void>;
  /**
   * Ends the run as cancelled, for example when the client of a stream left. Open calls are cut, and
   * sub-agents are cancelled. Never rejects. Does nothing after the run ended.
   *
   * @param cause what cancelled it, such as the `reason` of a signal. Default: none.
   */
  cancel(cause?: unknown): Promise<void>;
  /** Ends the run as paused. Never rejects. Does nothing after the run ended. */
  interrupt(kind?: InterruptionKind, payload?: unknown): Promise<void>;
  /**
   * Releases the handle. A run that has not ended fails as `unclassified`. `await using` calls it.
   * Never rejects.
   */
  close(): Promise<void>;
}
