import { describe, expect, it } from "vitest";
import type { ViewSpan } from "../../../src/view/format.ts";
import { conversationOf } from "../../../src/view/model/conversation.ts";
import { earlierMessages } from "../../../src/view/model/earlier-messages.ts";
import { exchangeOf } from "../../../src/view/model/exchange.ts";
import { runModel } from "../../../src/view/model/run-model.ts";
import { answerOf, modelSpan, said, textsOf, userText } from "../support/exchange-spans.ts";
import { runDetail, runSpan } from "../support/view-span.ts";

const RUN = runSpan("run", undefined, { from: 0, to: 100 });
const SYSTEM = said("system", "Be kind");
const ASKED = userText("Where is it?");
const FIRST = answerOf("Which order?");
const YES = userText("yes");
const SECOND = answerOf("This one?");

/** The requests of three calls, each with the answer before it. The user says the same twice. */
const REQUESTS = [
  [SYSTEM, ASKED],
  [SYSTEM, ASKED, FIRST, YES],
  [SYSTEM, ASKED, FIRST, YES, SECOND, YES],
];
const ANSWERS = [FIRST, SECOND, answerOf("Then it is on its way.")];

/** @param counts how many messages of each request the span has not. */
function model(counts: readonly number[], rest: Partial<ViewSpan> = {}) {
  const spans = REQUESTS.map((request, at) => {
    const earlier = counts[at] ?? 0;
    const attributes = earlier === 0 ? {} : { "entelix.content.earlier_messages": earlier };
    const more = { ...rest, attributes };
    return modelSpan(`m${at}`, 10 * at + 1, request.slice(earlier), [ANSWERS[at]], more);
  });
  return runModel(runDetail([RUN, ...spans]));
}

/** The texts of the messages that the details of each call show. */
function shown({ tree }: ReturnType<typeof model>) {
  return ["m0", "m1", "m2"].map((id) => {
    const node = tree.byId.get(id);
    const messages = node && conversationOf(node.span, earlierMessages(tree.nodes, node));
    return messages?.map(({ from, parts }) => `${from}: ${parts.map(({ text }) => text).join()}`);
  });
}

describe("messages that only the spans of earlier calls have", () => {
  it("are shown with those of the span, as if it had all", () => {
    const whole = shown(model([]));
    expect(whole[2]).toHaveLength(7);
    expect(shown(model([0, 2, 4]))).toEqual(whole);
    expect(shown(model([0, 2, 3]))).toEqual(whole);
    expect(shown(model([0, 1, 4]))).toEqual(whole);
  });

  it("are not those of the end of a span that dropped some of its middle", () => {
    const earlier = (count: number) => {
      const dropped = { attributes: { "entelix.content.dropped_messages": 2 } };
      const rest = { attributes: { "entelix.content.earlier_messages": count } };
      const { tree } = runModel(
        runDetail([
          RUN,
          modelSpan("m0", 1, [SYSTEM, SECOND, YES], [FIRST], dropped),
          modelSpan("m1", 11, [ASKED], [SECOND], rest),
        ]),
      );
      const node = tree.byId.get("m1");
      return node && earlierMessages(tree.nodes, node);
    };
    expect(earlier(2)).toEqual([SYSTEM]);
    expect(earlier(5)).toEqual([SYSTEM, SECOND, YES]);
  });

  it("are each once in the conversation of the run, also if a user says the same again", () => {
    const texts = (of: ReturnType<typeof model>) => textsOf(exchangeOf(of).items);
    expect(texts(model([0, 2, 4]))).toEqual([
      ...["Be kind", "Where is it?", "Which order?", "yes", "This one?", "yes"],
      "Then it is on its way.",
    ]);
    expect(texts(model([0, 2, 4]))).toEqual(texts(model([])));
  });

  it("are each once if the application leaves out the oldest, too", () => {
    const [more, third] = [userText("no, the red one"), answerOf("Found it.")];
    const request = [SYSTEM, YES, SECOND, more];
    const texts = [0, 1].map((earlier) => {
      const rest = { attributes: { "entelix.content.earlier_messages": earlier } };
      return textsOf(
        exchangeOf(
          runModel(
            runDetail([
              RUN,
              modelSpan("m0", 1, [SYSTEM, ASKED], [FIRST]),
              modelSpan("m1", 11, [SYSTEM, ASKED, FIRST, YES], [SECOND]),
              modelSpan("m2", 21, request.slice(earlier), [third], rest),
            ]),
          ),
        ).items,
      );
    });
    expect(texts[0]).toHaveLength(7);
    expect(texts[1]).toEqual(texts[0]);
  });

  it("are those of the same run, as far as there are any", () => {
    const { tree } = model([0, 2, 9], { run_id: "another" });
    const node = tree.byId.get("m2");
    expect(node && earlierMessages(tree.nodes, node)).toEqual(REQUESTS[1]);
    const alone = runModel(
      runDetail([RUN, ...[tree.byId.get("m2")?.span].filter((span) => span !== undefined)]),
    );
    const only = alone.tree.byId.get("m2");
    expect(only && earlierMessages(alone.tree.nodes, only)).toEqual([]);
  });
});
