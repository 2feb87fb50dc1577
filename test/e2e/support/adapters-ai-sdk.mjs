// Runs one scripted program with the AI SDK 6 or 7 that is installed beside it, under the telemetry, and prints the
// spans of each scene as JSON. It uses only what the oldest supported version has.
import * as ai from "ai";
import {
  createUIMessageStream,
  createUIMessageStreamResponse,
  dynamicTool,
  embed,
  embedMany,
  generateObject,
  generateText,
  streamObject,
  streamText,
  ToolLoopAgent,
  tool,
} from "ai";
import { AiSdkTelemetry } from "entelix-otel/ai-sdk";
import { runAgent } from "entelix-otel/runtime";
import { z } from "zod";
import { forever, play, raceFree, settled } from "./adapters-scenes.mjs";
import { scripted, unavailable } from "./ai-sdk-model.mjs";
import { is6, isStepCount, MockEmbeddingModel, reported } from "./ai-sdk-version.mjs";
import { asks, says, USAGE } from "./language-model.mjs";

const add = tool({
  description: "adds",
  inputSchema: z.object({ a: z.number(), b: z.number() }),
  execute: async ({ a, b }) => a + b,
});

const plain = (execute, more = {}) => tool({ inputSchema: z.object({}), execute, ...more });

const boom = plain(() => {
  throw new RangeError("out of order");
});

const ADD = ["add", "c1", { a: 1, b: 2 }];
const named = (functionId) => reported(integration, { functionId });
const many = () => ({ stopWhen: isStepCount(5), ...named("support") });

async function readAll(result) {
  for await (const part of result.stream ?? result.fullStream) void part;
}

/** What the model is told: the messages with the answers to requests for approval. */
function answers(result, ...decided) {
  const requests = result.content.filter(({ type }) => type === "tool-approval-request");
  const content = requests.map(({ approvalId }, at) => ({
    type: "tool-approval-response",
    approvalId,
    ...decided[at],
  }));
  const asked = [{ role: "user", content: "pay 17" }];
  const said = result.responseMessages ?? result.response.messages;
  return [...asked, ...said, { role: "tool", content }];
}

const pay = plain(async () => "paid", { needsApproval: true });

async function paused(tools, ...calls) {
  return generateText({ model: scripted(asks(...calls)), tools, prompt: "pay 17", ...many() });
}

/** An embedding model that takes two texts at once. */
const vectors = () =>
  new MockEmbeddingModel({
    maxEmbeddingsPerCall: 2,
    doEmbed: async ({ values }) => ({
      embeddings: values.map(() => [1, 2]),
      usage: { tokens: 3 },
      warnings: [],
    }),
  });

const scenes = {
  async success() {
    const both = raceFree(2);
    const look = plain(both);
    const calls = [
      ["look", "c1"],
      ["look", "c2"],
    ];
    const model = scripted(asks(...calls), says("done"));
    await generateText({ model, tools: { look }, prompt: "look twice", ...many() });
  },
  async "tool failure"() {
    const model = scripted(asks(["boom", "c1"]), says("sorry"));
    await generateText({ model, tools: { boom }, prompt: "go", ...many() });
  },
  async "tool that says it failed"() {
    const mcp = plain(async () => ({ isError: true, content: [{ type: "text", text: "no row" }] }));
    const model = scripted(asks(["mcp", "c1"]), says("sorry"));
    await generateText({ model, tools: { mcp }, prompt: "go", ...many() });
  },
  async "invalid input"() {
    const model = scripted(asks(["add", "c1", { a: "one" }], ["none", "c2"]), says("sorry"));
    await generateText({ model, tools: { add }, prompt: "go", ...many() });
  },
  async "model failure"() {
    const model = scripted(unavailable(), unavailable());
    await generateText({ model, prompt: "go", maxRetries: 1, ...many() });
  },
  async "retried model"() {
    const model = scripted(unavailable(), unavailable(), says("done"));
    await generateText({ model, prompt: "go", maxRetries: 2, ...many() });
  },
  async "failure of own code"() {
    const prepareStep = () => {
      throw new TypeError("no such field");
    };
    await generateText({ model: scripted(says("x")), prompt: "go", prepareStep, ...many() });
  },
  async abort() {
    const controller = new AbortController();
    const wait = plain((_, { abortSignal }) => {
      setImmediate(() => controller.abort());
      return forever(abortSignal);
    });
    const model = scripted(asks(["wait", "c1"]), says("never"));
    const { signal: abortSignal } = controller;
    await generateText({ model, tools: { wait }, prompt: "go", abortSignal, ...many() });
  },
  async timeout() {
    const model = scripted(({ abortSignal }) => forever(abortSignal));
    // The first versions of the AI SDK 6 have no `timeout`.
    const late = is6 ? { abortSignal: AbortSignal.timeout(20) } : { timeout: 20 };
    await generateText({ model, prompt: "go", maxRetries: 0, ...late, ...many() });
  },
  async stream() {
    const model = scripted(asks(ADD), says("it is 3"));
    await readAll(streamText({ model, tools: { add }, prompt: "1 + 2?", ...many() }));
  },
  async "stream that fails"() {
    const parts = [
      { type: "stream-start", warnings: [] },
      { type: "error", error: unavailable(429) },
      { type: "finish", finishReason: { unified: "error", raw: "error" }, usage: USAGE },
    ];
    const model = scripted({ parts });
    await readAll(streamText({ model, prompt: "go", onError() {}, ...many() }));
  },
  async "stream that does not begin"() {
    const model = scripted(unavailable(401));
    await readAll(streamText({ model, prompt: "go", maxRetries: 0, onError() {}, ...many() }));
  },
  async "stream whose retries fail"() {
    const model = scripted(unavailable(), unavailable(), unavailable());
    await readAll(streamText({ model, prompt: "go", maxRetries: 2, onError() {}, ...many() }));
  },
  async "stream whose second step fails"() {
    const model = scripted(asks(ADD), unavailable(401));
    const tools = { add };
    await readAll(
      streamText({ model, tools, prompt: "go", maxRetries: 0, onError() {}, ...many() }),
    );
  },
  async "aborted stream"() {
    const controller = new AbortController();
    const { signal: abortSignal } = controller;
    const model = scripted(says("one two three ".repeat(100)));
    const result = streamText({ model, prompt: "go", abortSignal, ...many() });
    for await (const _ of result.textStream) controller.abort();
    await settled();
  },
  async "reader that leaves"() {
    const model = scripted(says("one two three ".repeat(100)));
    const controller = new AbortController();
    const { signal: abortSignal } = controller;
    for await (const _ of streamText({ model, prompt: "go", abortSignal, ...many() }).textStream)
      break;
    controller.abort();
    await settled();
  },
  async "client that leaves"() {
    const model = scripted(says("one two three ".repeat(100)));
    const response = await integration.respond((abortSignal) =>
      streamText({ model, prompt: "go", abortSignal, ...many() }).toUIMessageStreamResponse(),
    );
    const reader = response.body.getReader();
    for (let parts = 0; parts < 4; parts += 1) await reader.read();
    await reader.cancel();
    await settled();
  },
  async "client that leaves the second of two merged streams"() {
    const response = await integration.respond((abortSignal) => {
      const part = (name, text) =>
        streamText({ model: scripted(says(text)), prompt: "go", abortSignal, ...named(name) });
      const execute = async ({ writer }) => {
        const first = part("first", "quick");
        writer.merge(first.toUIMessageStream({ sendFinish: false }));
        await first.consumeStream();
        writer.merge(part("second", "one two three ".repeat(100)).toUIMessageStream());
      };
      return createUIMessageStreamResponse({ stream: createUIMessageStream({ execute }) });
    });
    const reader = response.body.getReader();
    const decoder = new TextDecoder();
    for (let text = ""; !text.includes("three"); ) {
      text += decoder.decode((await reader.read()).value);
    }
    await reader.cancel();
    await settled();
  },
  async "client that leaves a stream which is read all the same"() {
    const model = scripted(says("one two three ".repeat(100)));
    const result = streamText({ model, prompt: "go", ...many() });
    const read = result.consumeStream();
    const reader = result.toUIMessageStreamResponse().body.getReader();
    await reader.read();
    await reader.cancel();
    await read;
  },
  async "stream with two readers"() {
    const result = streamText({ model: scripted(says("one two")), prompt: "go", ...many() });
    await Promise.all([result.text, readAll(result)]);
  },
  async "stream that a run returns"() {
    const response = await runAgent({ sink, agent: "outer", tenant: "acme" }, async () =>
      streamText({
        model: scripted(says("one two")),
        prompt: "go",
        ...many(),
      }).toUIMessageStreamResponse(),
    );
    await response.text();
    await settled();
  },
  async "stream with a time limit"() {
    const controller = new AbortController();
    const { signal: abortSignal } = controller;
    const model = scripted(says("one two three ".repeat(100)));
    const result = streamText({ model, prompt: "go", abortSignal, ...many() });
    const late = new DOMException("late", "TimeoutError");
    for await (const _ of result.textStream) controller.abort(late);
    await settled();
  },
  async "stopped before it begins"() {
    const abortSignal = AbortSignal.abort();
    await generateText({
      model: scripted(({ abortSignal: s }) => s.throwIfAborted()),
      prompt: "go",
      abortSignal,
      ...many(),
    });
  },
  async "tool of any input"() {
    const any = dynamicTool({
      description: "takes all",
      inputSchema: z.any(),
      execute: async (input) => ({ input }),
    });
    const model = scripted(asks(["any", "c1", { a: 1 }]), says("done"));
    await generateText({ model, tools: { any }, prompt: "go", ...many() });
  },
  async "as many steps as may be"() {
    const model = scripted(asks(ADD), asks(ADD));
    const few = { ...many(), stopWhen: isStepCount(2) };
    await readAll(streamText({ model, tools: { add }, prompt: "go", ...few }));
  },
  async "answer that ends for no known reason"() {
    const finishReason = { unified: "other", raw: undefined };
    await generateText({
      model: scripted({ ...says("x"), finishReason }),
      prompt: "go",
      ...many(),
    });
  },
  async "nested agents"() {
    const expert = new ToolLoopAgent({
      model: scripted(asks(ADD), says("3")),
      tools: { add },
      ...named("expert"),
    });
    const ask = plain(async () => (await expert.generate({ prompt: "1 + 2?" })).text);
    const model = scripted(asks(["ask", "c1"]), says("it is 3"));
    await generateText({ model, tools: { ask }, prompt: "go", ...many() });
  },
  async "approved and denied"() {
    const tools = { pay };
    const first = await paused(tools, ["pay", "c1"], ["pay", "c2"]);
    const messages = answers(
      first,
      { approved: true, reason: "small" },
      { approved: false, reason: "twice" },
    );
    await generateText({ model: scripted(says("done")), tools, messages, ...many() });
  },
  async "approved and denied, beside one that nobody is asked about"() {
    const tools = {
      pay: tool({
        inputSchema: z.object({ sum: z.number() }),
        needsApproval: ({ sum }) => sum > 10,
        execute: async () => "paid",
      }),
    };
    const sums = [5, 50, 60].map((sum, at) => ["pay", `c${at + 1}`, { sum }]);
    const first = await paused(tools, ...sums);
    const messages = answers(first, { approved: true }, { approved: false, reason: "too much" });
    await readAll(streamText({ model: scripted(says("done")), tools, messages, ...many() }));
  },
  async "stream that waits"() {
    const tools = { pay };
    const first = streamText({
      model: scripted(asks(["pay", "c1"])),
      tools,
      prompt: "pay 17",
      ...many(),
    });
    await readAll(first);
    const messages = answers(
      { content: await first.content, response: await first.response },
      { approved: true },
    );
    await readAll(streamText({ model: scripted(says("done")), tools, messages, ...many() }));
  },
  async "decided by a rule"() {
    const rule = {
      pay: () => ({ type: "denied", reason: "too much" }),
      add: () => ({ type: "approved" }),
    };
    const model = scripted(asks(["pay", "c1"], ["add", "c2", { a: 1, b: 2 }]), says("done"));
    const tools = { add, pay: plain(async () => "paid") };
    await generateText({ model, tools, prompt: "go", toolApproval: rule, ...many() });
  },
  async object() {
    const model = scripted(says('{"city":"Oslo"}'));
    await generateObject({
      model,
      schema: z.object({ city: z.string() }),
      prompt: "where?",
      ...named("support"),
    });
  },
  async "object of another form"() {
    const model = scripted(says('{"city":4711}'));
    await generateObject({
      model,
      schema: z.object({ city: z.string() }),
      prompt: "where?",
      ...named("support"),
    });
  },
  async "streamed object"() {
    const model = scripted(says('{"city":"Oslo"}'));
    const schema = z.object({ city: z.string() });
    const result = streamObject({ model, schema, prompt: "where?", ...named("support") });
    for await (const _ of result.partialObjectStream);
  },
  async embedding() {
    const search = plain(
      async () => (await embed({ model: vectors(), value: "q", ...named("x") })).usage,
    );
    const model = scripted(asks(["search", "c1", {}]), says("hi"));
    await generateText({ model, tools: { search }, prompt: "go", ...many() });
  },
  async "embeddings outside a run"() {
    await embedMany({ model: vectors(), values: ["a", "b", "c"], ...named("support") });
  },
};

// The AI SDK 6 has no rules.
if (is6) delete scenes["decided by a rule"];

let integration;
let sink;

// The timers of `AbortSignal.timeout` keep no process alive; `play` ends it.
setInterval(() => {}, 1000);

await play({
  scenes,
  shown: [
    "entelix.failure.origin",
    "entelix.retry.count",
    "entelix.tool.decision.outcome",
    "entelix.tool.decision.by",
    "entelix.run.approved_calls",
    "entelix.run.denied_calls",
  ],
  begin(bridge, onError) {
    sink = bridge;
    integration = new AiSdkTelemetry({ sink, tenant: "acme", onError });
    globalThis.AI_SDK_TELEMETRY_INTEGRATIONS = undefined;
    ai.registerTelemetry?.(integration);
    return {
      config: undefined,
      flush: () => integration.flush(),
      counts: () => integration.counts,
    };
  },
});
