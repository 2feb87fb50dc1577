import { getCurrentSpan, run, tool } from "@openai/agents-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { type AgentEvent, setUnclassifiedWarning } from "../../../src/index.ts";
import {
  hasSecret,
  SECRET_NUMBER,
  SECRETS,
  somePoisoned,
} from "../../events/errors/vendor-errors.ts";
import { runs } from "../../support/runs.ts";
import { plainTool, strictAgent } from "../langchain/agents.ts";
import { observe as observeLangChain } from "../langchain/observed.ts";
import { says as answers } from "../langchain/scripted-model.ts";
import { observe as observeMcp } from "../mcp/observed.ts";
import { McpError, Server } from "../mcp/peers.ts";
import { agent, rejected } from "../openai-agents/scenes.ts";
import { asks, says } from "../openai-agents/scripted-model.ts";
import { listen } from "../openai-agents/told.ts";

beforeAll(() => setUnclassifiedWarning(() => {}));
afterAll(() => setUnclassifiedWarning());

/** What rows and metrics are made of: without the operator's text, and the provider's time to wait. */
function kept(told: readonly { readonly event: AgentEvent }[]): string {
  const left = new Set(["error", "retry_after_secs"]);
  return JSON.stringify(
    told.map(({ event }) => event),
    (key, inner: unknown) => {
      if (left.has(key)) return undefined;
      return typeof inner === "bigint" ? String(inner) : inner;
    },
  );
}

const failures = (told: readonly { readonly event: AgentEvent }[]) =>
  told.filter(({ event }) => event.type === "tool_error");

// The AI SDK and Mastra show a tool's error to the model in its own words, which is what is recorded.
describe("a text of others, where the text for the model is ours", () => {
  it("does not come out of a tool of LangChain", async () => {
    const found: string[] = [];
    for (const { name, thrown } of somePoisoned(runs(3))) {
      const seen = observeLangChain();
      const pay = plainTool("pay", () => Promise.reject(thrown));
      await pay.invoke({}, { callbacks: [seen.handler] }).catch(() => {});
      expect([name, failures(seen.told).length]).toEqual([name, 1]);
      if (hasSecret(kept(seen.told))) found.push(name);
    }
    expect(found).toEqual([]);
  });

  it("does not come out of a graph that a tool's error ended", async () => {
    const seen = observeLangChain();
    const thrown = { issues: [{ message: "m", code: SECRETS[1], path: [SECRETS[0]] }] };
    const pay = plainTool("pay", () => Promise.reject(thrown));
    const graph = strictAgent([answers("", ["pay", "call_1"])], [pay]);
    await graph.invoke({ messages: ["hi"] }, { callbacks: [seen.handler] }).catch(() => {});
    expect(failures(seen.told)).toMatchObject([
      { event: { error_for_llm: "invalid input: *: invalid" } },
    ]);
    expect(hasSecret(kept(seen.told))).toBe(false);
  });

  it.each([false, true])(
    "does not come out of a tool of OpenAI Agents (withSpan: %s)",
    async (isInside) => {
      const found: string[] = [];
      for (const { name, thrown } of somePoisoned(runs(3))) {
        const heard = listen();
        const fail = () => Promise.reject(thrown);
        const execute = isInside ? () => heard.processor.withSpan(getCurrentSpan(), fail) : fail;
        const pay = tool({
          name: "pay",
          description: "pays",
          parameters: z.object({}),
          execute,
          errorFunction: null,
        });
        const payer = agent("A", [[asks("pay", {}, "p1")], [says("done")]], { tools: [pay] });
        await rejected(run(payer, "hi"));
        await heard.processor.forceFlush();
        expect([name, failures(heard.told).length]).toEqual([name, 1]);
        if (hasSecret(kept(heard.told))) found.push(name);
      }
      expect(found).toEqual([]);
    },
  );

  it("does not come out of an MCP server's error", async () => {
    for (const secret of [...SECRETS, String(SECRET_NUMBER)]) {
      for (const code of [-32603, -32602, -32001, -32000]) {
        const seen = observeMcp();
        const mcp = seen.client();
        const pay = () => {
          throw Object.assign(new McpError(code, secret), { data: { timeout: secret, secret } });
        };
        await seen.connected(mcp, new Server({ pay }));
        await seen
          .run((agent) => agent.tool("buy", () => mcp.callTool({ name: "pay" })))
          .catch(() => {});
        expect(failures(seen.told)).toHaveLength(2);
        expect(hasSecret(kept(seen.told))).toBe(false);
      }
    }
  });
});
