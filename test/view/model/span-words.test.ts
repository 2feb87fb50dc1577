import { describe, expect, it } from "vitest";
import { spanTree } from "../../../src/view/model/span-tree.ts";
import { failedText, failuresOf, shortName } from "../../../src/view/model/span-words.ts";
import { runSpan, toolSpan, viewSpan } from "../support/view-span.ts";

const times = { from: 0, to: 1 };

describe("the short name of a span", () => {
  it.each([
    ["planner", runSpan("a", undefined, times)],
    ["search", toolSpan("a", "run", times)],
    [
      "m-1",
      viewSpan("chat m-1", "run", times, {
        kind: "model",
        attributes: { "gen_ai.response.model": "m-1" },
      }),
    ],
    ["plan", viewSpan("step plan", "run", times, { attributes: { "entelix.step.name": "plan" } })],
    [
      "GET /",
      viewSpan("GET /", "run", times, { kind: "other", attributes: { "gen_ai.tool.name": "x" } }),
    ],
    [
      "chat",
      viewSpan("chat", "run", times, { kind: "model", attributes: { "gen_ai.request.model": 5 } }),
    ],
  ])("is %j", (name, span) => {
    expect(shortName(span)).toBe(name);
  });

  it("is beside how many failed", () => {
    const failed = { failed: true };
    const { nodes } = spanTree([
      toolSpan("a", "run", times, failed),
      toolSpan("b", "run", times),
      toolSpan("c", "run", times, failed),
    ]);
    expect(failedText(failuresOf(nodes))).toBe("2 failed");
  });
});
