import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ViewRow, ViewSpan } from "../../../src/view/format.ts";
import { errorOf, failedAndAbove, firstFailure } from "../../../src/view/model/failures.ts";
import { type SpanNode, spanTree } from "../../../src/view/model/span-tree.ts";
import { runs } from "../../support/runs.ts";
import { at, toolSpan, viewRow, viewSpan } from "../support/view-span.ts";

const failed = { failed: true };

describe("the first failure", () => {
  it("is the cause, not the parents that failed with it or what failed later", () => {
    const tree = spanTree([
      viewSpan("run", undefined, { from: 0, to: 50 }, failed),
      viewSpan("step", "run", { from: 1, to: 40 }, failed),
      toolSpan("cause", "step", { from: 2, to: 30 }, failed),
      toolSpan("later", "run", { from: 3, to: 45 }, failed),
    ]);
    expect(firstFailure(tree)?.id).toBe("cause");
    const ids = [...failedAndAbove(tree)].map(({ id }) => id);
    expect(ids.sort()).toEqual(["cause", "later", "run", "step"]);
  });

  it("may be below a span that did not fail itself", () => {
    const tree = spanTree([
      viewSpan("run", undefined, { from: 0, to: 50 }, failed),
      viewSpan("step", "run", { from: 1, to: 40 }),
      toolSpan("cause", "step", { from: 2, to: 60 }, failed),
    ]);
    expect(firstFailure(tree)?.id).toBe("cause");
  });

  it("is none where nothing failed", () => {
    const tree = spanTree([viewSpan("run", undefined, { from: 0, to: 50 })]);
    expect(firstFailure(tree)).toBeUndefined();
    expect(failedAndAbove(tree).size).toBe(0);
  });

  it("ends earliest of the failed spans that have no failed span under them", () => {
    const span = fc.record({
      parent: fc.nat({ max: 9 }),
      end: fc.nat({ max: 5 }),
      failed: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(span, { maxLength: 9 }), (given) => {
        const tree = spanTree(
          given.map(({ end, failed, parent }, n) =>
            viewSpan(`s${n}`, `s${parent}`, { from: 0, to: end }, { failed }),
          ),
        );
        const failsBelow = (node: SpanNode): boolean =>
          node.children.some((child) => child.span.failed || failsBelow(child));
        const causes = tree.nodes.filter((node) => node.span.failed && !failsBelow(node));
        const earliest = Math.min(...causes.map(({ end = 0 }) => end));
        expect(firstFailure(tree)).toBe(causes.find(({ end }) => end === earliest));
      }),
      { numRuns: runs(300) },
    );
  });
});

describe("the error of a span", () => {
  it("has the operator's text apart from what the model received", () => {
    const events = [
      {
        name: "exception",
        time_ns: at(1),
        attributes: { "exception.type": "RateLimited", "exception.message": "429: slow down" },
      },
    ];
    const attributes = { "error.type": "rate_limit", "entelix.tool.model_text": "upstream error" };
    const message = "provider returned 429";
    const rest = { failed: true, message, attributes, events };
    expect(errorOf(toolSpan("a", "run", { from: 0, to: 1 }, rest))).toEqual({
      message: "provider returned 429",
      type: "rate_limit",
      exceptions: [{ type: "RateLimited", message: "429: slow down" }],
      modelText: "upstream error",
      modelTextUnknown: false,
    });
  });

  it("is none of a span that did not fail and says nothing", () => {
    expect(errorOf(viewSpan("a", undefined, { from: 0, to: 1 }))).toBeUndefined();
  });

  it("is the operator's text of a span that did not fail, where it has one", () => {
    const attributes = { "entelix.error.message": "cancelled by the caller" };
    expect(errorOf(viewSpan("a", undefined, { from: 0, to: 1 }, { attributes }))).toEqual({
      message: "cancelled by the caller",
      exceptions: [],
      modelTextUnknown: false,
    });
  });

  it("has what the model received from the audit row where the span does not say it", () => {
    const result = (content: unknown, is_error = true) =>
      viewRow(2, { kind: "tool_result", event: { kind: "tool_result", content, is_error } });
    const call = viewRow(1, { kind: "tool_call", event: { content: "x", is_error: true } });
    const textOf = (span: ViewSpan, ...rows: readonly ViewRow[]) =>
      errorOf(span, [call, ...rows])?.modelText;
    const span = toolSpan("a", "run", { from: 0, to: 1 }, failed);
    expect(textOf(span, result("tool call failed"))).toBe("tool call failed");
    expect(textOf(span, result({ status: 500 }))).toBe('{\n  "status": 500\n}');
    expect([textOf(span), textOf(span, result("fine", false))]).toEqual([undefined, undefined]);
    const attributes = { "entelix.tool.model_text": "of the span" };
    const told = toolSpan("a", "run", { from: 0, to: 1 }, { ...failed, attributes });
    expect(textOf(told, result("of the row"))).toBe("of the span");
  });
});
