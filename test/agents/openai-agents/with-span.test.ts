import { getCurrentSpan, run, tool } from "@openai/agents-core";
import { context } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { activeRun, withCurrentRun } from "../../../src/agents/runtime/active-run.ts";
import { OpenAIAgentsProcessor } from "../../../src/entries/openai-agents.ts";
import { add, agent } from "./scenes.ts";
import { asks, says } from "./scripted-model.ts";
import { listen } from "./told.ts";

beforeAll(() => {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
});
afterAll(() => context.disable());

describe("code of tools", () => {
  const outside = { sink: { send() {} } };

  it("runs in its call when it asks for it", async () => {
    const heard = listen();
    const seen: unknown[] = [];
    const look = tool({
      name: "look",
      description: "looks where it is",
      parameters: z.object({}),
      execute: async () => {
        seen.push(activeRun());
        return heard.processor.withSpan(getCurrentSpan(), async () => {
          await Promise.resolve();
          seen.push(activeRun());
          heard.provider.getTracer("test").startSpan("GET /").end();
          return "seen";
        });
      },
    });
    await run(agent("A", [[asks("look", {}, "l1")], [says("done")]], { tools: [look] }), "hi");
    const [started] = heard.told;
    expect(seen).toEqual([
      undefined,
      {
        tenantId: "acme",
        runId: started?.event.run_id,
        rootRunId: started?.event.run_id,
        threadId: undefined,
        tool: "look",
        toolUseId: "l1",
        sink: heard.sink,
      },
    ]);
    expect(await heard.tree()).toBe(`invoke_agent A complete
  chat complete
  execute_tool look complete
    GET / 
  chat complete
`);
  });

  it("runs all the same outside", () => {
    const { processor } = listen();
    const nowhere = { traceId: "no-op", spanId: "no-op" };
    for (const span of [null, undefined, nowhere]) {
      expect(processor.withSpan(span, () => activeRun()?.runId)).toBeUndefined();
    }
    const sink = { send() {} };
    expect(new OpenAIAgentsProcessor({ sink, tenant: "a" }).withSpan(nowhere, () => 7)).toBe(7);
  });

  it("begins child runs of the run that it belongs to", async () => {
    const heard = listen({ tenant: "other" });
    const above = { tenantId: "acme", runId: "run-1", rootRunId: "run-0", threadId: "t-1" };
    const call = { ...above, ...outside, toolUseId: "call-1" };
    await withCurrentRun(call, () => run(agent("A", [[says("done")]], { tools: [add] }), "hi"));
    await heard.processor.forceFlush();
    const [started] = heard.told;
    expect(started?.event).toMatchObject({ tenant_id: "acme", parent_run_id: "run-1" });
    expect(started?.envelope).toMatchObject({
      parent_tool_use_id: "call-1",
      root_run_id: "run-0",
      thread_id: "t-1",
    });
    const [end] = heard.told.filter(({ event }) => event.type === "complete");
    expect(end?.event).toMatchObject({ usage: null });
  });
});
