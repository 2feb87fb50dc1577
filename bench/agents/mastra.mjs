import { Mastra } from "@mastra/core";
import { Agent } from "@mastra/core/agent";
import { createTool } from "@mastra/core/tools";
import { Observability } from "@mastra/observability";
import { z } from "zod";
import { recorded } from "./mastra-recording.mjs";
import { ourSides, stock } from "./telemetry.mjs";
import { AGENT, answerAfter, MODEL, question, result, SYSTEM, TOOL } from "./texts.mjs";

const exporting = (exporter) => ({
  handler: { exporters: [exporter] },
  flush: () => exporter.flush(),
});

export const IDLE = { bridge: { name: "idle", onTracingEvent() {} } };

/** Name to what makes the settings of Mastra's observability and their flush. */
export const SIDES = {
  ...ourSides("mastra", ({ MastraTelemetry }, sink) => {
    const bridge = new MastraTelemetry({ sink, tenant: "acme" });
    return { handler: { bridge }, flush: () => bridge.flush() };
  }),
  async own({ url }) {
    const { OtelExporter } = await import("@mastra/otel-exporter");
    const endpoint = `${url}/v1/traces`;
    const provider = { custom: { endpoint, protocol: "http/protobuf" } };
    return exporting(new OtelExporter({ provider, signals: { logs: false } }));
  },
  async bridge(given) {
    const { OtelBridge } = await import("@mastra/otel-bridge");
    const { flush, provider } = await stock(given);
    const bridge = new OtelBridge({ tracerProvider: provider });
    const both = async () => {
      await bridge.flush();
      await flush();
    };
    return { handler: { bridge }, flush: both };
  },
  async openinference({ url }) {
    const { ArizeExporter } = await import("@mastra/arize");
    return exporting(new ArizeExporter({ endpoint: `${url}/v1/traces`, signals: { logs: false } }));
  },
  async langfuse({ url }) {
    const { LangfuseExporter } = await import("@mastra/langfuse");
    return exporting(new LangfuseExporter({ publicKey: "pk-x", secretKey: "sk-x", baseUrl: url }));
  },
};

/** Settings of Mastra's observability to an agent with them. */
const agents = new Map();

function agentWith(settings, run) {
  const known = agents.get(settings);
  if (known !== undefined) return known;
  const { size, turns } = run;
  const model = {
    specificationVersion: "v3",
    provider: "acme.chat",
    modelId: MODEL,
    supportedUrls: {},
    async doGenerate({ prompt }) {
      const results = prompt.filter(({ role }) => role === "tool");
      const done = results.reduce((sum, { content }) => sum + content.length, 0);
      return answerAfter(done, turns);
    },
  };
  const search = createTool({
    id: TOOL,
    description: "Searches documents",
    inputSchema: z.object({ query: z.string(), limit: z.number() }),
    execute: async () => result(size),
  });
  const agent = new Agent({
    id: AGENT,
    name: AGENT,
    instructions: SYSTEM,
    model,
    tools: { [TOOL]: search },
  });
  const configs = { bench: { serviceName: "bench", ...settings } };
  const observability = new Observability({ configs });
  const mastra = new Mastra({ agents: { [AGENT]: agent }, logger: false, observability });
  const made = mastra.getAgent(AGENT);
  agents.set(settings, made);
  return made;
}

export async function workload(run) {
  const prepare = await recorded((bridge) =>
    agentWith({ bridge }, run).generate(question(), { maxSteps: run.turns + 2 }),
  );
  return {
    prepare,
    play(settings, steps) {
      // Mastra sets bridges and exporters up.
      agentWith(settings, run);
      return drive(settings, steps);
    },
    // Exporters work on after they were called.
    settle: () => new Promise((resolve) => setImmediate(resolve)),
  };
}

/** Calls a bridge or an exporter as Mastra did in the recording. */
async function drive({ bridge, exporters: [exporter] = [bridge] }, steps) {
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
