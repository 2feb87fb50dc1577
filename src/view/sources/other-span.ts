import type { SpanKindName, ViewAttributes, ViewSpan } from "../format.ts";
import { textIn } from "../model/attributes.ts";

/** What a span of other instrumentation says of an agent, with the names of the GenAI conventions. */
interface Reading {
  /** Name of the vocabulary, for the page. */
  readonly vocabulary: string;
  readonly kind: SpanKindName;
  /** In addition to those of the span. */
  readonly attributes: ViewAttributes;
}

/** Reads the attributes of a span. @returns `undefined` if they are of another vocabulary. */
type Vocabulary = (attributes: ViewAttributes) => Reading | undefined;

/** A span can have the names of several vocabularies: the first one that knows it counts. */
const VOCABULARIES: readonly Vocabulary[] = [genAi];

/**
 * A span of other instrumentation, with its trace as its run if it says something of an agent. Other spans stay as they
 * are.
 */
export function withVocabulary(span: ViewSpan): ViewSpan {
  for (const vocabulary of VOCABULARIES) {
    const reading = vocabulary(span.attributes);
    if (reading === undefined) continue;
    // The outermost step, such as a graph, is what ran.
    const isRoot = span.parent_span_id === undefined && reading.kind === "step";
    const kind = isRoot ? "run" : reading.kind;
    const attributes = { ...span.attributes, ...reading.attributes };
    if (kind === "run") attributes["gen_ai.agent.name"] ??= span.name;
    return { ...span, run_id: span.trace_id, vocabulary: reading.vocabulary, kind, attributes };
  }
  return span;
}

/** https://github.com/open-telemetry/semantic-conventions-genai */
function genAi(attributes: ViewAttributes): Reading | undefined {
  const operation = textIn(attributes, "gen_ai.operation.name");
  const kind = operation === undefined ? undefined : OPERATIONS.get(operation);
  return kind === undefined ? undefined : { vocabulary: "GenAI conventions", kind, attributes: {} };
}

const OPERATIONS: ReadonlyMap<string, SpanKindName> = new Map([
  ["invoke_agent", "run"],
  ["invoke_workflow", "run"],
  ["create_agent", "step"],
  ["chat", "model"],
  ["generate_content", "model"],
  ["text_completion", "model"],
  ["embeddings", "model"],
  ["execute_tool", "tool"],
  ["retrieval", "step"],
]);
