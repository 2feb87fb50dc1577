import { Mastra } from "@mastra/core";
import { Agent } from "@mastra/core/agent";
import { createTool } from "@mastra/core/tools";
import { Observability } from "@mastra/observability";
import { z } from "zod";
import { recorded } from "./mastra-recording.mjs";
import { AGENT, answerTo, MODEL, payloadOf, SYSTEM, TOOL_NAMES } from "./payload.mjs";

const model = {
  specificationVersion: "v3",
  provider: "acme.chat",
  modelId: MODEL,
  supportedUrls: {},
  async doGenerate(request) {
    return answerTo(request);
  },
};

const tools = Object.fromEntries(
  TOOL_NAMES.map((name, k) => [
    name,
    createTool({
      id: name,
      description: name,
      inputSchema: z.object({ query: z.string(), limit: z.number() }),
      execute: async ({ query }) =>
        payloadOf(Number(/customer (\d+)/.exec(query)[1])).calls[k].output,
    }),
  ]),
);

const IDLE = { bridge: { name: "idle", onTracingEvent() {} } };

/** Settings of Mastra's observability to an agent with them. */
const agents = new Map();

function agentWith(settings) {
  const known = agents.get(settings);
  if (known !== undefined) return known;
  const agent = new Agent({ id: AGENT, name: AGENT, instructions: SYSTEM, model, tools });
  const configs = { bench: { serviceName: "bench", ...settings } };
  const observability = new Observability({ configs });
  const mastra = new Mastra({ agents: { [AGENT]: agent }, logger: false, observability });
  const made = mastra.getAgent(AGENT);
  agents.set(settings, made);
  return made;
}

/** Mastra's own loop: two model calls and three tool calls. */
function play(settings = IDLE, { question }) {
  return agentWith(settings).generate(question);
}

const stepsOf = await recorded((bridge, n) => play({ bridge }, payloadOf(n)));

/** Calls a bridge or an exporter as Mastra did in the recording. */
async function drive(settings = IDLE, steps) {
  // Mastra sets them up.
  agentWith(settings);
  const { bridge, exporters: [exporter] = [bridge] } = settings;
  const follow = async (from) => {
    for (let at = from; at < steps.length; at++) {
      const { does, event, parts, span } = steps[at];
      if (does === "create") create(span, bridge);
      else if (does === "event") exporter.onTracingEvent(event);
      else if (parts !== undefined) await readInside(bridge, span, parts);
      // In Mastra, too, the code of a run encloses all that comes of it.
      else if (span.parent === undefined) return inside(bridge, span, () => follow(at + 1));
      else await inside(bridge, span, async () => {});
    }
  };
  await follow(0);
}

/** As Mastra does for each span: the bridge may name it. */
function create(span, bridge) {
  const { exports, name, parent, type } = span;
  const startTime = exports[0].startTime;
  const ids = bridge?.createSpan?.({ name, type, parent, startTime });
  span.traceId = ids?.traceId ?? parent?.traceId ?? span.traceId;
  span.id = ids?.spanId ?? span.id;
  for (const exported of exports) {
    exported.id = span.id;
    exported.traceId = span.traceId;
    exported.parentSpanId = parent?.id;
  }
}

/** Code inside a span. */
function inside(bridge, { id }, work) {
  return bridge?.executeInContext?.(id, work) ?? work();
}

/** The answer of a model, which is read to its end. */
async function readInside(bridge, { id }, parts) {
  const work = () => ReadableStream.from(parts);
  const stream = bridge?.executeInContextSync?.(id, work) ?? work();
  for await (const part of stream) last = part;
}

/** What a reader makes of a part. */
export let last;

export const WORKLOADS = {
  events: {
    prepare: stepsOf,
    play: drive,
    // Exporters work on when they were called.
    settle: () => new Promise((resolve) => setImmediate(resolve)),
    framework: true,
  },
  agent: { prepare: payloadOf, play, framework: true },
};
