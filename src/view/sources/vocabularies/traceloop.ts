import type { SpanKindName, ViewAttributes, ViewSpan } from "../../format.ts";
import { fieldsOf, textIn } from "../../model/attributes.ts";
import { genAi } from "./gen-ai.ts";
import { answerIn, firstText, parsed, type Reading, type Vocabulary } from "./reading.ts";

/** OpenLLMetry: https://github.com/traceloop/openllmetry-js. Its models have the names of the GenAI conventions. */
export const traceloop: Vocabulary = { name: "Traceloop", read };

const KINDS: ReadonlyMap<string, SpanKindName> = new Map([
  ["agent", "run"],
  ["workflow", "step"],
  ["task", "step"],
  ["tool", "tool"],
]);

const REQUESTS: ReadonlyMap<string, SpanKindName> = new Map([
  ["chat", "model"],
  ["completion", "model"],
  ["embedding", "model"],
]);

function read(span: ViewSpan): Reading | undefined {
  const { attributes, parent_span_id } = span;
  const word = textIn(attributes, "traceloop.span.kind") ?? "";
  const request = textIn(attributes, "llm.request.type") ?? "";
  // A workflow of the decorators that is in no other one.
  const isOuter = word === "workflow" && attributes["traceloop.entity.path"] === "";
  const own = isOuter ? "run" : (KINDS.get(word) ?? REQUESTS.get(request));
  if (own === undefined) return undefined;
  const said = genAi.read(span);
  // Tools of LangChain are tasks here, with the conventions' word for tools.
  const kind = own === "step" && said !== undefined ? said.kind : own;
  const named = {
    conversation: firstText(attributes, CONVERSATION),
    user: textIn(attributes, `${PROPERTIES}user_id`),
  };
  if (kind === "model") return { ...said, kind, ...named };
  // The state of each step of a graph may be large.
  if (kind === "step" && parent_span_id !== undefined) return { kind, ...named };
  const input = givenIn(attributes);
  const output = parsed(attributes["traceloop.entity.output"]);
  const name = textIn(attributes, "traceloop.entity.name");
  if (kind === "tool") return { kind, ...named, tool: { name, input, output } };
  const agent = name ?? textIn(attributes, "traceloop.workflow.name");
  return { kind, ...named, agent, input, output: answerIn(output) };
}

const PROPERTIES = "traceloop.association.properties.";

const CONVERSATION = ["session_id", "conversation_id", "thread_id", "chat_id"].map(
  (name) => `${PROPERTIES}${name}`,
);

/** The arguments of the function: its only one, its named ones, or all of them. */
function givenIn(attributes: ViewAttributes): unknown {
  const value = parsed(attributes["traceloop.entity.input"]);
  const { args, kwargs } = fieldsOf(value) ?? {};
  if (!Array.isArray(args) || args.length > 1) return value;
  return args.length === 1 ? parsed(args[0]) : kwargs;
}
