import { expect, it } from "vitest";
import { RunTally } from "../../src/cli/traces/run-tally.ts";
import { outcomeOf } from "../../src/cli/traces/span-outcome.ts";

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

it("workflows count as runs, and embeddings have the outcome of a model call", () => {
  expect([run, model].map((each) => outcomeOf(each).words)).toEqual(["complete", "complete"]);
  const tally = new RunTally();
  for (const each of [run, model]) tally.add(each);
  expect([tally.spans, tally.runs]).toEqual([2, 1]);
});
