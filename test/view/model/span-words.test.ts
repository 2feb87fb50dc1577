import { describe, expect, it } from "vitest";
import { shortName, unusualEnd } from "../../../src/view/model/span-words.ts";
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
});

describe("the end of a span", () => {
  const ended = (name: string, outcome: string, failed = false) =>
    toolSpan("a", "run", times, { failed, attributes: { [`entelix.${name}.outcome`]: outcome } });

  it.each([
    ["denied", ended("tool", "denied")],
    ["interrupted", ended("run", "interrupted")],
    ["cancelled", ended("step", "cancelled")],
    [undefined, ended("model", "complete")],
    [undefined, ended("tool", "error", true)],
    [undefined, toolSpan("a", "run", times)],
  ])("is unusual where it is neither complete nor a failure: %j", (word, span) => {
    expect(unusualEnd(span)).toBe(word);
  });
});
