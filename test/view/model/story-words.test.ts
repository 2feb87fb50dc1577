import { describe, expect, it } from "vitest";
import type { ViewDecision, ViewRun } from "../../../src/view/format.ts";
import { filterRows } from "../../../src/view/model/filter-rows.ts";
import { listQuery } from "../../../src/view/model/list-query.ts";
import { RunIndex } from "../../../src/view/model/run-index.ts";
import { decisionText, storyLine } from "../../../src/view/model/story-words.ts";
import { aRun } from "../support/fake-runs.ts";

const EDITED: ViewDecision = {
  call_id: "c1",
  tool: "refund",
  outcome: "edited",
  at_ms: 1,
  by: "user",
  wait_ms: 1200,
};

describe("the line of a run", () => {
  it.each<[Partial<ViewRun>, string | undefined, string?]>([
    [{ outcome: "complete", answer: "Sent." }, "Sent."],
    [
      { outcome: "complete", answer: "Sent.", decisions: [{ ...EDITED, person: "ann" }] },
      "ann edited refund after 1.2 s. Sent.",
    ],
    [{ outcome: "failed", error: "503", answer: "x" }, "503", "bad"],
    [{ outcome: "interrupted", asked: "refund {}" }, "Waits for a person: refund {}", "waits"],
    [{ outcome: "interrupted" }, "Waits for a person", "waits"],
    [
      { outcome: "interrupted", resumed: true, asked: "x" },
      "Was decided, and went on in a later run",
    ],
    [{ outcome: "open" }, undefined],
  ])("of %j is %j", (run, text, tone = "plain") => {
    expect(storyLine(aRun("one", run))).toEqual(text === undefined ? undefined : { text, tone });
  });

  it.each<[Partial<ViewDecision>, string]>([
    [{}, "A person edited refund after 1.2 s"],
    [{ by: "policy", wait_ms: 0, outcome: "denied" }, "A rule denied refund"],
    [{ tool: "", wait_ms: undefined, person: "bob" }, "bob edited a call"],
  ])("says who decided: %j", (decision, text) => {
    expect(decisionText({ ...EDITED, ...decision })).toBe(text);
  });
});

describe("the search", () => {
  it.each(["Order 17", "sent.", "gateway", "t-1", "u-7", "s-1", "gpt-5", "EDITED refund"])(
    "finds %s in a story",
    (search) => {
      const index = new RunIndex();
      index.merge([
        aRun("one", {
          question: "Where is order 17?",
          answer: "Sent.",
          error: "gateway",
          thread_id: "t-1",
          user: "u-7",
          session: "s-1",
          model: "gpt-5-mini",
          decisions: [EDITED],
        }),
        aRun("two", {}),
      ]);
      const query = { ...listQuery(new URLSearchParams()), search };
      expect(filterRows(index.rows, query).map(({ run }) => run.key)).toEqual(["one"]);
    },
  );
});
