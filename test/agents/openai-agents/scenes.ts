import { Agent, type RunState, run, tool } from "@openai/agents-core";
import { z } from "zod";
import { type Item, ScriptedModel, type Step } from "./scripted-model.ts";

export const agent = (name: string, steps: readonly Step[], more: object = {}) =>
  new Agent({ name, model: new ScriptedModel(steps), ...more });

export const add = tool({
  name: "add",
  description: "adds one",
  parameters: z.object({ a: z.number() }),
  execute: async ({ a }) => a + 1,
});

export const boom = (shown: boolean) =>
  tool({
    name: "boom",
    description: "fails",
    parameters: z.object({}),
    execute: async () => {
      throw new RangeError("out of order");
    },
    ...(shown ? {} : { errorFunction: null }),
  });

export const pay = tool({
  name: "pay",
  description: "needs approval",
  parameters: z.object({ n: z.number() }),
  needsApproval: true,
  execute: async ({ n }) => `paid ${n}`,
});

const verdict = (tripwireTriggered: boolean) => async () => ({
  tripwireTriggered,
  outputInfo: { secret: "4711" },
});

export const guardrail = (name: string, trips: boolean) => ({ name, execute: verdict(trips) });

/** A step that is called off while the model is asked. */
export const calledOff =
  (controller: AbortController): Step =>
  ({ signal }) =>
    new Promise<readonly Item[]>((_, reject) => {
      signal?.addEventListener("abort", () => reject(signal.reason));
      setImmediate(() => controller.abort());
    });

/** What a run rejects with; the test is about what is told of it. */
export async function rejected(work: Promise<unknown>): Promise<unknown> {
  try {
    await work;
  } catch (error) {
    return error;
  }
  throw new Error("expected the run to fail");
}

export async function streamed(
  of: Agent<unknown, "text">,
  input: string | RunState<undefined, Agent<unknown, "text">>,
  signal?: AbortSignal,
): Promise<unknown> {
  const result = await run(of, input, {
    stream: true,
    ...(signal === undefined ? {} : { signal }),
  });
  for await (const event of result) void event;
  await result.completed;
  return result;
}
