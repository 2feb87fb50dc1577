import type { SpanKindName, ViewAttributes, ViewSpan } from "../../format.ts";
import { fieldsOf, textIn } from "../../model/attributes.ts";
import { firstNumber, firstText, parsed, type Reading, type Vocabulary } from "./reading.ts";

/** `experimental_telemetry` of the AI SDK 4, 5 and 6. Version 7 has the names of the GenAI conventions. */
export const aiSdk: Vocabulary = { name: "AI SDK", read };

function read({ attributes }: ViewSpan): Reading | undefined {
  const operation = textIn(attributes, "ai.operationId");
  if (operation === undefined) return undefined;
  const kind = kindOf(operation);
  const named = {
    agent: textIn(attributes, "ai.telemetry.functionId"),
    conversation: firstText(attributes, [
      "ai.telemetry.metadata.sessionId",
      "ai.telemetry.metadata.threadId",
      "ai.telemetry.metadata.conversationId",
    ]),
    user: textIn(attributes, "ai.telemetry.metadata.userId"),
  };
  if (kind === "tool") return { kind, ...named, tool: toolIn(attributes) };
  if (kind === "step") return { kind, ...named };
  return {
    kind,
    ...named,
    model: textIn(attributes, "ai.model.id"),
    input: inputIn(attributes),
    output: outputIn(attributes),
    finishReason: textIn(attributes, "ai.response.finishReason"),
    inputTokens: firstNumber(attributes, [
      "ai.usage.inputTokens",
      "ai.usage.promptTokens",
      "ai.usage.tokens",
    ]),
    outputTokens: firstNumber(attributes, ["ai.usage.outputTokens", "ai.usage.completionTokens"]),
  };
}

/** `ai.generateText` is an agent, `ai.generateText.doGenerate` a call of its model. */
function kindOf(operation: string): SpanKindName {
  if (operation === "ai.toolCall") return "tool";
  if (/\.do(Generate|Stream|Embed)$/.test(operation)) return "model";
  return /^ai\.(generate|stream)(Text|Object)$/.test(operation) ? "run" : "step";
}

function toolIn(attributes: ViewAttributes): Reading["tool"] {
  return {
    name: textIn(attributes, "ai.toolCall.name"),
    callId: textIn(attributes, "ai.toolCall.id"),
    input: attributes["ai.toolCall.args"],
    output: attributes["ai.toolCall.result"],
  };
}

function inputIn(attributes: ViewAttributes): unknown {
  const messages = textIn(attributes, "ai.prompt.messages");
  if (messages !== undefined) return parsed(messages);
  const { messages: asked, prompt, system } = fieldsOf(parsed(attributes["ai.prompt"])) ?? {};
  const content = asked ?? prompt;
  const list = Array.isArray(content) ? content : [{ role: "user", content }];
  return content === undefined ? undefined : { system, messages: list };
}

function outputIn(attributes: ViewAttributes): unknown {
  const calls = parsed(attributes["ai.response.toolCalls"]);
  const asked = Array.isArray(calls) ? calls.map(callIn) : [];
  const reasoning = textIn(attributes, "ai.response.reasoning");
  const content = firstText(attributes, ["ai.response.text", "ai.response.object"]);
  if (content === undefined && reasoning === undefined && asked.length === 0) return undefined;
  return { role: "assistant", content: content ?? "", reasoning, tool_calls: asked };
}

function callIn(call: unknown): unknown {
  const { args, input, toolCallId, toolName } = fieldsOf(call) ?? {};
  return { id: toolCallId, function: { name: toolName, arguments: parsed(input ?? args) } };
}
