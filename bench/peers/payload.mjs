// What a run is about: a question, three tool calls of one model answer, their results, and the last answer. Each part
// holds a mark, so that a check can tell whether a variant put it on its spans.

const TOOLS = ["search_docs", "sql_query", "read_file"];

/** Where to find each part: a mark of the part's own, and the number of the run. */
export const MARKS = {
  question: "question-mark",
  "tool input": "input-mark",
  "tool output": "output-mark",
  answer: "answer-mark",
};

export function payloadOf(n) {
  return {
    question: `Which orders of customer ${n} are late, and why? ${MARKS.question}`,
    calls: TOOLS.map((name, k) => ({
      id: `call_${k}_${n}`,
      name,
      args: { query: `the last 30 days of customer ${n} ${MARKS["tool input"]}`, limit: 25 + k },
      output: `25 rows for customer ${n}; first=2026-11-02 last=2026-12-01 ${MARKS["tool output"]}`,
    })),
    answer: `Three are late, since the carrier was on strike. ${MARKS.answer}`,
  };
}

export const TOOL_NAMES = TOOLS;
export const AGENT = "support";
export const MODEL = "small-1";
export const SYSTEM = "You answer questions about orders.";
export const USAGE = { input: 1200, cached: 800, output: 150 };

/** What the language model of the AI SDK and of Mastra answers: calls of tools, then the answer. */
export function answerTo({ prompt }) {
  const [, n] = /customer (\d+)/.exec(JSON.stringify(prompt));
  const { answer, calls } = payloadOf(Number(n));
  const isReady = prompt.at(-1).role === "tool";
  return {
    content: isReady
      ? [{ type: "text", text: answer }]
      : calls.map(({ id, name, args }) => ({
          type: "tool-call",
          toolCallId: id,
          toolName: name,
          input: JSON.stringify(args),
        })),
    finishReason: { unified: isReady ? "stop" : "tool-calls", raw: undefined },
    usage: {
      inputTokens: { total: USAGE.input, cacheRead: USAGE.cached },
      outputTokens: { total: USAGE.output },
    },
    warnings: [],
    response: { id: "resp-1", modelId: `${MODEL}-2026` },
  };
}
