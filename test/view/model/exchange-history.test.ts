import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ViewSpan } from "../../../src/view/format.ts";
import { exchangeOf } from "../../../src/view/model/exchange.ts";
import { runModel } from "../../../src/view/model/run-model.ts";
import { runs } from "../../support/runs.ts";
import { answerOf, modelSpan, said, textsOf, userText } from "../support/exchange-spans.ts";
import { runDetail, runSpan } from "../support/view-span.ts";

/** What happens before a call, and what the call is sent. */
interface Turn {
  /** New messages of the user. */
  readonly asked: readonly string[];
  /** How the call's history is shortened. */
  readonly shortened: "not" | "start" | "middle" | "summary";
  /** How many messages are left out, at most. */
  readonly by: number;
  /** Failed attempts before it, each with the same messages. */
  readonly failed: number;
  readonly answer: string;
}

// Few texts, so that people and models repeat themselves.
const TEXT = fc.constantFrom("yes", "no", "go on");
const TURN: fc.Arbitrary<Turn> = fc.record({
  asked: fc.array(TEXT, { maxLength: 3 }),
  shortened: fc.constantFrom("not", "start", "middle", "summary"),
  by: fc.nat(6),
  failed: fc.nat(2),
  answer: TEXT,
});

/** Plays the turns. @returns the spans, and the texts that a reader must find, in order. */
function played(turns: readonly Turn[]) {
  const history: { role: string; text: string }[] = [];
  const expected: string[] = [];
  const spans = [runSpan("run", undefined, { from: 0, to: 1_000_000 })];
  let [time, answered] = [1, 0];
  for (const [number, { answer, asked, by, failed, shortened }] of turns.entries()) {
    for (const text of asked) {
      history.push({ role: "user", text });
      expected.push(text);
    }
    // The last answer and all that is newer is always sent.
    const most = Math.max(0, answered - 1);
    const left = Math.min(by, most);
    if (shortened === "start") history.splice(0, left);
    if (shortened === "middle") history.splice(Math.min(1, most - left), left);
    if (shortened === "summary" && left > 0) {
      const text = `summary ${number}`;
      history.splice(0, left, { role: "user", text });
      // It is new with the call that is sent it, so it stands before what was asked last.
      expected.splice(expected.length - asked.length, 0, text);
    }
    const input = history.map(({ role, text }) => said(role, text));
    for (let attempt = 0; attempt < failed; attempt++) {
      spans.push(modelSpan(`failed ${number} ${attempt}`, time++, input, undefined));
    }
    spans.push(modelSpan(`call ${number}`, time++, input, [answerOf(answer)]));
    history.push({ role: "assistant", text: answer });
    expected.push(answer);
    answered = history.length;
  }
  return { spans, expected };
}

describe("the messages of calls that repeat the history", () => {
  it("are each shown once, in order, also if the history is shortened or summed up", () => {
    fc.assert(
      fc.property(fc.array(TURN, { maxLength: 12 }), (turns) => {
        const { expected, spans } = played(turns);
        const { items } = exchangeOf(runModel(runDetail(spans)));
        expect(textsOf(items)).toEqual(expected);
      }),
      { numRuns: runs(3_000) },
    );
  });

  it("of 1,000 calls, each with all before it", { timeout: 60_000 }, () => {
    const turns = Array.from({ length: 1_000 }, (_, number): Turn => {
      return {
        asked: [`question ${number}`],
        shortened: "not",
        by: 0,
        failed: 0,
        answer: `${number}`,
      };
    });
    const { expected, spans } = played(turns);
    expect(textsOf(exchangeOf(runModel(runDetail(spans))).items)).toEqual(expected);
    expect(expected).toHaveLength(2_000);
  });

  it("are shown also if the same call is sent twice, or nothing was answered before", () => {
    const first = modelSpan("a", 1, [userText("yes"), userText("yes")], undefined);
    const second = modelSpan(
      "b",
      2,
      [userText("yes"), userText("yes"), userText("yes")],
      undefined,
    );
    const { items } = exchangeOf(runModel(runDetail([first, second])));
    expect(textsOf(items)).toEqual(["yes", "yes", "yes"]);
  });
});

describe("the messages of calls that are sent only what is new", () => {
  const spansOf = (instructions: readonly string[]) =>
    instructions.map((text, number) =>
      modelSpan(
        `${number}`,
        number,
        [said("system", text), userText("yes")],
        [answerOf(`A${number}`)],
      ),
    );
  const textsIn = (spans: readonly ViewSpan[]) =>
    textsOf(exchangeOf(runModel(runDetail(spans))).items);

  it("are all shown, also if a user says the same again", () => {
    expect(textsIn(spansOf(["help", "help"]))).toEqual(["help", "yes", "A0", "yes", "A1"]);
  });

  it("are shown once if another agent is sent them, too", () => {
    expect(textsIn(spansOf(["route", "help"]))).toEqual(["route", "yes", "A0", "help", "A1"]);
  });
});

describe("an answer", () => {
  it.each([
    ["without its reasoning", ["<think>plan</think>\n\nHello!"], "Hello!"],
    ["with its texts joined", ["Part one.", "Part two."], "Part one.Part two."],
    ["with its texts on lines", ["Part one.", "Part two."], "Part one.\n\nPart two."],
  ])("is known in the history %s, and as the answer of the run", (_, texts, repeated) => {
    const parts = texts.map((content) => ({ type: "text", content }));
    const spans = [
      runSpan(
        "run",
        undefined,
        { from: 0, to: 9 },
        {
          attributes: { "gen_ai.output.messages": JSON.stringify([answerOf(repeated)]) },
        },
      ),
      modelSpan("a", 1, [userText("hi")], [{ role: "assistant", parts }]),
    ];
    const shown = () => textsOf(exchangeOf(runModel(runDetail(spans))).items);
    expect(shown()).toEqual(["hi", ...texts]);
    const input = [userText("hi"), answerOf(repeated), userText("more")];
    spans.push(modelSpan("b", 2, input, [answerOf("Bye")]));
    expect(shown().slice(0, texts.length + 3)).toEqual(["hi", ...texts, "more", "Bye"]);
  });
});
