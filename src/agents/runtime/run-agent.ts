import type { AgentRun, RunHandle } from "./agent-run.ts";
import { LiveRun } from "./live-run.ts";
import { PublicHandle, PublicRun } from "./public-run.ts";
import { planRun, type RunOptions } from "./run-options.ts";

/**
 * Runs an agent and sends its events: one `started`, which the sink must accept before `fn` is called, and exactly
 * one terminal event. A run started inside another run is its sub-agent.
 *
 * @returns the result of `fn`, which is also the state of `complete`.
 * @throws (rejects) with the error of `fn`, after `failed`.
 * @throws (rejects) with an `Interruption`, after `interrupted`.
 * @throws (rejects) with an `AgentError` when a deadline, a signal, a limit or a terminal tool error ended the run.
 *    It does not wait for `fn` then.
 * @throws (rejects) with the sink's error at `started`, without calling `fn`, or at `complete`.
 * @throws (rejects) with a TypeError or RangeError for an invalid option.
 *
 * @example
 * const answer = await runAgent({ sink: bridge, agent: "support", tenant: "acme" }, async (run) => {
 *   const order = await run.tool("lookup_order", { input: { id: 17 } }, ({ input }) => find(input.id));
 *   return run.model("small-1", (call) => ask(`Where is ${order.item}?`, call.signal));
 * });
 */
export function runAgent<S, I>(
  options: RunOptions<I> & { readonly input: I },
  fn: (run: AgentRun<I>) => S | PromiseLike<S>,
): Promise<S>;
export function runAgent<S>(
  options: RunOptions<undefined>,
  fn: (run: AgentRun<undefined>) => S | PromiseLike<S>,
): Promise<S>;
export function runAgent<S, I>(
  options: RunOptions<I>,
  fn: (run: AgentRun<I | undefined>) => S | PromiseLike<S>,
): Promise<S> {
  const result: Promise<S> = begin(options, fn, () => {
    result.catch(() => {});
  });
  return result;
}

/**
 * @param beganInside called for a sub-agent that has started. When its parent is aborted, all its sub-agents reject
 *    at once, and the parent's code may not await all of them. Those rejections must not end the process, because the
 *    events report them.
 */
async function begin<S, I>(
  options: RunOptions<I>,
  fn: (run: AgentRun<I | undefined>) => S | PromiseLike<S>,
  beganInside: () => void,
): Promise<S> {
  if (typeof fn !== "function") {
    throw new TypeError(`runAgent: expected a function to run, got ${typeof fn}`);
  }
  const run = new LiveRun(planRun(options));
  await run.start();
  if (run.plan.isInside) beganInside();
  return run.work(() => fn(new PublicRun(run)));
}

/**
 * Starts a run whose code is not one function, for example code with callbacks. End it with `complete`, `fail` or
 * `interrupt`. Always `close` it, with `await using` or in a `finally` block.
 *
 * @throws (rejects) with the sink's error at `started`, with the run's error if it was already cancelled, or with a
 *    TypeError or RangeError for an invalid option.
 *
 * @example
 * const run = await startRun({ sink: bridge, agent: "support", tenant: "acme" });
 * try {
 *   await run.tool("send_reply", () => send(text));
 *   await run.complete({ replied: true });
 * } catch (error) {
 *   await run.fail(error);
 * } finally {
 *   await run.close();
 * }
 */
export function startRun<I>(options: RunOptions<I> & { readonly input: I }): Promise<RunHandle<I>>;
export function startRun(options: RunOptions<undefined>): Promise<RunHandle<undefined>>;
export async function startRun<I>(options: RunOptions<I>): Promise<RunHandle<I | undefined>> {
  const run = new LiveRun(planRun(options));
  await run.start();
  if (run.hasEnded) await run.outcome();
  return new PublicHandle(run);
}
