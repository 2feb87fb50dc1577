import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { IdCache } from "../../../src/bridge/door.ts";
import { EventGate } from "../../../src/service/http/event-gate.ts";
import { Backlog } from "../../../src/service/http/journal-feed.ts";
import {
  type LineOutcome,
  LineOutcomes,
  LineWriter,
  MOST_REASONS,
} from "../../../src/service/http/line-outcomes.ts";
import type { DecodedLogLine } from "../../../src/service/processor/decode-log-line.ts";
import { MemoryJournal } from "./support/door.ts";

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
  return JSON.parse([...outcomes.json(error)()].join(""));
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
    const text = [...outcomes.json()()].join("");
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
    const text = [...outcomes.json()()].join("");
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

describe("the lines that senders collect", () => {
  const decoded: DecodedLogLine = { skipped: true, dialect: "defect" };
  const given = (number: number, text: string) => {
    const line = {
      text,
      tenant: "acme",
      dialect: "defect",
      key: undefined,
      trusted: false,
      decoded,
    };
    return { line, tenant: "acme", eventId: undefined, unknownType: undefined, number };
  };

  it("keep what was decoded, unless those of all senders are large", async () => {
    const journal = new MemoryJournal();
    const refusal = () => undefined;
    const parts = { journal, ids: new IdCache(10), backlog: new Backlog(), refusal };
    const gate = new EventGate({ ...parts, onAppend: () => {} });
    const [small, large] = [new LineWriter(gate, new LineOutcomes()), new LineOutcomes()];
    void small.add(given(1, "small"));
    expect(gate.collected).toBe(5);
    const big = new LineWriter(gate, large);
    let write = () => {};
    journal.before = () =>
      new Promise<void>((resolve) => {
        write = resolve;
      });
    const waits = big.add(given(1, "x".repeat(8 * 1024 * 1024)));
    void small.add(given(2, "after"));
    await waits;
    while (journal.appends === 0) await Promise.resolve();
    journal.before = async () => {};
    write();
    await Promise.all([small.end(), big.end()]);
    const kept = journal.lines.map(({ text, ...line }) => [text.slice(0, 5), line.decoded]);
    expect(new Map(kept.map(([text, value]) => [text, value]))).toEqual(
      new Map([
        ["xxxxx", decoded],
        ["small", decoded],
        ["after", undefined],
      ]),
    );
    expect(gate.collected).toBe(0);
    void small.add(given(3, "dropped"));
    small.drop();
    expect(gate.collected).toBe(0);
  });
});
