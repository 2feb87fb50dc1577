import { describe, expect, it } from "vitest";
import type { ViewDecision, ViewRun } from "../../../src/view/format.ts";
import { filterRows } from "../../../src/view/model/filter-rows.ts";
import { listQuery } from "../../../src/view/model/list-query.ts";
import { RunIndex } from "../../../src/view/model/run-index.ts";
import { MOST_SEARCH_TEXT, searchText } from "../../../src/view/model/search-text.ts";
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
      { outcome: "interrupted", resumed: true, asked: "refund {}" },
      "Waited for a person: refund {}",
    ],
    [{ outcome: "interrupted", resumed: true }, "Waited for a person, and went on in a later run"],
    [{ outcome: "open" }, undefined],
  ])("of %j is %j", (run, text, tone = "plain") => {
    expect(storyLine(aRun("one", run))).toEqual(text === undefined ? undefined : { text, tone });
  });

  it.each<[Partial<ViewDecision>, string]>([
    [{}, "A person edited refund after 1.2 s"],
    [{ by: "policy", wait_ms: 0, outcome: "denied" }, "A rule denied refund"],
    [{ by: undefined }, "refund was edited after 1.2 s"],
    [{ tool: "", wait_ms: undefined, person: "bob" }, "bob edited a call"],
  ])("says who decided: %j", (decision, text) => {
    expect(decisionText({ ...EDITED, ...decision })).toBe(text);
  });
});

describe("the search", () => {
  it("holds a bounded text of a run, and finds its first texts however long the others are", () => {
    const long = "x".repeat(10_000);
    const names = Array.from({ length: 12 }, (_, at) => `${at}${"y".repeat(59)}`);
    const run = aRun("key", {
      agent: long,
      thread_id: long,
      question: "Where is it?",
      answer: "À la fin",
      tools: names,
      tags: names,
      models: names,
      tool_inputs: "z".repeat(300),
      failure_fingerprint: long,
    });
    const text = searchText(run, 0);
    expect(text.length).toBe(MOST_SEARCH_TEXT);
    for (const found of ["where is it?", "à la fin", "zzz", "key"]) expect(text).toContain(found);
  });

  const texts = ["Order 17", "sent.", "gateway", "t-1", "u-7", "s-1", "gpt-5", "EDITED refund"];
  it.each([...texts, "haiku", "look_up_order", "41.90", "beta"])(
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
          models: ["gpt-5-mini", "haiku"],
          tools: ["look_up_order"],
          tool_inputs: '{"euros":41.90}',
          tags: ["beta"],
          decisions: [EDITED],
        }),
        aRun("two", {}),
      ]);
      const query = { ...listQuery(new URLSearchParams()), search };
      expect(filterRows(index.rows, query).map(({ run }) => run.key)).toEqual(["one"]);
    },
  );
});
