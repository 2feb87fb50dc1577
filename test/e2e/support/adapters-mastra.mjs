// Runs one scripted program with the Mastra that is installed beside it, under the telemetry as its bridge, and prints
// the spans of each scene as JSON. It uses only what the oldest supported version has.
import { Mastra } from "@mastra/core";
import { Agent } from "@mastra/core/agent";
import { createDurableAgent } from "@mastra/core/agent/durable";
import { MockMemory } from "@mastra/core/memory";
import { InMemoryStore } from "@mastra/core/storage";
import { createTool } from "@mastra/core/tools";
import { createStep, createWorkflow } from "@mastra/core/workflows";
import { Observability } from "@mastra/observability";
import { MastraTelemetry } from "entelix-otel/mastra";
import { z } from "zod";
import { forever, play, raceFree, settled } from "./adapters-scenes.mjs";
import { asks, says } from "./language-model.mjs";
import { scripted, unavailable } from "./mastra-model.mjs";
import { workflows } from "./mastra-workflows.mjs";

const ADD = ["add", "c1", { a: 1, b: 2 }];

const add = createTool({
  id: "add",
  description: "adds",
  inputSchema: z.object({ a: z.number(), b: z.number() }),
  execute: async ({ a, b }) => a + b,
});

const plain = (id, execute, more = {}) =>
  createTool({ id, description: `${id} it`, inputSchema: z.object({}), execute, ...more });

const boom = plain("boom", async () => {
  throw new RangeError("out of order");
});
const pay = plain("pay", async () => "paid", { requireApproval: true });

let telemetry;
let storage;

/** A Mastra of these agents and workflows. */
function mastraOf(parts, more = {}) {
  const observability = new Observability({
    configs: { main: { serviceName: "support", bridge: telemetry, ...more } },
  });
  return new Mastra({ logger: false, storage, observability, ...parts });
}

function agentOf(model, more = {}) {
  return new Agent({ id: "support", name: "support", instructions: "be kind", model, ...more });
}

/** The agent `support`, registered. */
function agent(model, more = {}, parts = {}) {
  return mastraOf({ agents: { support: agentOf(model, more) }, ...parts }).getAgent("support");
}

function flowOf(id = "flow") {
  return createWorkflow({ id, inputSchema: z.any(), outputSchema: z.any() });
}

async function start(steps, inputData = {}, parts = {}) {
  const flow = flowOf();
  for (const step of steps) flow.then(step);
  return begin(flow, inputData, parts);
}

async function begin(flow, inputData = {}, parts = {}) {
  const mastra = mastraOf({ workflows: { flow: flow.commit() }, ...parts });
  const run = await mastra.getWorkflow("flow").createRun();
  return { run, started: run.start({ inputData }) };
}

const stepOf = (id, execute, more = {}) =>
  createStep({ id, inputSchema: z.any(), outputSchema: z.any(), execute, ...more });

/** Waits for a person the first time, unless there is nothing to ask. */
const WAITS = { resumeSchema: z.any(), suspendSchema: z.any() };
const waiting = (id, asks = () => true) =>
  stepOf(
    id,
    async ({ inputData, resumeData, suspend }) =>
      resumeData ?? (asks(inputData) ? suspend({ question: "sure?" }) : inputData),
    WAITS,
  );

const once = { modelSettings: { maxRetries: 0 } };

async function readAll(stream) {
  for await (const part of stream) void part;
}

const scenes = {
  async success() {
    const look = plain("look", raceFree(2));
    const model = scripted(asks(["look", "c1"], ["look", "c2"]), says("done"));
    await agent(model, { tools: { look } }).generate("look twice");
  },
  async "tool failure"() {
    const model = scripted(asks(["boom", "c1"]), says("sorry"));
    await agent(model, { tools: { boom } }).generate("go");
  },
  async "tool that says it failed"() {
    const told = { isError: true, content: [{ type: "text", text: "no row" }] };
    const mcp = plain("mcp", async () => told);
    const model = scripted(asks(["mcp", "c1"]), says("sorry"));
    await agent(model, { tools: { mcp } }).generate("go");
  },
  async "invalid input"() {
    const model = scripted(asks(["add", "c1", { a: "one" }]), says("sorry"));
    await agent(model, { tools: { add } }).generate("go");
  },
  async "invalid result"() {
    const outputSchema = z.object({ sum: z.number() });
    const wrong = plain("wrong", async () => ({ sum: "three" }), { outputSchema });
    const model = scripted(asks(["wrong", "c1"]), says("sorry"));
    await agent(model, { tools: { wrong } }).generate("go");
  },
  async "object of another form"() {
    const structuredOutput = { schema: z.object({ city: z.string() }) };
    await agent(scripted(says('{"city":4711}'))).generate("where?", { structuredOutput });
  },
  async "second model"() {
    const models = [unavailable(400), says("done")].map((answer) => ({
      model: scripted(answer),
      maxRetries: 0,
    }));
    await agent(models).generate("go");
  },
  async "model failure"() {
    await agent(scripted(unavailable(), unavailable())).generate("go", {
      modelSettings: { maxRetries: 1 },
    });
  },
  async "retried model"() {
    await agent(scripted(unavailable(), says("done"))).generate("go", {
      modelSettings: { maxRetries: 1 },
    });
  },
  async tripwire() {
    const inputProcessors = [
      { id: "guard", processInput: ({ abort }) => abort("it says secret-mark") },
    ];
    await agent(scripted(says("x")), { inputProcessors }).generate("go");
  },
  async abort() {
    const controller = new AbortController();
    const wait = plain("wait", (_, { abortSignal }) => {
      setImmediate(() => controller.abort());
      return forever(abortSignal);
    });
    const model = scripted(asks(["wait", "c1"]), says("never"));
    const { signal: abortSignal } = controller;
    await agent(model, { tools: { wait } }).generate("go", { abortSignal });
  },
  async "abort in the model"() {
    const controller = new AbortController();
    const model = scripted(({ abortSignal }) => {
      setImmediate(() => controller.abort());
      return forever(abortSignal);
    });
    await agent(model).generate("go", { abortSignal: controller.signal });
  },
  async timeout() {
    const model = scripted(({ abortSignal }) => forever(abortSignal));
    await agent(model).generate("go", { abortSignal: AbortSignal.timeout(20) });
  },
  async stream() {
    const model = scripted(asks(ADD), says("it is 3"));
    const { fullStream } = await agent(model, { tools: { add } }).stream("1 + 2?");
    await readAll(fullStream);
  },
  async "stream that fails"() {
    const parts = [
      { type: "stream-start", warnings: [] },
      { type: "text-start", id: "t" },
      { type: "text-delta", id: "t", delta: "one" },
      { type: "error", error: unavailable(429) },
    ];
    const { fullStream } = await agent(scripted({ parts })).stream("go", once);
    await readAll(fullStream);
  },
  async "reader that leaves"() {
    const model = scripted(says("one two three ".repeat(100)));
    const controller = new AbortController();
    const options = { abortSignal: controller.signal };
    const { textStream } = await agent(model).stream("go", options);
    for await (const _ of textStream) break;
    controller.abort();
    await settled();
  },
  async "nested agents"() {
    const expert = new Agent({
      id: "expert",
      name: "expert",
      description: "knows",
      instructions: "add",
      model: scripted(asks(ADD), says("3")),
      tools: { add },
    });
    const model = scripted(asks(["agent-expert", "c1", { prompt: "1 + 2?" }]), says("it is 3"));
    await agent(model, { agents: { expert } }).generate("go");
  },
  async "agent in a tool, whose model fails"() {
    const expert = agentOf(scripted(unavailable()), { id: "expert", name: "expert" });
    const ask = plain("ask", async (_, { mastra }) => {
      return (await mastra.getAgent("expert").generate("1 + 2?", once)).text;
    });
    const model = scripted(asks(["ask", "c1"]), says("sorry"));
    const support = agentOf(model, { tools: { ask } });
    await mastraOf({ agents: { expert, support } }).getAgent("support").generate("go");
  },
  async "agent whose turns are not exported"() {
    const support = agentOf(scripted(asks(ADD), says("it is 3")), { tools: { add } });
    const left = { excludeSpanTypes: ["model_step", "model_chunk"] };
    await mastraOf({ agents: { support } }, left).getAgent("support").generate("1 + 2?");
  },
  async "durable agent"() {
    const support = createDurableAgent({
      agent: agentOf(scripted(asks(ADD), says("it is 3")), { tools: { add } }),
    });
    mastraOf({ agents: { support } });
    const { cleanup, fullStream, output } = await support.stream("1 + 2?");
    await readAll(fullStream ?? output.fullStream);
    cleanup?.();
    await settled();
  },
  async "router of agents"() {
    const weather = agentOf(scripted(says("sunny")), {
      id: "weather",
      name: "weather",
      description: "knows the weather",
    });
    const routes = ({ responseFormat }) => {
      const asked = Object.keys(responseFormat?.schema?.properties ?? {});
      if (asked.includes("isComplete")) {
        const said = { isComplete: true, finalResult: "sunny", completionReason: "known" };
        return says(JSON.stringify(said));
      }
      const chosen = { primitiveId: "weather", primitiveType: "agent", prompt: "weather?" };
      return says(JSON.stringify({ ...chosen, selectionReason: "it knows" }));
    };
    const support = agentOf(scripted(routes, routes, routes), {
      agents: { weather },
      memory: new MockMemory({ storage }),
    });
    const router = mastraOf({ agents: { support, weather } }).getAgent("support");
    const memory = { thread: "t1", resource: "u1" };
    await readAll(await router.network("weather?", { memory, maxSteps: 2 }));
    await settled();
  },
  async "approved and paid"() {
    const support = agent(scripted(asks(["pay", "c1"]), says("done")), { tools: { pay } });
    const { runId } = await support.generate("pay 17");
    await support.approveToolCallGenerate({ runId, toolCallId: "c1" });
  },
  async denied() {
    const support = agent(scripted(asks(["pay", "c1"]), says("done")), { tools: { pay } });
    const { runId } = await support.generate("pay 17");
    await support.declineToolCallGenerate({ runId, toolCallId: "c1" });
  },
  async "tool that waits"() {
    const ask = createTool({
      id: "ask",
      description: "asks",
      inputSchema: z.object({}),
      resumeSchema: z.object({ approved: z.boolean() }),
      suspendSchema: z.object({ question: z.string() }),
      async execute(_, { agent: { resumeData, suspend } }) {
        return resumeData === undefined ? suspend({ question: "sure?" }) : "ok";
      },
    });
    const support = agent(scripted(asks(["ask", "c1"]), says("done")), { tools: { ask } });
    const { runId } = await support.generate("go");
    await support.resumeGenerate({ approved: true }, { runId, toolCallId: "c1" });
  },
  async "workflow that waits"() {
    const hello = stepOf("hello", async ({ mastra }) => {
      return (await mastra.getAgent("support").generate("hi")).text;
    });
    const pause = waiting("pause");
    const agents = { support: agentOf(scripted(says("hi"))) };
    const { run, started } = await start([hello, pause], {}, { agents });
    await started;
    await run.resume({ step: "pause", resumeData: { ok: true } });
  },
  async "nested agent that waits"() {
    const expert = agentOf(scripted(asks(["pay", "c9"]), says("paid")), {
      id: "expert",
      name: "expert",
      description: "pays",
      tools: { pay },
    });
    const model = scripted(asks(["agent-expert", "c1", { prompt: "pay 17" }]), says("done"));
    const support = agent(model, { agents: { expert } });
    const { runId } = await support.generate("go");
    await support.approveToolCallGenerate({ runId, toolCallId: "c1" });
  },
  async "nested workflow that waits"() {
    const pause = waiting("pause");
    const { run, started } = await start([flowOf("inner").then(pause).commit()]);
    await started;
    await run.resume({ step: ["inner", "pause"], resumeData: { ok: true } });
  },
  async "workflow in a tool"() {
    const inner = createWorkflow({
      id: "inner",
      inputSchema: z.object({ n: z.number() }),
      outputSchema: z.any(),
    })
      .then(stepOf("twice", async ({ inputData: { n } }) => 2 * n))
      .commit();
    const model = scripted(
      asks(["workflow-inner", "c1", { inputData: { n: 2 } }]),
      says("it is 4"),
    );
    const support = agentOf(model, { workflows: { inner } });
    await mastraOf({ agents: { support } }).getAgent("support").generate("go");
  },
  async "workflow that fails"() {
    const fail = stepOf(
      "fail",
      async () => {
        throw new RangeError("out of order");
      },
      { retries: 1 },
    );
    await (await start([fail])).started;
  },
  async "workflow whose agent fails"() {
    const ask = stepOf("ask", async ({ mastra }) => {
      return (await mastra.getAgent("support").generate("hi", once)).text;
    });
    const agents = { support: agentOf(scripted(unavailable())) };
    await (await start([ask], {}, { agents })).started;
  },
  async "workflow that is cancelled"() {
    const wait = stepOf("wait", async ({ abortSignal }) => {
      setImmediate(() => run.cancel());
      return forever(abortSignal);
    });
    const { run, started } = await start([wait]);
    await started;
    await settled();
  },
};

const begins = { agentOf, begin, flowOf, stepOf, waiting };

// The timers of `AbortSignal.timeout` keep no process alive; `play` ends it.
setInterval(() => {}, 1000);

await play({
  scenes: { ...scenes, ...workflows(begins) },
  shown: [
    "entelix.failure.origin",
    "entelix.retry.count",
    "entelix.tool.decision.outcome",
    "entelix.tool.decision.by",
    "entelix.run.approved_calls",
    "entelix.run.denied_calls",
    "entelix.interruption.kind",
  ],
  begin(sink, onError) {
    telemetry = new MastraTelemetry({ sink, tenant: "acme", onError });
    storage = new InMemoryStore();
    return {
      config: undefined,
      flush: () => telemetry.flush(),
      counts: () => telemetry.counts,
    };
  },
});
