import { ToolMessage } from "@langchain/core/messages";
import {
  type AgentMiddleware,
  createAgent,
  createMiddleware,
  modelFallbackMiddleware,
  modelRetryMiddleware,
  summarizationMiddleware,
  toolRetryMiddleware,
} from "langchain";
import { describe, expect, it } from "vitest";
import { setUnclassifiedWarning } from "../../../src/index.ts";
import { plainTool, run } from "./agents.ts";
import { observe } from "./observed.ts";
import { type Line, ScriptedModel, says } from "./scripted-model.ts";

setUnclassifiedWarning(() => {});

const unavailable = () => Object.assign(new Error("unavailable"), { status: 503 });
const AT_ONCE = { maxRetries: 3, initialDelayMs: 1, jitter: false };
const ASKED = { messages: [{ role: "user", content: "hi" }] };

/** A tool that fails so many times before it gives a result. */
function flaky(times: number) {
  let left = times;
  return plainTool("flaky", () => {
    left -= 1;
    if (left >= 0) throw new Error("connection reset");
    return "there";
  });
}

interface Scene {
  readonly script: readonly Line[];
  readonly middleware: AgentMiddleware;
  readonly tool?: ReturnType<typeof flaky>;
  readonly asked?: typeof ASKED;
}

/** The spans, and the input tokens of the run. */
async function played({ asked = ASKED, middleware, script, tool }: Scene) {
  const seen = observe();
  const agent = createAgent({
    model: new ScriptedModel(script),
    tools: tool === undefined ? [] : [tool],
    middleware: [middleware],
    name: "support",
  });
  await run(seen, agent, asked);
  expect(seen.errors).toEqual([]);
  const usage = seen.of("complete")[0]?.event.usage;
  return { seen, tree: seen.tree(), tokens: usage?.input_tokens, tools: usage?.tool_calls };
}

const ASKS_FLAKY = [says("", ["flaky", "c1"]), says("done")];
const FAILED = "  chat small-1 error !";
const CHAT = "  chat small-1 complete";

describe("middleware of `createAgent`", () => {
  it("that asks another model: each attempt is a call, and the answer has the usage", async () => {
    const middleware = modelFallbackMiddleware(new ScriptedModel([says("done")]));
    expect(await played({ script: [unavailable()], middleware })).toMatchObject({
      tree: ["invoke_agent support complete", FAILED, CHAT],
      tokens: 10,
    });
  });

  it("that asks the model again: each attempt is a call", async () => {
    const script = [unavailable(), unavailable(), says("done")];
    const { seen, ...found } = await played({ script, middleware: modelRetryMiddleware(AT_ONCE) });
    expect(found).toMatchObject({
      tree: ["invoke_agent support complete", FAILED, FAILED, CHAT],
      tokens: 10,
    });
    const kinds = seen.of("model_error").map(({ event }) => event.kind.type);
    expect(kinds).toEqual(["model_dispatch", "model_dispatch"]);
  });

  it("that calls the tool again: each attempt is a call with the model's ID", async () => {
    const scene = { script: ASKS_FLAKY, middleware: toolRetryMiddleware(AT_ONCE), tool: flaky(2) };
    const { seen, tree } = await played(scene);
    expect(tree).toEqual([
      "invoke_agent support complete",
      CHAT,
      "  execute_tool flaky error internal !",
      "  execute_tool flaky error internal !",
      "  execute_tool flaky complete",
      CHAT,
    ]);
    const ids = seen.of("tool_start").map(({ event }) => event.tool_use_id);
    expect(ids).toEqual(["c1", "c1", "c1"]);
  });

  it("that answers for a tool which threw: the call failed, with the text that the model got", async () => {
    const middleware = createMiddleware({
      name: "Answers",
      wrapToolCall: async ({ toolCall }, next) => {
        try {
          return await next({ toolCall } as never);
        } catch {
          const id = toolCall.id ?? "";
          return new ToolMessage({ content: "try later", status: "error", tool_call_id: id });
        }
      },
    });
    const { seen, tree } = await played({ script: ASKS_FLAKY, middleware, tool: flaky(1) });
    expect(tree[2]).toBe("  execute_tool flaky error internal !");
    expect(seen.of("tool_error").map(({ event }) => event.error_for_llm)).toEqual(["try later"]);
  });

  it("that summarises: its model call is one of the run, with its usage", async () => {
    const model = new ScriptedModel([says("a summary")]);
    const options = { model, trigger: { messages: 3 }, keep: { messages: 1 } };
    // With zod 4, its declarations take nothing.
    const middleware: AgentMiddleware = Reflect.apply(summarizationMiddleware, undefined, [
      options,
    ]);
    const roles = ["user", "assistant", "user", "assistant", "user"];
    const asked = { messages: roles.map((role, n) => ({ role, content: `words ${n}` })) };
    expect(await played({ script: [says("done")], middleware, asked })).toMatchObject({
      tree: ["invoke_agent support complete", CHAT, CHAT],
      tokens: 20,
    });
  });
});
