// Plays the scenarios of the comparison with the AI SDK 6 or 7 that is installed beside it.
import * as ai from "ai";
import { generateText, streamText, ToolLoopAgent, tool } from "ai";
import { AiSdkTelemetry } from "entelix-otel/ai-sdk";
import { z } from "zod";
import { forever, raceFree, settled } from "./adapters-scenes.mjs";
import { scripted, unavailable } from "./ai-sdk-model.mjs";
import { is6, isStepCount, reported } from "./ai-sdk-version.mjs";
import { asks, says } from "./language-model.mjs";
import { failsTheSecondTime, playSame, pressedStop } from "./same-scenarios.mjs";

const ASKS = asks(["look", "c1"]);
const DONE = says("done");

/** An answer that ended in another way than usual. */
const ended = (text, reason) => ({
  ...says(text),
  finishReason: { unified: reason, raw: reason },
});

const plain = (execute, more = {}) => tool({ inputSchema: z.object({}), execute, ...more });
const look = plain(async () => "seen");
const boom = plain(() => {
  throw new RangeError("out of order");
});
const pay = plain(async () => "paid", { needsApproval: true });

const options = (telemetry, more = {}) => ({
  stopWhen: isStepCount(5),
  ...reported(telemetry, { functionId: "support", ...more }),
});

/** Says whose run a call is, as each version has it. */
const ofTenant = (telemetry, tenantId) =>
  is6
    ? options(telemetry, { metadata: { tenantId } })
    : {
        runtimeContext: { tenantId },
        ...options(telemetry, { includeRuntimeContext: { tenantId: true } }),
      };

const generate = ({ telemetry }, script, tools = {}, more = {}) =>
  generateText({ model: scripted(...script), tools, prompt: "go", ...options(telemetry), ...more });

/** Says whose run a call is. */
const ofUser = (telemetry, user) =>
  is6
    ? options(telemetry, { metadata: { user } })
    : {
        runtimeContext: { user },
        ...options(telemetry, { includeRuntimeContext: { user: true } }),
      };

/** The run pauses, and the next call has the person's answer. */
async function decided(first, second, answer, more = {}) {
  const script = [asks(["pay", "c1"])];
  const { content, response, responseMessages } = await generate(first, script, { pay }, more);
  const { approvalId } = content.find(({ type }) => type === "tool-approval-request");
  await first.telemetry.flush();
  const messages = [
    { role: "user", content: "go" },
    ...(responseMessages ?? response.messages),
    { role: "tool", content: [{ type: "tool-approval-response", approvalId, ...answer }] },
  ];
  await generate(second, [DONE], { pay }, { prompt: undefined, messages });
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
  return generate(context, [ASKS, goesOn], { look: wait }, { abortSignal });
};

const scenarios = {
  success: (context) => generate(context, [ASKS, DONE], { look }),
  "parallel tools": (context) =>
    generate(context, [asks(["look", "c1"], ["look", "c2"]), DONE], { look: plain(raceFree(2)) }),
  "tool failure that the model reads": (context) => generate(context, [ASKS, DONE], { look: boom }),
  "model failure after a retry": (context) =>
    generate(context, [unavailable(), unavailable()], {}, { maxRetries: 1 }),
  "answer after a retry": (context) => generate(context, [unavailable(), DONE]),
  "abort in a tool": stopsIn(),
  "stop with a reason": stopsIn(pressedStop()),
  "timeout in the model": (context) =>
    generate(
      context,
      [({ abortSignal }) => forever(abortSignal)],
      {},
      {
        abortSignal: AbortSignal.timeout(20),
        maxRetries: 0,
      },
    ),
  async "stream whose reader leaves"({ telemetry }) {
    const response = await telemetry.respond((abortSignal) =>
      streamText({
        model: scripted(says("one two three ".repeat(100))),
        prompt: "go",
        abortSignal,
        ...options(telemetry),
      }).toUIMessageStreamResponse(),
    );
    const reader = response.body.getReader();
    for (let parts = 0; parts < 4; parts += 1) await reader.read();
    await reader.cancel();
    await settled();
  },
  "answer cut by length": (context) => generate(context, [ended("do", "length")]),
  refusal: (context) => generate(context, [ended("", "content-filter")]),
  fallback: (context) =>
    generate(context, [{ ...DONE, response: { id: "resp-1", modelId: "small-2" } }]),
  "failure after an answer": (context) =>
    generate(context, [ASKS, unavailable()], { look }, { maxRetries: 0 }),
  "call that never ran": (context) => generate(context, [asks(["none", "c1"]), DONE], { look }),
  "one ID twice": (context) => {
    const fails = plain(failsTheSecondTime());
    return generate(context, [asks(["look", "c1"], ["look", "c1"]), DONE], { look: fails });
  },
  "agent in a tool": (context) => {
    const expert = new ToolLoopAgent({
      model: scripted(ASKS, DONE),
      tools: { look },
      ...reported(context.telemetry, { functionId: "expert" }),
    });
    const ask = plain(async () => (await expert.generate({ prompt: "where?" })).text);
    return generate(context, [ASKS, DONE], { look: ask });
  },
  "pause, approved": (context) => decided(context, context, { approved: true }),
  "pause, denied": (context) => decided(context, context, { approved: false, reason: "not today" }),
  "pause, approved in another process": async (context, open) =>
    decided(context, await open(), { approved: true }),
  "resumption of a user's run": (context) =>
    decided(context, context, { approved: true }, ofUser(context.telemetry, "u1")),
  "two tenants at once": (context) => {
    const both = plain(raceFree(2));
    return Promise.all(
      ["acme", "globex"].map((tenantId) =>
        generate(context, [ASKS, DONE], { look: both }, ofTenant(context.telemetry, tenantId)),
      ),
    );
  },
};

/** What processes share: a store of paused runs. */
const stored = new Map();
const pausedRuns = {
  get: async (id) => JSON.parse(stored.get(id) ?? "null") ?? undefined,
  set: (id, run) => void stored.set(id, JSON.stringify(run)),
};

await playSame({
  scenarios,
  begin(sink, onError) {
    const tenant = ({ runtimeContext }) => runtimeContext.tenantId ?? "acme";
    const context = ({ runtimeContext: { user } }) => (user === undefined ? undefined : { user });
    const telemetry = new AiSdkTelemetry({ sink, tenant, context, pausedRuns, onError });
    globalThis.AI_SDK_TELEMETRY_INTEGRATIONS = undefined;
    ai.registerTelemetry?.(telemetry);
    return { telemetry, flush: () => telemetry.flush() };
  },
});
