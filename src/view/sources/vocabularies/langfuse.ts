import type { SpanKindName, ViewAttributes, ViewSpan } from "../../format.ts";
import { fieldsOf, textIn } from "../../model/attributes.ts";
import {
  answerIn,
  costOf,
  firstText,
  isOuterGraph,
  parsed,
  type Reading,
  type Vocabulary,
} from "./reading.ts";

/** https://langfuse.com/integrations/native/opentelemetry */
export const langfuse: Vocabulary = { name: "Langfuse", read };

/** Other types, such as `span` and `chain`, are steps. */
const KINDS: ReadonlyMap<string, SpanKindName> = new Map([
  ["agent", "run"],
  ["generation", "model"],
  ["embedding", "model"],
  ["tool", "tool"],
]);

function read({ attributes, name, parent_span_id }: ViewSpan): Reading | undefined {
  const type = textIn(attributes, "langfuse.observation.type");
  if (type === undefined) return undefined;
  const known = KINDS.get(type.toLowerCase());
  const kind = known ?? (isOuter(attributes) ? "run" : "step");
  const isError = textIn(attributes, "langfuse.observation.level") === "ERROR";
  const message = textIn(attributes, "langfuse.observation.status_message");
  const named = {
    agent: textIn(attributes, `${METADATA}lc_agent_name`),
    conversation: firstText(attributes, SESSION),
    user: textIn(attributes, "langfuse.user.id"),
    ...(isError ? { error: { message } } : {}),
  };
  const isRetrieval = type === "retriever";
  // The state of each step of a graph may be large.
  if (kind === "step" && !isRetrieval && parent_span_id !== undefined) return { kind, ...named };
  const input = parsed(attributes["langfuse.observation.input"]);
  const output = parsed(attributes["langfuse.observation.output"]);
  if (isRetrieval) {
    const query = textIn(attributes, "langfuse.observation.input");
    return { kind, ...named, query, documents: output };
  }
  if (kind === "tool") return { kind, ...named, tool: { name, input, output } };
  if (kind === "model") {
    const usage = parsed(attributes["langfuse.observation.usage_details"]);
    const model = textIn(attributes, "langfuse.observation.model.name");
    const costs = fieldsOf(parsed(attributes["langfuse.observation.cost_details"])) ?? {};
    const cost = costOf([costs.total]) ?? costOf(Object.values(costs));
    const tokens = {
      inputTokens: sumOf(usage, "input"),
      outputTokens: sumOf(usage, "output"),
      cachedTokens: sumOf(usage, "input_cached_tokens") ?? sumOf(usage, "cache_read"),
      cacheWriteTokens: sumOf(usage, "cache_creation"),
    };
    return { kind, ...named, model, input, output: answerOf(output), ...tokens, cost };
  }
  return { kind, ...named, input, output: answerIn(output) };
}

/** The first span of the program that was sent to Langfuse, or an outer graph of LangChain. */
function isOuter(attributes: ViewAttributes): boolean {
  const integration = attributes[`${METADATA}ls_integration`];
  return (
    attributes["langfuse.internal.is_app_root"] === true ||
    isOuterGraph(integration, attributes[`${METADATA}langgraph_node`])
  );
}

const METADATA = "langfuse.observation.metadata.";

const SESSION = ["session.id", "langfuse.session.id", `${METADATA}thread_id`] as const;

/** Calls that were streamed have no role. */
function answerOf(output: unknown): unknown {
  const fields = fieldsOf(output);
  return Array.isArray(fields?.tool_calls) ? { role: "assistant", ...fields } : output;
}

/**
 * Langfuse counts cached and reasoning tokens apart, and takes each type with `input` in its name for input: `input`,
 * `input_cached_tokens`, and Anthropic's `cache_read_input_tokens`.
 */
function sumOf(usage: unknown, part: string): number | undefined {
  let sum: number | undefined;
  for (const [name, count] of Object.entries(fieldsOf(usage) ?? {})) {
    if (!name.includes(part)) continue;
    if (typeof count === "number" && count >= 0) sum = (sum ?? 0) + count;
  }
  return sum;
}
