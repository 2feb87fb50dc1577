import { Runner, tool } from "@openai/agents-core";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { agent, play, saying, TRACE, type Tree, used } from "./newer-spans.ts";
import { agent as scripted } from "./scenes.ts";
import { asks, says } from "./scripted-model.ts";
import { listen } from "./told.ts";

async function resultOf(text: string, traceIncludeSensitiveData: boolean) {
  const heard = listen({ captureContent: true });
  const quiet = tool({
    name: "quiet",
    description: "returns a text",
    parameters: z.object({}),
    execute: async () => text,
  });
  const a = scripted("A", [[asks("quiet")], [says("done")]], { tools: [quiet] });
  await new Runner({ traceIncludeSensitiveData }).run(a, "hi");
  await heard.processor.forceFlush();
  const call = heard.spans().find(({ name }) => name === "execute_tool quiet");
  return call?.attributes["gen_ai.tool.call.result"];
}

describe("the result of a tool", () => {
  it.each([
    ["seen", true, "seen"],
    ["", true, ""],
    ["hidden", false, undefined],
    ["", false, undefined],
  ])("%j is shown as the SDK shows it (sensitive data: %s)", async (text, shown, result) => {
    expect(await resultOf(text, shown)).toBe(result);
  });
});

describe("a guardrail that tripped", () => {
  const failing = async (error: string) => {
    const heard = listen();
    await heard.processor.onTraceStart(TRACE);
    const guardrail = { type: "guardrail", name: "polite", triggered: true };
    const failure = { message: "Error in agent run", data: { error } };
    await play(heard, ["a1", agent("A"), ["g1", guardrail]], null, failure);
    return (await heard.events()).at(-1);
  };

  it("is named by the failure that it caused", async () => {
    expect(await failing("InputGuardrailTripwireTriggered: Input guardrail triggered: {}")).toBe(
      "A failed internal: an input guardrail tripped: polite",
    );
  });

  it("is not named by another failure", async () => {
    expect(await failing("Error: 500 boom")).toBe("A failed internal: 500 boom");
  });
});

describe("the usage of a turn", () => {
  const usage = { input_tokens: 10, output_tokens: 5 };
  const usageOf = async (...turns: readonly Tree[]) => {
    const heard = listen();
    await heard.processor.onTraceStart(TRACE);
    await play(heard, ["a1", agent("A"), ...turns]);
    await heard.processor.onTraceEnd(TRACE);
    await heard.processor.forceFlush();
    const end = heard.told.at(-1)?.event;
    return end?.type === "complete" ? end.usage : end?.type;
  };
  const once = { ...usage, requests: 1, tool_calls: 0 };

  it("is the run's where the model call does not show it", async () => {
    expect(await usageOf(["t1", used, ["m1", { type: "response" }]])).toEqual(once);
  });

  it("is the run's, with its request, of a model without spans", async () => {
    const cached = { ...usage, cached_input_tokens: 4, cache_write_input_tokens: 0 };
    expect(await usageOf(["t1", used], ["t2", { ...used, usage: cached }])).toEqual({
      input_tokens: 20,
      output_tokens: 10,
      requests: 2,
      tool_calls: 0,
      cache_read_input_tokens: 4,
      cache_write_input_tokens: 0,
    });
  });

  it("is not counted again if the model call shows it", async () => {
    const shown = { ...saying, _response: { ...saying._response, usage } };
    expect(await usageOf(["t1", used, ["m1", shown]])).toEqual(once);
    const failed = { type: "response", _response: { status: "failed", output: [], usage } };
    expect(await usageOf(["t1", used, ["m1", failed]])).toEqual({ ...once, requests: 0 });
  });
});
