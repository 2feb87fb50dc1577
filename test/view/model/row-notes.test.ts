import { describe, expect, it } from "vitest";
import { outlineOf } from "../../../src/view/model/outline.ts";
import { rowNotes, rowUsage, usageWords } from "../../../src/view/model/row-notes.ts";
import { runModel } from "../../../src/view/model/run-model.ts";
import { runDetail, runSpan, toolSpan, viewSpan } from "../support/view-span.ts";

const failed = { failed: true };
const approval = {
  "entelix.approval.outcome": "edited",
  "entelix.approval.person": "ann@acme.test",
  "entelix.approval.wait_ms": 1203,
};
const chat = (id: string, from: number, attributes = {}) =>
  viewSpan(
    id,
    "run",
    { from, to: from + 1 },
    {
      kind: "model",
      attributes: { "gen_ai.request.model": id, ...attributes },
    },
  );

const model = runModel(
  runDetail([
    runSpan("run", undefined, { from: 0, to: 99 }, { attributes: { "entelix.run.segment": 2 } }),
    toolSpan("a", "run", { from: 1, to: 2 }, failed),
    toolSpan("b", "run", { from: 3, to: 4 }, failed),
    toolSpan("c", "run", { from: 5, to: 6 }, { attributes: approval }),
    toolSpan(
      "refused",
      "run",
      { from: 7, to: 8 },
      {
        attributes: {
          "gen_ai.tool.name": "pay",
          "entelix.tool.outcome": "denied",
          "entelix.approval.outcome": "denied",
          "entelix.approval.by": "policy",
        },
      },
    ),
    chat("priced", 10, { "gen_ai.usage.input_tokens": 400, "entelix.model.cost": "0.0012" }),
    chat("counted", 12, {
      "gen_ai.usage.input_tokens": 1200,
      "gen_ai.usage.output_tokens": 34,
      "entelix.retry.count": 1,
    }),
    chat("unknown", 14),
  ]),
);
const items = new Map(
  [...outlineOf(model.tree).byNode.values()].flatMap((item) => [
    [item.id, item] as const,
    ...(item.parent === undefined ? [] : [[item.parent.id, item.parent] as const]),
  ]),
);

describe("a row of the timeline", () => {
  const notes = (id: string) => {
    const item = items.get(id);
    return item && rowNotes(item, model);
  };

  it("says who decided and after how long, and how often a call was tried", () => {
    expect(notes("c")).toEqual({
      tries: "try 3 of 3",
      decision: "edited by ann@acme.test after 1.2 s",
    });
    expect(notes("fold:a")).toEqual({
      tries: "2 retries",
      decision: "edited by ann@acme.test after 1.2 s",
    });
    expect(notes("b")).toEqual({ tries: "try 2 of 3" });
    expect(notes("counted")).toEqual({ tries: "1 retry" });
    expect(notes("run")).toEqual({ segment: "segment 2" });
    expect(notes("unknown")).toEqual({});
  });

  it("says once that a call was denied", () => {
    expect(notes("refused")).toEqual({ decision: "denied by a rule" });
  });

  it("has the cost of what is under it, else its tokens", () => {
    const words = (id: string) => {
      const item = items.get(id);
      return item && usageWords(rowUsage(item, model));
    };
    expect(words("priced")).toEqual({
      short: "$0.0012",
      spoken: "cost $0.0012",
      title: "400 tokens in, 0 out, $0.0012",
    });
    expect(words("counted")).toEqual({
      short: "1,234 tok",
      spoken: "1,234 tokens",
      title: "1,200 tokens in, 34 out",
    });
    expect(words("run")?.title).toBe("1,600 tokens in, 34 out, $0.0012");
    expect(words("unknown")).toBeUndefined();
    expect(words("fold:a")).toBeUndefined();
  });
});
