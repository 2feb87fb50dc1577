import type { SpanKindName, ViewAttributes, ViewSpan } from "../../format.ts";
import { textIn } from "../../model/attributes.ts";
import { attributesUnder, entriesUnder, type Flat, textOf } from "./indexed-attributes.ts";
import {
  costOf,
  firstNumber,
  firstText,
  parsed,
  type Reading,
  type Vocabulary,
} from "./reading.ts";

/**
 * https://github.com/open-telemetry/semantic-conventions-genai, also with the names of older versions: messages as
 * `gen_ai.prompt.0.content` and as events.
 */
export const genAi: Vocabulary = { name: "GenAI conventions", read };

const OPERATIONS: ReadonlyMap<string, SpanKindName> = new Map([
  ["invoke_agent", "run"],
  ["invoke_workflow", "run"],
  ["create_agent", "step"],
  // The AI SDK's.
  ["agent_step", "step"],
  ["rerank", "step"],
  // OpenLLMetry's.
  ["workflow", "step"],
  ["chat", "model"],
  ["generate_content", "model"],
  ["text_completion", "model"],
  ["embeddings", "model"],
  ["execute_tool", "tool"],
  ["retrieval", "step"],
]);

function read({ attributes, events }: ViewSpan): Reading | undefined {
  const operation = textIn(attributes, "gen_ai.operation.name");
  const isModel = operation === undefined && firstText(attributes, MODEL) !== undefined;
  const kind = isModel ? "model" : OPERATIONS.get(operation ?? "");
  if (kind === undefined) return undefined;
  return {
    kind,
    input: askedIn(attributes, events),
    output: answeredIn(attributes, events),
    inputTokens: firstNumber(attributes, ["gen_ai.usage.prompt_tokens"]),
    outputTokens: firstNumber(attributes, ["gen_ai.usage.completion_tokens"]),
    cost: costOf([attributes["gen_ai.usage.cost"]]),
  };
}

const MODEL = ["gen_ai.request.model", "gen_ai.response.model"] as const;

type Events = ViewSpan["events"];

function askedIn(attributes: ViewAttributes, events: Events): unknown {
  const messages = messagesUnder(attributes, "gen_ai.prompt");
  if (messages.length > 0) return messages;
  const asked = events.flatMap((event) => {
    const role = /^gen_ai\.(system|user|assistant|tool)\.message$/.exec(event.name)?.[1];
    return role === undefined ? [] : [eventMessage(event, role)];
  });
  if (asked.length > 0) return asked;
  return parsed(attributes["gen_ai.prompt"] ?? eventText(events, "gen_ai.prompt"));
}

function answeredIn(attributes: ViewAttributes, events: Events): unknown {
  const messages = messagesUnder(attributes, "gen_ai.completion");
  if (messages.length > 0) return messages;
  const choices = events.filter(({ name }) => name === "gen_ai.choice");
  if (choices.length > 0) return choices.map((event) => eventMessage(event, "assistant"));
  return parsed(attributes["gen_ai.completion"] ?? eventText(events, "gen_ai.completion"));
}

/** Messages in the form of Chat Completions, from attributes such as `gen_ai.prompt.0.content`. */
function messagesUnder(attributes: ViewAttributes, prefix: string): readonly unknown[] {
  return entriesUnder(attributesUnder(attributes, [`${prefix}.`]), prefix).map((flat) => {
    const calls = entriesUnder(flat, "tool_calls").map(callIn);
    return {
      role: textOf(flat, "role") ?? (prefix === "gen_ai.prompt" ? "user" : "assistant"),
      content: parsed(textOf(flat, "content") ?? ""),
      ...(calls.length === 0 ? {} : { tool_calls: calls }),
      tool_call_id: textOf(flat, "tool_call_id"),
      finish_reason: textOf(flat, "finish_reason"),
    };
  });
}

function callIn(flat: Flat): unknown {
  const given = parsed(textOf(flat, "arguments"));
  return { id: textOf(flat, "id"), function: { name: textOf(flat, "name"), arguments: given } };
}

/** The message of an event: its fields are attributes, or JSON in one of them. */
function eventMessage({ attributes }: Events[number], role: string): unknown {
  const whole = parsed(attributes["gen_ai.event.content"]);
  const fields = typeof whole === "object" && whole !== null ? whole : attributes;
  const read = Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, parsed(value)]),
  );
  const { message } = read;
  return { role, ...read, ...(typeof message === "object" ? message : {}) };
}

/** From the events `gen_ai.content.prompt` and `gen_ai.content.completion`. */
function eventText(events: Events, name: string): string | undefined {
  return events
    .map(({ attributes }) => textIn(attributes, name))
    .find((text) => text !== undefined);
}
