// What scripted models answer, in the parts of the AI SDK's `LanguageModel`, which Mastra has as well.

export const USAGE = {
  inputTokens: { total: 10, noCache: 8, cacheRead: 2, cacheWrite: 0 },
  outputTokens: { total: 5, text: 4, reasoning: 1 },
};

/** What every answer says of itself. */
export const RESPONSE = { id: "resp-1", modelId: "small-1-2026" };

export const says = (text) => ({
  content: [{ type: "text", text }],
  finishReason: { unified: "stop", raw: "stop" },
});

export const asks = (...calls) => ({
  content: calls.map(([toolName, toolCallId, input = {}]) => ({
    type: "tool-call",
    toolCallId,
    toolName,
    input: typeof input === "string" ? input : JSON.stringify(input),
  })),
  finishReason: { unified: "tool-calls", raw: "tool_calls" },
});

/** The parts of a stream for a part of an answer. */
export function streamed(part) {
  if (part.type !== "text") return [part];
  const words = part.text.split(/(?<= )/);
  const deltas = words.map((delta) => ({ type: "text-delta", id: "t", delta }));
  return [{ type: "text-start", id: "t" }, ...deltas, { type: "text-end", id: "t" }];
}
