import { AIMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { RunnableLambda } from "@langchain/core/runnables";
import {
  type ModelRequest,
  run as runAgents,
  setTraceProcessors,
  setTracingDisabled,
} from "@openai/agents-core";
import { describe, expect, it } from "vitest";
import { AiSdkTelemetry } from "../../../src/entries/ai-sdk.ts";
import { LangChainHandler } from "../../../src/entries/langchain.ts";
import { MastraTelemetry } from "../../../src/entries/mastra.ts";
import { OpenAIAgentsProcessor } from "../../../src/entries/openai-agents.ts";
import { runAgent } from "../../../src/entries/runtime.ts";
import { Bridge, setUnclassifiedWarning } from "../../../src/index.ts";
import { messagesOn } from "../../support/message-form.ts";
import { collectSpans } from "../../support/spans.ts";
import { FakeCall, text } from "../ai-sdk/fake-sdk.ts";
import { FakeCall6 } from "../ai-sdk/fake-sdk-6.ts";
import { ScriptedModel, says as saysLangChain } from "../langchain/scripted-model.ts";
import { agentRun, answered, REQUEST } from "../mastra/fake-mastra.ts";
import { add, agent } from "../openai-agents/scenes.ts";
import { asks, says } from "../openai-agents/scripted-model.ts";

// Two calls of a model in one run. Between them, code changes messages of the first call in place.

setUnclassifiedWarning(() => {});

/** What is changed: the text of a message, a text in one of its parts, the input of a call, and the list of parts. */
const CHANGES = ["text", "part", "input", "list"] as const;
type Change = (typeof CHANGES)[number];

type Ask = (sink: Bridge, change: Change) => Promise<void>;

/** Messages in the form of Chat Completions and of the AI SDK, and what changes them. */
function conversation(form: "chat" | "ai-sdk") {
  const said = { type: "text", text: "old-part" };
  const args: Record<string, unknown> = { a: "old-input" };
  const question = { role: "user", content: "old-text" };
  const content: object[] = [said];
  if (form === "ai-sdk") {
    content.push({ type: "tool-call", toolCallId: "c", toolName: "add", input: args });
  }
  const chat = { tool_calls: [{ id: "c", name: "add", args }] };
  const answer = { role: "assistant", content, ...(form === "chat" ? chat : {}) };
  const list: object[] = [{ role: "system", content: "same-text" }, question, answer];
  return {
    list,
    change(what: Change) {
      if (what === "text") question.content = "new-text";
      else if (what === "part") said.text = "new-part";
      else if (what === "input") args.a = "new-input";
      else content.unshift({ type: "text", text: "new-list" });
    },
  };
}

const ASKED: Readonly<Record<string, Ask>> = {
  async runtime(sink, what) {
    const { change, list } = conversation("chat");
    await runAgent({ sink, agent: "a", tenant: "acme" }, async (run) => {
      await run.model("m", { input: list }, async () => "answer");
      change(what);
      await run.model("m", { input: list }, async () => "answer");
    });
  },
  async langchain(sink, what) {
    const handler = new LangChainHandler({ sink, tenant: "acme" });
    const model = new ScriptedModel([saysLangChain("one"), saysLangChain("two")]);
    const said = { type: "text" as const, text: "old-part" };
    const args: Record<string, unknown> = { a: "old-input" };
    const content = [said];
    const question = new HumanMessage("old-text");
    const answer = new AIMessage({ content, tool_calls: [{ id: "c", name: "add", args }] });
    const result = new ToolMessage({ content: "same-text", tool_call_id: "c" });
    const list = [question, answer, result];
    await RunnableLambda.from(async (_: string, config) => {
      await model.invoke(list, config);
      if (what === "text") question.content = "new-text";
      else if (what === "part") said.text = "new-part";
      else if (what === "input") args.a = "new-input";
      else if (Array.isArray(answer.content)) {
        answer.content.unshift({ type: "text", text: "new-list" });
      }
      await model.invoke(list, config);
    }).invoke("go", { callbacks: [handler] });
    await handler.flush();
  },
  async "ai-sdk 7"(sink, what) {
    const { change, list } = conversation("ai-sdk");
    const telemetry = new AiSdkTelemetry({ sink, tenant: "acme" });
    const call = new FakeCall(telemetry);
    await call.start();
    for (const again of [false, true]) {
      if (again) change(what);
      const event = { callId: call.callId, provider: "acme.chat", modelId: "m", messages: list };
      telemetry.onLanguageModelCallStart(event);
      await telemetry.executeLanguageModelCall({ ...event, execute: async () => ({}) });
      call.answers([text("answer")]);
      call.step([text("answer")]);
    }
    call.end([text("answer")]);
  },
  async "ai-sdk 6"(sink, what) {
    const { change, list } = conversation("ai-sdk");
    const { tracer } = new AiSdkTelemetry({ sink, tenant: "acme" });
    await new FakeCall6(tracer).generate(async (sdk) => {
      await sdk.model([text("answer")], list);
      change(what);
      await sdk.model([text("answer")], list);
    });
  },
  async "openai-agents"(sink, what) {
    const processor = new OpenAIAgentsProcessor({ sink, tenant: "acme" });
    setTracingDisabled(false);
    setTraceProcessors([processor]);
    const said = { type: "output_text" as const, text: "old-part" };
    const history = [
      { role: "user" as const, content: "old-text" },
      { role: "assistant" as const, status: "completed" as const, content: [said] },
      { ...asks("add", { a: "old-input" }, "c0") },
      { type: "function_call_result", name: "add", callId: "c0", output: "same-text" },
    ];
    // The SDK clones its items, so the model's own code changes those of the second request.
    const changing = async ({ input }: ModelRequest) => {
      const [question, answer, call] = Array.isArray(input) ? input : [];
      if (what === "text") Object.assign(question ?? {}, { content: "new-text" });
      else if (what === "input") Object.assign(call ?? {}, { arguments: '{"a":"new-input"}' });
      else if (answer !== undefined && "content" in answer && Array.isArray(answer.content)) {
        const [part] = answer.content;
        if (what === "part") Object.assign(part ?? {}, { text: "new-part" });
        else answer.content.unshift({ type: "output_text", text: "new-list" } as never);
      }
      return [says("answer")];
    };
    const steps = [[asks("add", { a: 1 })], changing];
    await runAgents(agent("A", steps, { tools: [add] }), history as never);
    await processor.forceFlush();
  },
  async mastra(sink, what) {
    const { change, list } = conversation("ai-sdk");
    const telemetry = new MastraTelemetry({ sink, tenant: "acme" });
    const run = agentRun(telemetry);
    const input = { messages: list };
    const generation = run.child("model_generation", { attributes: REQUEST, input });
    for (const again of [false, true]) {
      if (again) change(what);
      const step = generation.child("model_step");
      const roles = ["system", "user", "assistant", ...(again ? ["assistant"] : [])];
      step.update({ input: roles.map((role) => ({ role, content: "…" })) });
      const inference = step.child("model_inference", { attributes: REQUEST });
      inference.end(answered());
      step.end();
    }
    generation.end(answered());
    run.end({ output: { text: "answer-mark" } });
  },
};

describe("a message that was changed in place between two calls of a model", () => {
  const all = Object.keys(ASKED).flatMap((name) => CHANGES.map((what) => [name, what] as const));

  it.each(all)("is never shown with its old text: %s, %s", async (name, what) => {
    const { provider, spans } = collectSpans();
    const bridge = new Bridge({ tracerProvider: provider, captureContent: true, metrics: false });
    await ASKED[name]?.(bridge, what);
    await bridge.forceFlush();
    const calls = spans().filter((span) => span.name.startsWith("chat"));
    expect(calls).toHaveLength(2);
    const [before, after] = calls.map((span) => JSON.stringify(messagesOn(span, "input")));
    for (const known of ["old-text", "old-part", "old-input"]) expect(before).toContain(known);
    expect(before).not.toContain(`new-${what}`);
    expect(after).toContain(`new-${what}`);
    expect(after).not.toContain(`old-${what}`);
    for (const other of CHANGES.filter((each) => each !== what && each !== "list")) {
      expect(after).toContain(`old-${other}`);
    }
  });
});
