/** Operations of OpenInference's kinds. A run and a step can both be a `CHAIN`. */
const OPERATIONS: ReadonlyMap<unknown, string> = new Map([
  ["AGENT", "invoke_agent"],
  ["TOOL", "execute_tool"],
  ["LLM", "chat"],
  ["EMBEDDING", "embeddings"],
  ["RETRIEVER", "retrieval"],
]);

/** `gen_ai.operation.name` of a span, also of one that has only OpenInference's names. `undefined`: none. */
export function operationOf(attributes: Readonly<Record<string, unknown>>): string | undefined {
  const operation = attributes["gen_ai.operation.name"];
  if (typeof operation === "string") return operation;
  const kind = attributes["openinference.span.kind"];
  if (kind !== "CHAIN") return OPERATIONS.get(kind);
  return attributes["entelix.run.outcome"] === undefined ? undefined : "invoke_workflow";
}
