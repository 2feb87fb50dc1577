import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ViewRow, ViewSpan } from "../../../src/view/format.ts";
import {
  causeOf,
  errorOf,
  failedAndAbove,
  failuresIn,
  failureText,
  receivedError,
} from "../../../src/view/model/failures.ts";
import { type SpanNode, spanTree } from "../../../src/view/model/span-tree.ts";
import { runs } from "../../support/runs.ts";
import { at, toolSpan, viewRow, viewSpan } from "../support/view-span.ts";

const failed = { failed: true };

const idsOf = (nodes: Iterable<SpanNode>) => [...nodes].map(({ id }) => id);

describe("the failures of a run", () => {
  it("are the causes, not the parents that failed with them, in the order of their ends", () => {
    const tree = spanTree([
      viewSpan("run", undefined, { from: 0, to: 50 }, failed),
      viewSpan("step", "run", { from: 1, to: 40 }, failed),
      toolSpan("cause", "step", { from: 2, to: 30 }, failed),
      toolSpan("later", "run", { from: 3, to: 45 }, failed),
    ]);
    const failures = failuresIn(tree);
    expect(idsOf(failures)).toEqual(["cause", "later"]);
    const causes = tree.nodes.map((node) => [node.id, causeOf(node, failures)?.id]);
    expect(Object.fromEntries(causes)).toEqual({ run: "later", step: "cause" });
    expect(idsOf(failedAndAbove(tree)).sort()).toEqual(["cause", "later", "run", "step"]);
  });

  it("have causes below a span that did not fail itself", () => {
    const tree = spanTree([
      viewSpan("run", undefined, { from: 0, to: 50 }, failed),
      viewSpan("step", "run", { from: 1, to: 40 }),
      toolSpan("cause", "step", { from: 2, to: 60 }, failed),
    ]);
    expect(idsOf(failuresIn(tree))).toEqual(["cause"]);
  });

  it("have that of a parent which went on after the failure below it", () => {
    const tree = spanTree([
      viewSpan("run", undefined, { from: 0, to: 50 }, failed),
      toolSpan("tool", "run", { from: 1, to: 10 }, failed),
      viewSpan("model", "run", { from: 20, to: 30 }),
    ]);
    expect(idsOf(failuresIn(tree))).toEqual(["tool", "run"]);
  });

  it("have one cause where parallel calls go on while one fails", () => {
    const tree = spanTree([
      viewSpan("run", undefined, { from: 0, to: 50 }, failed),
      toolSpan("tool", "run", { from: 1, to: 10 }, failed),
      toolSpan("beside", "run", { from: 9, to: 50 }),
    ]);
    expect(idsOf(failuresIn(tree))).toEqual(["tool"]);
  });

  it("are none where nothing failed", () => {
    const tree = spanTree([viewSpan("run", undefined, { from: 0, to: 50 })]);
    expect(failuresIn(tree)).toEqual([]);
    expect(failedAndAbove(tree).size).toBe(0);
  });

  it("begin with the earliest of the failed spans that have no failed span under them", () => {
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
        expect(failuresIn(tree)[0]).toBe(causes.find(({ end }) => end === earliest));
      }),
      { numRuns: runs(300) },
    );
  });
});

describe("what a failure was for its run", () => {
  const tree = spanTree([
    toolSpan("one", "run", { from: 1, to: 2 }, failed),
    toolSpan("two", "run", { from: 3, to: 4 }, failed),
  ]);
  const [one, two] = failuresIn(tree);
  const text = (node: SpanNode | undefined, all: readonly (SpanNode | undefined)[], end: string) =>
    node &&
    failureText(
      node,
      all.filter((each) => each !== undefined),
      end,
    );

  it("is said where there are others, or where the run went on", () => {
    expect(text(one, [one], "failed")).toBeUndefined();
    expect(text(one, [one], "complete")).toBe("The run went on and completed.");
    expect(text(one, [one, two], "failed")).toBe("First of 2 failures.");
    expect(text(two, [one, two], "complete")).toBe(
      "No. 2 of 2 failures. The run went on and completed.",
    );
    expect(text(two, [one], "failed")).toBeUndefined();
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

  it("has what the model received from a later call instead of the sender's text", () => {
    const error = { exceptions: [], modelText: "unexpected error", modelTextUnknown: true };
    expect(receivedError(error, "error: weather service down")).toEqual({
      exceptions: [],
      received: "error: weather service down",
      modelTextUnknown: false,
    });
    expect(receivedError(error, undefined)).toBe(error);
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
