import type { SpanKindName, ViewSpan } from "../../format.ts";
import { fieldsOf, fieldText, numberIn, textIn } from "../../model/attributes.ts";
import { attributesUnder, entriesUnder, type Flat, textOf } from "./indexed-attributes.ts";
import {
  answerIn,
  costOf,
  firstText,
  isOuterGraph,
  parsed,
  type Reading,
  type Vocabulary,
} from "./reading.ts";

/** https://github.com/Arize-ai/openinference/tree/main/spec */
export const openInference: Vocabulary = { name: "OpenInference", read };

/** Other kinds, such as `CHAIN` and `GUARDRAIL`, are steps. */
const KINDS: ReadonlyMap<string, SpanKindName> = new Map([
  ["AGENT", "run"],
  ["LLM", "model"],
  ["EMBEDDING", "model"],
  ["TOOL", "tool"],
]);

function read({ attributes, parent_span_id }: ViewSpan): Reading | undefined {
  const word = textIn(attributes, "openinference.span.kind");
  if (word === undefined) return undefined;
  const metadata = parsed(attributes.metadata);
  const { langgraph_node: node, ls_integration: integration } = fieldsOf(metadata) ?? {};
  const isGraph = word.toUpperCase() === "CHAIN" && isOuterGraph(integration, node);
  const kind = isGraph ? "run" : (KINDS.get(word.toUpperCase()) ?? "step");
  const named = {
    agent: textIn(attributes, "agent.name") ?? fieldText(metadata, "lc_agent_name"),
    conversation: textIn(attributes, "session.id") ?? fieldText(metadata, "thread_id"),
  };
  if (word.toUpperCase() === "RETRIEVER") {
    const query = textIn(attributes, "input.value");
    return { kind, ...named, query, documents: documentsIn(attributes) };
  }
  // The state of each step of a graph may be large.
  if (kind === "step" && parent_span_id !== undefined) return { kind, ...named };
  const input = parsed(attributes["input.value"]);
  const output = parsed(attributes["output.value"]);
  if (kind === "model") return { kind, ...named, ...modelCall(attributes, input, output) };
  if (kind !== "tool") return { kind, ...named, input, output: answerIn(output) };
  const name = textIn(attributes, "tool.name");
  const callId = firstText(attributes, ["tool.id", "tool_call.id"]);
  return { kind, ...named, tool: { name, callId, input, output } };
}

type Attributes = ViewSpan["attributes"];

function modelCall(attributes: Attributes, input: unknown, output: unknown): Omit<Reading, "kind"> {
  const flat = attributesUnder(attributes, [`${INPUT}.`, `${OUTPUT}.`]);
  const sent = entriesUnder(flat, INPUT).map((each) => messageIn(each, "user"));
  const answered = entriesUnder(flat, OUTPUT).map((each) => messageIn(each, "assistant"));
  const serialized = langChainIn(input, output);
  const total = attributes["llm.cost.total"];
  const parts = [attributes["llm.cost.prompt"], attributes["llm.cost.completion"]];
  return {
    model: firstText(attributes, [
      "llm.model_name",
      "llm.response.model_name",
      "llm.request.model_name",
      "embedding.model_name",
    ]),
    input: serialized?.input ?? (sent.length > 0 ? sent : input),
    output: serialized?.output ?? (answered.length > 0 ? answered : output),
    finishReason: textIn(attributes, "llm.finish_reason"),
    inputTokens: numberIn(attributes, "llm.token_count.prompt"),
    outputTokens: numberIn(attributes, "llm.token_count.completion"),
    cost: costOf([total]) ?? costOf(parts),
  };
}

/** LangChain's own messages: they also have the IDs of calls, and contents with several parts. */
function langChainIn(
  input: unknown,
  output: unknown,
): { readonly input: unknown; readonly output: unknown } | undefined {
  const sent = listOf(listOf(fieldsOf(input)?.messages)[0]);
  const generations = listOf(listOf(fieldsOf(output)?.generations)[0]);
  const answered = generations.flatMap((one) => fieldsOf(one)?.message ?? []);
  if (fieldsOf(sent[0])?.lc === undefined) return undefined;
  return { input: sent, output: answered.length > 0 ? answered : undefined };
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

const INPUT = "llm.input_messages";
const OUTPUT = "llm.output_messages";

/** A message in the form of Chat Completions. */
function messageIn(flat: Flat, role: "user" | "assistant"): unknown {
  const parts = entriesUnder(flat, "message.contents").map(contentIn);
  const content = textOf(flat, "message.content") ?? "";
  const calls = entriesUnder(flat, "message.tool_calls").flatMap(callIn);
  return {
    role: textOf(flat, "message.role") ?? role,
    content: content === "" && parts.length > 0 ? parts : content,
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
    tool_call_id: textOf(flat, "message.tool_call_id"),
  };
}

function contentIn(flat: Flat): unknown {
  const text = textOf(flat, "message_content.text");
  if (text !== undefined) return { type: "text", text };
  const url = textOf(flat, "message_content.image.image.url");
  if (url !== undefined) return { type: "image_url", image_url: { url } };
  return { type: textOf(flat, "message_content.type") ?? "unknown" };
}

/** Some instrumentations have an empty call in each message. */
function callIn(flat: Flat): unknown[] {
  const name = textOf(flat, "tool_call.function.name");
  if (name === undefined) return [];
  const given = parsed(textOf(flat, "tool_call.function.arguments"));
  return [{ id: textOf(flat, "tool_call.id"), function: { name, arguments: given } }];
}

function documentsIn(attributes: Attributes): unknown {
  const documents = entriesUnder(attributesUnder(attributes, [`${DOCUMENTS}.`]), DOCUMENTS).map(
    (flat) => ({
      id: flat.get("document.id"),
      score: flat.get("document.score"),
      content: flat.get("document.content"),
    }),
  );
  if (documents.length > 0) return documents;
  const output = parsed(attributes["output.value"]);
  return fieldsOf(output)?.documents ?? output;
}

const DOCUMENTS = "retrieval.documents";
