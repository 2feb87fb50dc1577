// The texts of a run: a question, so many turns in each of which the model calls one tool, and the answer. Each kind of
// text has a mark, so that the receiver can tell whether it was sent.

export const MARKS = ["question-mark", "input-mark", "output-mark", "answer-mark"];
const [QUESTION, INPUT, OUTPUT] = MARKS;

export const AGENT = "support";
export const MODEL = "small-1";
export const SYSTEM =
  "You answer questions about orders. Be short, and look things up before you answer.";
export const TOOL = "search_docs";
export const ANSWER = "Three are late, since the carrier was on strike. answer-mark";
export const USAGE = { input: 1200, cached: 800, output: 150 };

const WORDS =
  'order 4711 was sent on 2026-11-02 by a carrier and is late since a strike; the customer "Meier" asked twice, '.repeat(
    1000,
  );
let counter = 0;

/** Another text each time, and a flat string, as a parser makes it. */
function textOf(mark, size) {
  counter = (counter + 7) % 5000;
  const text = `${mark} ${counter} ${WORDS.slice(counter, counter + size)}`.slice(0, size);
  return Buffer.from(text, "latin1").latin1Slice();
}

export const question = () => textOf(QUESTION, 200);
/** @param size in characters. */
export const result = (size) => textOf(OUTPUT, size);

/** The call of turn `n`. */
export const callOf = (n) => ({
  id: `call_${n}`,
  name: TOOL,
  args: { query: `the last 30 days, page ${n} ${INPUT}`, limit: 25 },
});

/**
 * What the models of the AI SDK and of Mastra answer.
 *
 * @param done the turns before.
 */
export function answerAfter(done, turns) {
  const { id, name, args } = callOf(done);
  const asks = done < turns;
  return {
    content: asks
      ? [{ type: "tool-call", toolCallId: id, toolName: name, input: JSON.stringify(args) }]
      : [{ type: "text", text: ANSWER }],
    finishReason: { unified: asks ? "tool-calls" : "stop", raw: undefined },
    usage: {
      inputTokens: { total: USAGE.input, cacheRead: USAGE.cached },
      outputTokens: { total: USAGE.output },
    },
    warnings: [],
    response: { id: "resp-1", modelId: `${MODEL}-2026` },
  };
}
