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
import { failsTheSecondTime, playSame, pressedStop } from "./same-scenarios.mjs";

const ASKS = asks(["look", "c1"]);
const DONE = says("done");

/** An answer that ended in another way than usual. */
const ended = (text, reason) => ({
  ...says(text),
  finishReason: { unified: reason, raw: reason },
});

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
const agent = (context, script, tools, others) =>
  agentIn(context, agentOf(scripted(...script), tools), others);

function agentIn({ storage, telemetry }, support, others = {}) {
  const observability = new Observability({
    configs: {
      main: { serviceName: "support", bridge: telemetry, requestContextKeys: ["tenant", "user"] },
    },
  });
  const agents = { support, ...others };
  return new Mastra({ logger: false, storage, observability, agents }).getAgent("support");
}

const retries = (maxRetries) => ({ modelSettings: { maxRetries } });

async function decided(context, method, more) {
  const support = agent(context, [asks(["pay", "c1"]), DONE], { pay });
  const { runId } = await support.generate("pay 17", more);
  await support[method]({ runId, toolCallId: "c1" });
}

/** The tool stops its run. */
const stopsIn = (reason) => (context) => {
  const controller = new AbortController();
  const wait = plain((_, { abortSignal }) => {
    setImmediate(() => controller.abort(reason));
    return forever(abortSignal);
  });
  const goesOn = ({ abortSignal }) => {
    abortSignal.throwIfAborted();
    return DONE;
  };
  const { signal: abortSignal } = controller;
  return agent(context, [ASKS, goesOn], { look: wait }).generate("go", { abortSignal });
};

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
  "abort in a tool": stopsIn(),
  "stop with a reason": stopsIn(pressedStop()),
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
  "answer cut by length": (context) => agent(context, [ended("do", "length")]).generate("go"),
  refusal: (context) => agent(context, [ended("no", "content-filter")]).generate("go"),
  fallback: (context) => {
    const second = { ...DONE, response: { id: "resp-1", modelId: "small-2" } };
    const models = [unavailable(400), second].map((answer, at) => ({
      model: { ...scripted(answer), modelId: `small-${at + 1}` },
      maxRetries: 0,
    }));
    return agentIn(context, agentOf(models)).generate("go");
  },
  "failure after an answer": (context) =>
    agent(context, [ASKS, unavailable()], { look }).generate("go", retries(0)),
  "call that never ran": (context) =>
    agent(context, [asks(["none", "c1"]), DONE], { look }).generate("go"),
  "one ID twice": (context) => {
    const fails = plain(failsTheSecondTime());
    const script = [asks(["look", "c1"], ["look", "c1"]), DONE];
    return agent(context, script, { look: fails }).generate("go");
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
  "resumption of a user's run": (context) =>
    decided(context, "approveToolCallGenerate", {
      requestContext: new RequestContext([["user", "u1"]]),
    }),
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
    const context = ({ requestContext: { user } = {} }) =>
      user === undefined ? undefined : { user };
    const telemetry = new MastraTelemetry({ sink, tenant, context, onError });
    return { storage: new InMemoryStore(), telemetry, flush: () => telemetry.flush() };
  },
});
