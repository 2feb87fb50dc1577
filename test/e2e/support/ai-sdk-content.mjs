// Runs the AI SDK 6 or 7 that is installed beside it, and prints what it made: spans, audit rows and the recording, as
// JSON.
//
// node ai-sdk-content.mjs shown | hidden | tenants | streams | pause FILE | resume FILE
import { readFileSync, writeFileSync } from "node:fs";
import { Writable } from "node:stream";
import {
  InMemorySpanExporter,
  NodeTracerProvider,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-node";
import { generateText, streamText, tool } from "ai";
import { Bridge, createIdGenerator } from "entelix-otel";
import { AiSdkTelemetry } from "entelix-otel/ai-sdk";
import { MemorySessionLog } from "entelix-otel/audit";
import { FanOutSink, RecorderSink } from "entelix-otel/sinks";
import { z } from "zod";
import { is6, isStepCount, MockLanguageModel, reported } from "./ai-sdk-version.mjs";

const [what, file] = process.argv.slice(2);

const USAGE = {
  inputTokens: { total: 10, noCache: 8, cacheRead: 2, cacheWrite: 0 },
  outputTokens: { total: 5, text: 4, reasoning: 1 },
};

/** @param content the parts of each answer. */
function scripted(...content) {
  const steps = [...content];
  const next = () => {
    const parts = steps.shift();
    const asks = parts.some(({ type }) => type === "tool-call");
    const reason = asks ? "tool-calls" : "stop";
    return { parts, end: { finishReason: { unified: reason, raw: reason }, usage: USAGE } };
  };
  return new MockLanguageModel({
    provider: "acme.chat",
    modelId: "small-1",
    async doGenerate() {
      const { end, parts } = next();
      const response = { id: "resp-1", modelId: "small-1-2026" };
      return { content: parts, ...end, warnings: [], response };
    },
    async doStream() {
      const { end, parts } = next();
      const chunks = parts.flatMap(streamed);
      const start = { type: "stream-start", warnings: [] };
      return { stream: ReadableStream.from([start, ...chunks, { type: "finish", ...end }]) };
    },
  });
}

function streamed(part) {
  if (part.type === "tool-call") return [part];
  const { text, type } = part;
  return [
    { type: `${type}-start`, id: type },
    { type: `${type}-delta`, id: type, delta: text },
    { type: `${type}-end`, id: type },
  ];
}

const says = (text) => [{ type: "text", text }];
const asks = (toolName, input, toolCallId = "c1") => [
  { type: "reasoning", text: "thought-mark" },
  { type: "tool-call", toolCallId, toolName, input: JSON.stringify(input) },
];

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
const rows = [];
class Rows extends MemorySessionLog {
  async append(key, entries) {
    for (const { event } of entries) rows.push({ thread: key, ...event });
    return super.append(key, entries);
  }
}
const captureContent = what === "shown" || what === "hidden";
const bridge = new Bridge({ tracerProvider: provider, captureContent, audit: new Rows() });
const recorder = new RecorderSink({ stream, source: bridge, content: captureContent });
const troubles = [];

/** Paused runs in a file, as a database would keep them. */
const stored = new Map(what === "resume" ? JSON.parse(readFileSync(file)).stored : []);

const telemetry = new AiSdkTelemetry({
  sink: new FanOutSink([bridge, recorder]),
  tenant: ({ runtimeContext }) => String(runtimeContext.tenant ?? "acme"),
  thread: ({ runtimeContext }) => runtimeContext.thread,
  context: ({ functionId, runtimeContext: { user } }) => ({ user, tags: [String(functionId)] }),
  decidedBy: (_, { user }) => user,
  price: ({ usage }) => Number(usage.input_tokens) / 1000,
  pausedRuns: what === "pause" || what === "resume" ? stored : undefined,
  onError: (error) => troubles.push(String(error)),
});
const options = (runtimeContext, more = {}) => ({
  stopWhen: isStepCount(3),
  ...(is6 ? {} : { runtimeContext }),
  ...reported(telemetry, {
    functionId: "support",
    ...(is6
      ? { metadata: runtimeContext }
      : {
          integrations: telemetry,
          includeRuntimeContext: { tenant: true, thread: true, user: true },
        }),
    ...more,
  }),
});

const look = tool({
  description: "looks an order up",
  inputSchema: z.object({ order: z.string() }),
  execute: async () => ({ state: "result-mark" }),
});
const fail = tool({
  inputSchema: z.object({}),
  execute: async () => {
    throw new Error("secret-mark");
  },
});
const pay = tool({
  inputSchema: z.object({ sum: z.number() }),
  needsApproval: true,
  execute: async ({ sum }) => `paid ${sum}`,
});

const USES = {
  async shown() {
    const model = scripted(asks("look", { order: "input-mark" }), says("answer-mark"));
    const more = { system: "system-mark", temperature: 0.2, maxOutputTokens: 99 };
    await generateText({
      model,
      tools: { look },
      prompt: "question-mark",
      ...more,
      ...options({ thread: "t1", user: "u1" }),
    });
  },
  async hidden() {
    const model = scripted(asks("fail", {}), says("answer-mark"));
    const off = { recordInputs: false, recordOutputs: false };
    await generateText({ model, tools: { fail }, prompt: "question-mark", ...options({}, off) });
  },
  async tenants() {
    let both;
    const meeting = new Promise((resolve) => {
      both = resolve;
    });
    let arrived = 0;
    const meet = tool({
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
        generateText({
          model: scripted(asks("meet", {}), says("done")),
          tools: { meet },
          prompt: "go",
          ...options({ tenant, thread: "same" }),
        }),
      ),
    );
  },
  async streams() {
    const inputSchema = z.object({});
    const streams = ["north", "south"].map((tenant) =>
      streamText({
        model: scripted(asks("ask", {}), says("done")),
        tools: { ask: tool({ inputSchema, execute: async () => "seen" }) },
        prompt: "go",
        ...options({ tenant }),
      }),
    );
    const readAll = async ({ fullStream, stream = fullStream }) => {
      for await (const _ of stream);
    };
    // They are read by the code of another run.
    const execute = async () => {
      await Promise.all(streams.map(readAll));
      return "read";
    };
    await generateText({
      model: scripted(asks("read", {}), says("done")),
      tools: { read: tool({ inputSchema, execute }) },
      prompt: "go",
      ...options({ tenant: "west" }),
    });
  },
  async pause() {
    const model = scripted(asks("pay", { sum: 17 }));
    const result = await generateText({
      model,
      tools: { pay },
      prompt: "pay 17",
      ...options({ thread: "t1", user: "u1" }),
    });
    const messages = [{ role: "user", content: "pay 17" }, ...result.response.messages];
    writeFileSync(file, JSON.stringify({ messages, stored: [...stored] }));
  },
  async resume() {
    const { messages } = JSON.parse(readFileSync(file));
    const asked = messages.flatMap(({ content }) => (Array.isArray(content) ? content : []));
    const { approvalId } = asked.find(({ type }) => type === "tool-approval-request");
    const answer = { type: "tool-approval-response", approvalId, approved: true, reason: "small" };
    await generateText({
      model: scripted(says("paid")),
      tools: { pay },
      messages: [...messages, { role: "tool", content: [answer] }],
      ...options({ thread: "t1", user: "u2" }),
    });
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
process.stdout.write(JSON.stringify({ spans, rows, tape, troubles, counts: telemetry.counts }));
