import { createAgent } from "langchain";
import { describe, expect, it } from "vitest";
import { setUnclassifiedWarning } from "../../../src/index.ts";
import { ASKED, plainTool, reactAgent, strictAgent } from "./agents.ts";
import { observe } from "./observed.ts";
import { ScriptedModel, says } from "./scripted-model.ts";

setUnclassifiedWarning(() => {});

const script = () => [says("", ["boom", "c1"]), says("sorry")];
const boom = plainTool("boom", () => {
  throw new RangeError("out of order");
});
const support = () => reactAgent(script(), [boom]);
const strict = () => strictAgent(script(), [boom]);

const CHAT = "  chat small-1 complete";
const BOOM = "  execute_tool boom error internal !";
const TOLD = ["invoke_agent support complete", CHAT, BOOM, CHAT];
const ENDED = ["invoke_agent strict failed tool_error_terminal !", CHAT, BOOM];

type Callbacks = { readonly callbacks: [ReturnType<typeof observe>["handler"]] };

async function secondVersion(
  agent: ReturnType<typeof support> | ReturnType<typeof strict>,
  { callbacks }: Callbacks,
): Promise<void> {
  for await (const event of agent.streamEvents(ASKED, { version: "v2", callbacks })) void event;
}

async function thirdVersion({ callbacks }: Callbacks): Promise<void> {
  const model = new ScriptedModel(script());
  const agent = createAgent({ model, tools: [boom], name: "support" });
  const run = await agent.streamEvents(ASKED, { version: "v3", callbacks });
  // LangChain rejects the output of a failed call, whether or not somebody reads it.
  const calls = (async () => {
    for await (const { output } of run.toolCalls) output.catch(() => {});
  })();
  for await (const event of run) void event;
  await calls;
}

describe("a tool that throws, under `streamEvents`", () => {
  it.each<[string, (given: Callbacks) => Promise<void>, readonly string[]]>([
    ["version 2, and the model gets the error", (given) => secondVersion(support(), given), TOLD],
    ["version 2, and the graph ends", (given) => secondVersion(strict(), given), ENDED],
    ["version 3, and the model gets the error", thirdVersion, TOLD],
  ])("is one failed call: %s", async (_, read, tree) => {
    const seen = observe();
    await read({ callbacks: [seen.handler] }).catch(() => {});
    await seen.handler.flush();
    expect(seen.tree()).toEqual(tree);
    expect(seen.of("tool_error").map(({ event }) => event.tool_use_id)).toEqual(["c1"]);
    expect(seen.errors).toEqual([]);
  });
});
