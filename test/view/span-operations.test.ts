import { expect, it } from "vitest";
import { viewSpanOf } from "../../src/view/sources/view-span.ts";

const at = [0, 0] as const;
const span = (attributes: Readonly<Record<string, string>>) => ({
  traceId: "t",
  spanId: "s",
  parentSpanId: undefined,
  message: undefined,
  name: "span",
  start: at,
  end: at,
  failed: false,
  events: [],
  links: [],
  attributes: { "entelix.run_id": "r", ...attributes },
});
const run = span({
  "gen_ai.operation.name": "invoke_workflow",
  "entelix.run.outcome": "complete",
});
const model = span({
  "gen_ai.operation.name": "embeddings",
  "entelix.model.outcome": "complete",
});

it("a workflow is a run, and embeddings are a model call", () => {
  expect([run, model].map((each) => viewSpanOf(each).kind)).toEqual(["run", "model"]);
});
