// Plays the scenarios of the comparison with the Mastra that is installed beside it.
import { Mastra } from "@mastra/core";
import { Agent } from "@mastra/core/agent";
import { RequestContext } from "@mastra/core/request-context";
import { InMemoryStore } from "@mastra/core/storage";
import { createTool } from "@mastra/core/tools";
import { Observability } from "@mastra/observability";
import { MastraTelemetry } from "entelix-otel/mastra";
import { z } from "zod";
import { forever, raceFree, settled } from "./adapters-scenes.mjs";
import { asks, says } from "./language-model.mjs";
import { scripted, unavailable } from "./mastra-model.mjs";
import { playSame } from "./same-scenarios.mjs";

const ASKS = asks(["look", "c1"]);
const DONE = says("done");

const plain = (execute, more = {}, id = "look") =>
  createTool({ id, description: id, inputSchema: z.object({}), execute, ...more });
const look = plain(async () => "seen");
const boom = plain(async () => {
  throw new RangeError("out of order");
});
const pay = plain(async () => "paid", { requireApproval: true }, "pay");

const agentOf = (model, tools = {}, name = "support") =>
  new Agent({ id: name, name, instructions: "be kind", model, tools });

/** The agent `support`, as a process has it whose Mastra keeps its state in `storage`. */
function agent({ storage, telemetry }, script, tools = {}, others = {}) {
  const observability = new Observability({
    configs: {
      main: { serviceName: "support", bridge: telemetry, requestContextKeys: ["tenant"] },
    },
  });
  const agents = { support: agentOf(scripted(...script), tools), ...others };
  return new Mastra({ logger: false, storage, observability, agents }).getAgent("support");
}

const retries = (maxRetries) => ({ modelSettings: { maxRetries } });

async function decided(context, method) {
  const support = agent(context, [asks(["pay", "c1"]), DONE], { pay });
  const { runId } = await support.generate("pay 17");
  await support[method]({ runId, toolCallId: "c1" });
}

const scenarios = {
  success: (context) => agent(context, [ASKS, DONE], { look }).generate("go"),
  "parallel tools": (context) => {
    const both = plain(raceFree(2));
    const script = [asks(["look", "c1"], ["look", "c2"]), DONE];
    return agent(context, script, { look: both }).generate("go");
  },
  "tool failure that the model reads": (context) =>
    agent(context, [ASKS, DONE], { look: boom }).generate("go"),
  "model failure after a retry": (context) =>
    agent(context, [unavailable(), unavailable()]).generate("go", retries(1)),
  "answer after a retry": (context) =>
    agent(context, [unavailable(), DONE]).generate("go", retries(1)),
  "abort in a tool": (context) => {
    const controller = new AbortController();
    const wait = plain((_, { abortSignal }) => {
      setImmediate(() => controller.abort());
      return forever(abortSignal);
    });
    const { signal: abortSignal } = controller;
    return agent(context, [ASKS, DONE], { look: wait }).generate("go", { abortSignal });
  },
  "timeout in the model": (context) =>
    agent(context, [({ abortSignal }) => forever(abortSignal)]).generate("go", {
      abortSignal: AbortSignal.timeout(20),
    }),
  async "stream whose reader leaves"(context) {
    const controller = new AbortController();
    const support = agent(context, [says("one two three ".repeat(100))]);
    const { textStream } = await support.stream("go", { abortSignal: controller.signal });
    for await (const _ of textStream) break;
    controller.abort();
    await settled();
  },
  "agent in a tool": (context) => {
    const expert = agentOf(scripted(ASKS, DONE), { look }, "expert");
    const ask = plain(async (_, { mastra }) => {
      return (await mastra.getAgent("expert").generate("where?")).text;
    });
    return agent(context, [ASKS, DONE], { look: ask }, { expert }).generate("go");
  },
  "pause, approved": (context) => decided(context, "approveToolCallGenerate"),
  "pause, denied": (context) => decided(context, "declineToolCallGenerate"),
  async "pause, approved in another process"(context, open) {
    const { runId } = await agent(context, [asks(["pay", "c1"])], { pay }).generate("pay 17");
    await context.telemetry.flush();
    const other = { ...(await open()), storage: context.storage };
    await agent(other, [DONE], { pay }).approveToolCallGenerate({ runId, toolCallId: "c1" });
  },
  "two tenants at once": (context) => {
    const both = plain(raceFree(2));
    return Promise.all(
      ["acme", "globex"].map((tenant) =>
        agent(context, [ASKS, DONE], { look: both }).generate("go", {
          requestContext: new RequestContext([["tenant", tenant]]),
        }),
      ),
    );
  },
};

await playSame({
  scenarios,
  begin(sink, onError) {
    const tenant = ({ requestContext }) => requestContext?.tenant ?? "acme";
    const telemetry = new MastraTelemetry({ sink, tenant, onError });
    return { storage: new InMemoryStore(), telemetry, flush: () => telemetry.flush() };
  },
});
