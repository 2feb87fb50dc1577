import { expect, it } from "vitest";
import { viewSpanOf } from "../../src/view/sources/view-span.ts";
import { embeddingsSpan, workflowSpan } from "../support/operation-spans.ts";

it("a workflow is a run, and embeddings are a model call", () => {
  const kinds = [workflowSpan, embeddingsSpan].map((each) => viewSpanOf(each).kind);
  expect(kinds).toEqual(["run", "model"]);
});
