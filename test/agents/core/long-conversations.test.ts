import { run as runAgents, setTraceProcessors, setTracingDisabled } from "@openai/agents-core";
import { describe, expect, it } from "vitest";
import { AiSdkTelemetry } from "../../../src/entries/ai-sdk.ts";
import { LangChainHandler } from "../../../src/entries/langchain.ts";
import { OpenAIAgentsProcessor } from "../../../src/entries/openai-agents.ts";
import { runAgent } from "../../../src/entries/runtime.ts";
import { Bridge, setUnclassifiedWarning } from "../../../src/index.ts";
import { messagesOn } from "../../support/message-form.ts";
import { collectSpans } from "../../support/spans.ts";
import { FakeCall, text } from "../ai-sdk/fake-sdk.ts";
import { FakeCall6 } from "../ai-sdk/fake-sdk-6.ts";
import { ScriptedModel, says as saysLangChain } from "../langchain/scripted-model.ts";
import { agent } from "../openai-agents/scenes.ts";
import { says } from "../openai-agents/scripted-model.ts";

setUnclassifiedWarning(() => {});

const LONG = "words ".repeat(40);

type Message = { readonly role: "user" | "assistant"; readonly content: string };

/** 400 messages, which are more than an attribute has. */
const MESSAGES: readonly Message[] = [
  { role: "user", content: "first-mark" },
  ...Array.from({ length: 398 }, (_, n): Message => {
    return { role: n % 2 === 0 ? "assistant" : "user", content: `${n}: ${LONG}` };
  }),
  { role: "user", content: "last-mark" },
];

/** Asks an agent of each framework. @returns the name of the span that has the whole conversation. */
const ASKED: Readonly<Record<string, (sink: Bridge) => Promise<string>>> = {
  async runtime(sink) {
    await runAgent({ sink, agent: "a", tenant: "acme", input: MESSAGES }, (run) =>
      run.model("m", { input: MESSAGES }, async () => "answer"),
    );
    return "chat m";
  },
  async langchain(sink) {
    const handler = new LangChainHandler({ sink, tenant: "acme" });
    const model = new ScriptedModel([saysLangChain("answer")]);
    await model.invoke([...MESSAGES], { callbacks: [handler] });
    await handler.flush();
    return "chat";
  },
  async "ai-sdk 7"(sink) {
    const call = new FakeCall(new AiSdkTelemetry({ sink, tenant: "acme" }), { messages: MESSAGES });
    await call.start();
    await call.finish([text("answer")]);
    return "invoke_agent";
  },
  async "ai-sdk 6"(sink) {
    const { tracer } = new AiSdkTelemetry({ sink, tenant: "acme" });
    const call = new FakeCall6(tracer, { messages: MESSAGES });
    await call.generate(async (sdk) => void (await sdk.model([text("answer")], MESSAGES)));
    return "chat";
  },
  async "openai-agents"(sink) {
    const processor = new OpenAIAgentsProcessor({ sink, tenant: "acme" });
    setTracingDisabled(false);
    setTraceProcessors([processor]);
    const history = MESSAGES.map(({ content, role }) =>
      role === "user"
        ? { role, content }
        : {
            role,
            status: "completed" as const,
            content: [{ type: "output_text" as const, text: content }],
          },
    );
    await runAgents(agent("A", [[says("answer")]]), history);
    await processor.forceFlush();
    return "chat";
  },
};

describe("a conversation that is longer than an attribute", () => {
  it.each(Object.keys(ASKED))("keeps its first message and its last question: %s", async (name) => {
    const { provider, spans } = collectSpans();
    const bridge = new Bridge({ tracerProvider: provider, captureContent: true, metrics: false });
    const kind = await ASKED[name]?.(bridge);
    await bridge.forceFlush();
    const span = spans().find((each) => each.name.startsWith(kind ?? ""));
    const messages = span === undefined ? undefined : messagesOn(span, "input");
    const first = JSON.stringify(messages?.[0]);
    const last = JSON.stringify(messages?.at(-1));
    expect([first, last]).toEqual([
      expect.stringContaining("first-mark"),
      expect.stringContaining("last-mark"),
    ]);
    expect(Number(span?.attributes["entelix.content.dropped_messages"])).toBeGreaterThan(0);
  });
});
