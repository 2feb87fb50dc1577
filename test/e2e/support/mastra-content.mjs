// Runs the Mastra that is installed beside it, and prints what it made: spans, audit rows, the recording and what the
// code of the calls saw, as JSON.
//
// node mastra-content.mjs shown | hidden | exporter | filtered | inside | tenants | pause FILE | resume FILE
import { readFileSync, writeFileSync } from "node:fs";
import { Writable } from "node:stream";
import { Mastra } from "@mastra/core";
import { Agent } from "@mastra/core/agent";
import { RequestContext } from "@mastra/core/request-context";
import { InMemoryStore } from "@mastra/core/storage";
import { createTool } from "@mastra/core/tools";
import { createStep, createWorkflow } from "@mastra/core/workflows";
import { Observability } from "@mastra/observability";
import { trace } from "@opentelemetry/api";
import {
  InMemorySpanExporter,
  NodeTracerProvider,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-node";
import { Bridge, createIdGenerator } from "entelix-otel";
import { MemorySessionLog } from "entelix-otel/audit";
import { MastraTelemetry } from "entelix-otel/mastra";
import { currentRun, runAgent } from "entelix-otel/runtime";
import { FanOutSink, RecorderSink } from "entelix-otel/sinks";
import { z } from "zod";
import { asks, says } from "./language-model.mjs";
import { scripted } from "./mastra-model.mjs";

const [what, file] = process.argv.slice(2);

let tape = "";
const stream = new Writable({
  write(chunk, _, done) {
    tape += chunk;
    done();
  },
});
const exporter = new InMemorySpanExporter();
const provider = new NodeTracerProvider({
  idGenerator: createIdGenerator(),
  spanProcessors: [new SimpleSpanProcessor(exporter)],
});
provider.register();
const rows = [];
class Rows extends MemorySessionLog {
  async append(key, entries) {
    for (const { event } of entries) rows.push({ thread: key, ...event });
    return super.append(key, entries);
  }
}
const captureContent = ["shown", "hidden", "exporter", "filtered"].includes(what);
const bridge = new Bridge({ tracerProvider: provider, captureContent, audit: new Rows() });
const recorder = new RecorderSink({ stream, source: bridge, content: captureContent });
const sink = new FanOutSink([bridge, recorder]);
const troubles = [];
const seen = {};

const telemetry = new MastraTelemetry({
  sink,
  tenant: ({ requestContext }) => String(requestContext.tenant ?? "acme"),
  context: ({ resourceId, tags, runId }) => ({
    user: resourceId,
    tags,
    metadata: { mastra_run: String(runId !== undefined) },
  }),
  decidedBy: (_, { user }) => user,
  price: ({ usage }) => Number(usage.input_tokens) / 1000,
  onError: (error) => troubles.push(String(error)),
});
const storage = new InMemoryStore();

function mastraOf(parts, settings = { bridge: telemetry }) {
  const observability = new Observability({
    configs: { main: { serviceName: "support", ...settings } },
  });
  return new Mastra({ logger: false, storage, observability, ...parts });
}

function agentOf(model, tools, more = {}) {
  return new Agent({
    id: "support",
    name: "support",
    instructions: "system-mark",
    model,
    tools,
    ...more,
  });
}

function agent(model, tools, settings) {
  return mastraOf({ agents: { support: agentOf(model, tools) } }, settings).getAgent("support");
}

const contextOf = (values) => new RequestContext(Object.entries(values));

const look = createTool({
  id: "look",
  description: "looks an order up",
  inputSchema: z.object({ order: z.string() }),
  execute: async () => ({ state: "result-mark" }),
});
const fail = createTool({
  id: "fail",
  description: "fails",
  inputSchema: z.object({}),
  execute: async () => {
    throw new Error("broken");
  },
});
const pay = createTool({
  id: "pay",
  description: "pays",
  inputSchema: z.object({ sum: z.number() }),
  requireApproval: true,
  execute: async ({ sum }) => `paid ${sum}`,
});

const ASKED = {
  memory: { thread: "t1", resource: "u1" },
  modelSettings: { temperature: 0.2, maxOutputTokens: 99 },
  tracingOptions: { tags: ["support"] },
};
const script = () => scripted(asks(["look", "c1", { order: "input-mark" }]), says("answer-mark"));

/** What code sees of where it runs. */
function here() {
  const { runId, toolUseId } = currentRun() ?? {};
  return { runId, toolUseId, spanId: trace.getActiveSpan()?.spanContext().spanId };
}

const USES = {
  async shown() {
    const { traceId } = await agent(script(), { look }).generate("question-mark", ASKED);
    seen.traceId = traceId;
  },
  async hidden() {
    const model = scripted(asks(["fail", "c1"]), says("answer-mark"));
    const tracingOptions = { hideInput: true, hideOutput: true };
    await agent(model, { fail }).generate("question-mark", { tracingOptions });
  },
  async exporter() {
    const settings = { exporters: [telemetry] };
    await agent(script(), { look }, settings).generate("question-mark", ASKED);
  },
  async filtered() {
    const excludeSpanTypes = ["model_inference", "model_step", "model_chunk"];
    const settings = { bridge: telemetry, exporters: [telemetry], excludeSpanTypes };
    await agent(script(), { look }, settings).generate("question-mark", ASKED);
  },
  async inside() {
    const ask = createTool({
      id: "ask",
      description: "asks",
      inputSchema: z.object({}),
      async execute() {
        seen.tool = here();
        return runAgent({ sink, agent: "inner", tenant: "acme" }, async (run) => run.runId);
      },
    });
    const answer = says("done");
    const model = scripted(asks(["ask", "c1"]), () => {
      seen.model = here();
      return answer;
    });
    const hello = createStep({
      id: "hello",
      inputSchema: z.any(),
      outputSchema: z.any(),
      async execute({ mastra }) {
        seen.step = here();
        return (await mastra.getAgent("support").generate("hi")).text;
      },
    });
    const flow = createWorkflow({ id: "flow", inputSchema: z.any(), outputSchema: z.any() });
    flow.then(hello).commit();
    const mastra = mastraOf({
      agents: { support: agentOf(model, { ask }) },
      workflows: { flow },
    });
    await runAgent({ sink, agent: "outer", tenant: "acme" }, async () => {
      await (await mastra.getWorkflow("flow").createRun()).start({ inputData: {} });
    });
  },
  async tenants() {
    let both;
    const meeting = new Promise((resolve) => {
      both = resolve;
    });
    let arrived = 0;
    const meet = createTool({
      id: "meet",
      description: "meets",
      inputSchema: z.object({}),
      async execute() {
        arrived += 1;
        if (arrived === 2) both();
        await meeting;
        return "met";
      },
    });
    await Promise.all(
      ["north", "south"].map((tenant) =>
        agent(scripted(asks(["meet", "c1"]), says("done")), { meet }).generate("go", {
          requestContext: contextOf({ tenant }),
          memory: { thread: "same", resource: "u1" },
        }),
      ),
    );
  },
  async pause() {
    const support = agent(scripted(asks(["pay", "c1", { sum: 17 }])), { pay });
    const { runId } = await support.generate("pay 17", ASKED);
    const workflows = await storage.getStore("workflows");
    const { runs } = await workflows.listWorkflowRuns({});
    writeFileSync(file, JSON.stringify({ runId, runs }));
  },
  async resume() {
    const { runId, runs } = JSON.parse(readFileSync(file));
    const workflows = await storage.getStore("workflows");
    for (const run of runs) await workflows.persistWorkflowSnapshot(run);
    const support = agent(scripted(says("paid")), { pay });
    const requestContext = contextOf({ user: "u2" });
    await support.approveToolCallGenerate({ runId, toolCallId: "c1", requestContext });
  },
};

await USES[what]();
await telemetry.flush();
await bridge.forceFlush();
await recorder.forceFlush();
const spans = exporter.getFinishedSpans().map((span) => ({
  name: span.name,
  ...span.spanContext(),
  parentSpanId: span.parentSpanContext?.spanId,
  startTime: span.startTime,
  endTime: span.endTime,
  status: span.status,
  attributes: span.attributes,
  links: span.links.map(({ context }) => context.traceId),
}));
const printed = { spans, rows, tape, troubles, seen, counts: telemetry.counts };
// Mastra keeps the process alive.
process.stdout.write(JSON.stringify(printed), () => process.exit());
