import { expect, it } from "vitest";
import { RunTally } from "../../src/cli/traces/run-tally.ts";
import { outcomeOf } from "../../src/cli/traces/span-outcome.ts";
import { embeddingsSpan, workflowSpan } from "../support/operation-spans.ts";

it("workflows count as runs, and embeddings have the outcome of a model call", () => {
  const spans = [workflowSpan, embeddingsSpan];
  expect(spans.map((each) => outcomeOf(each).words)).toEqual(["complete", "complete"]);
  const tally = new RunTally();
  for (const each of spans) tally.add(each);
  expect([tally.spans, tally.runs]).toEqual([2, 1]);
});
