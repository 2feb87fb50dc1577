import { Runner, run } from "@openai/agents-core";
import { describe, expect, it } from "vitest";
import { agent, boom, rejected } from "./scenes.ts";
import { asks, says } from "./scripted-model.ts";
import { listen } from "./told.ts";

const failing = (shown: boolean) =>
  agent("A", [[asks("boom", {}, "b1")], [says("done")]], { tools: [boom(shown)] });

/** The model's text of the failed call: of the event, what it says of it, and of the span. */
async function textOf(heard: ReturnType<typeof listen>) {
  await heard.events();
  const [failed] = heard.told.filter(({ event }) => event.type === "tool_error");
  const span = heard.spans().find(({ name }) => name === "execute_tool boom");
  return {
    text: failed?.event.type === "tool_error" ? failed.event.error_for_llm : undefined,
    mark: failed?.envelope.details?.model_text,
    onSpan: span?.attributes["entelix.tool.model_text"],
    unknown: span?.attributes["entelix.tool.model_text_unknown"],
  };
}

describe("the model's text of a failed tool call", () => {
  it("is what the SDK's error function gives", async () => {
    const heard = listen({ captureContent: true });
    await run(failing(true), "hi");
    const text =
      "An error occurred while running the tool. Please try again. Error: RangeError: out of order";
    expect(await textOf(heard)).toEqual({ text, onSpan: text });
  });

  it("is empty and marked where the spans hold nothing of it", async () => {
    const heard = listen({ captureContent: true });
    const runner = new Runner({ traceIncludeSensitiveData: false });
    await runner.run(failing(true), "hi");
    expect(await textOf(heard)).toEqual({ text: "", mark: "unknown", unknown: true });
  });

  it("is our own where the failure ended the run: no model received any", async () => {
    const heard = listen({ captureContent: true });
    await rejected(run(failing(false), "hi"));
    const { mark, text } = await textOf(heard);
    expect(mark).toBeUndefined();
    expect(text).not.toBe("");
    expect(text).not.toContain("out of order");
  });
});
