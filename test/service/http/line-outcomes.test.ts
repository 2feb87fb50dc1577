import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type LineOutcome,
  LineOutcomes,
  MOST_REASONS,
} from "../../../src/service/http/line-outcomes.ts";

const outcome: fc.Arbitrary<LineOutcome> = fc.oneof(
  fc.constant<LineOutcome>({ status: "accepted" }),
  fc.constant<LineOutcome>({ status: "duplicate" }),
  fc.record({
    status: fc.constant<"rejected">("rejected"),
    field: fc.string({ unit: "binary", maxLength: 20 }),
    expected: fc.string({ unit: "binary", maxLength: 20 }),
  }),
);

function read(outcomes: LineOutcomes, error?: string): Record<string, unknown> {
  return JSON.parse([...outcomes.json(error)].join(""));
}

describe("the outcomes of lines", () => {
  it("are told line by line, in order", () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.integer({ min: 1, max: 3000 }).map(String), outcome),
        (lines) => {
          const outcomes = new LineOutcomes();
          const entries = Object.entries(lines);
          for (const [line, each] of entries.toReversed()) outcomes.set(Number(line), each);
          const count = (status: string) =>
            entries.filter(([, each]) => each.status === status).length;
          expect(read(outcomes)).toEqual({
            lines: entries.length,
            accepted: count("accepted"),
            duplicate: count("duplicate"),
            rejected: count("rejected"),
            results: entries.map(([line, each]) => ({ line: Number(line), ...each })),
          });
        },
      ),
    );
  });

  it("come with the error that ended a body, and with unknown types", () => {
    const outcomes = new LineOutcomes();
    outcomes.set(2, { status: "accepted", unknownType: "brand_new" });
    expect(read(outcomes, '{"code":"rate"}')).toEqual({
      lines: 1,
      accepted: 1,
      duplicate: 0,
      rejected: 0,
      results: [{ line: 2, status: "accepted", unknown_type: "brand_new" }],
      error: { code: "rate" },
    });
  });

  it("are text that any reader of JSON takes, with half a surrogate pair in a line or at a cut", () => {
    const outcomes = new LineOutcomes();
    outcomes.set(1, { status: "accepted", unknownType: "\ud83d" });
    outcomes.set(2, { status: "accepted", unknownType: `${"x".repeat(298)}😀😀` });
    outcomes.set(3, { status: "rejected", field: "\udc00_id", expected: "😀" });
    const text = [...outcomes.json()].join("");
    expect(text).not.toMatch(/\\ud[89a-f]/i);
    expect(JSON.parse(text).results).toEqual([
      { line: 1, status: "accepted", unknown_type: "\ufffd" },
      { line: 2, status: "accepted", unknown_type: `${"x".repeat(298)}\ufffd…` },
      { line: 3, status: "rejected", field: "\ufffd_id", expected: "😀" },
    ]);
  });

  it("keep a bounded number of reasons, and every status", () => {
    const outcomes = new LineOutcomes();
    for (let line = 1; line <= 3 * MOST_REASONS; line += 1) {
      if (line % 3 === 0) outcomes.set(line, { status: "accepted", unknownType: `t${line}` });
      else outcomes.set(line, { status: "rejected", field: "f", expected: `${line}`.repeat(500) });
    }
    const text = [...outcomes.json()].join("");
    expect(text.length).toBeLessThan(MOST_REASONS * 3 * 400);
    const { accepted, rejected, results } = JSON.parse(text);
    expect([accepted, rejected, results.length]).toEqual([1000, 2000, 3000]);
    expect(results.at(-2)).toEqual({
      line: 2999,
      status: "rejected",
      field: "line",
      expected: expect.stringContaining("at most 1000 different reasons"),
    });
    expect(results.at(-1)).toEqual({ line: 3000, status: "accepted" });
  });
});
