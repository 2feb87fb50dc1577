import { describe, expect, it } from "vitest";
import {
  exitCodeOf,
  type ReplaySummary,
  summaryLines,
} from "../../src/cli/replay/replay-summary.ts";
import { Output } from "../../src/cli/terminal/output.ts";
import { RunTally } from "../../src/cli/traces/run-tally.ts";
import { TraceSample } from "../../src/cli/traces/trace-lines.ts";

const WELL: ReplaySummary = {
  events: 2,
  spans: 1,
  runs: 1,
  outcomes: { complete: 1 },
  failure_kinds: {},
  ignored: {},
  rejected: 0,
  rejected_fields: {},
  late: 0,
  unknown_types: {},
  unknown_values: {},
  adjustments: {},
  failures: 0,
  unreadable: [],
};

const SENT = { url: "http://127.0.0.1:4318/v1/traces", delivered: 1, undelivered: 0 };
const AUDIT = {
  directory: "/log",
  rows: 2,
  rows_by_kind: { tool_call: 2 },
  unprojected: {},
  unsearched: 0,
  failures: 0,
};

const CASES: readonly (readonly [string, Partial<ReplaySummary>, 0 | 1 | 2, string])[] = [
  ["all was taken", { sent: SENT, audit: AUDIT }, 0, "1 span delivered to http://127.0.0.1:4318"],
  ["a line was rejected", { rejected: 1 }, 2, "1 line rejected"],
  [
    "a span was lost",
    { rejected: 1, sent: { ...SENT, delivered: 0, undelivered: 1 } },
    1,
    "1 span could not be",
  ],
  ["a row was lost", { audit: { ...AUDIT, failures: 2 } }, 1, "/log: 2 rows could not be stored"],
  ["a source was cut", { unreadable: ["a"] }, 1, "2 events, 1 run, 1 span: 1 complete"],
  ["the package failed", { failures: 1 }, 1, "1 internal error: please report the messages above"],
  [
    "events changed nothing",
    { ignored: { duplicate: 1234 } },
    0,
    "1,234 events changed nothing: 1,234 duplicate",
  ],
  ["events were late", { late: 3 }, 0, "3 events came too late to be put in order"],
  ["limits bit", { adjustments: { evicted_runs: 5 } }, 0, "adjusted: 5 evicted_runs"],
];

describe("a replay's summary", () => {
  it.each(CASES)("when %s", (_, difference, code, said) => {
    const summary = { ...WELL, ...difference };
    const output = new Output({ write: () => true, on: () => {} }, {});
    const lines = summaryLines(summary, new RunTally(), new TraceSample(5, 5), output);
    expect(lines.join("\n")).toContain(said);
    expect(exitCodeOf(summary)).toBe(code);
  });
});
