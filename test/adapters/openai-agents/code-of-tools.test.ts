import { run, tool, withGenerationSpan } from "@openai/agents-core";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { agent, pay, rejected } from "./scenes.ts";
import { asks, says } from "./scripted-model.ts";
import { listen } from "./told.ts";

/** A tool with code of the test's own. */
const does = (name: string, execute: () => Promise<unknown>, more: object = {}) =>
  tool({ name, description: "…", parameters: z.object({}), execute, ...more });

describe("a model that code of a tool asks", () => {
  const summary = async () =>
    withGenerationSpan(async (span) => {
      span.spanData.output = [{ choices: [{ message: { content: "short" } }] }];
      return "short";
    });
  const away = async () => {
    await rejected(
      withGenerationSpan(async () => {
        throw new Error("503 away");
      }),
    );
    return "no summary";
  };

  it("that fails is no failure of the agent that the tool has answered", async () => {
    const heard = listen();
    const behaviour = { tools: [does("sum", away)], toolUseBehavior: "stop_on_first_tool" };
    const result = await run(agent("A", [[asks("sum")]], behaviour), "hi");
    expect(result.finalOutput).toBe("no summary");
    expect(await heard.tree()).toBe(`invoke_agent A complete
  chat small-1-2026 complete
  execute_tool sum complete
  chat error
`);
  });

  it("does not answer the agent, whose other call goes on waiting for approval", async () => {
    const heard = listen();
    const steps = [[asks("pay", { n: 1 }, "p1"), asks("sum")], [says("done")]];
    const a = agent("A", steps, { tools: [pay, does("sum", summary)] });
    const { interruptions, state } = await run(a, "hi");
    for (const waiting of interruptions) state.approve(waiting);
    await run(a, state);
    const lines = await heard.events();
    expect(lines).toContain("A interrupted approval_pending p1");
    expect(lines).toContain("A tool_call_approved pay p1");
  });
});
