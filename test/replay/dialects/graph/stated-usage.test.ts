import { expect, it } from "vitest";
import { statedEnd } from "../../../../src/replay/dialects/graph/terminals.ts";

const usage = { input_tokens: 2n ** 60n, output_tokens: 3, cost_usd: "0.30" };
const row = { kind: "entelix.run_ended", timestamp: "2026-04-29T12:00:00Z", usage } as const;

it.each(["complete", "failed", "refused", "interrupted"] as const)(
  "a run of a log that is %s has the usage of its row",
  (outcome) => {
    expect(statedEnd({ ...row, outcome }, undefined)).toMatchObject({ outcome, usage });
  },
);
