import { describe, expect, it } from "vitest";
import { recordLines } from "../../../src/service/kafka/record-lines.ts";
import { record } from "./records.ts";

const RULES = { dialect: undefined, dialects: ["entelix", "graph"], trusted: true };

function headers(...pairs: [string, string | null][]) {
  return pairs.map(
    ([name, text]) => [Buffer.from(name), text === null ? null : Buffer.from(text)] as const,
  );
}

function issuesOf(fields: Parameters<typeof record>[0]) {
  const read = recordLines(record(fields), RULES);
  return "issues" in read ? read.issues : undefined;
}

describe("recordLines", () => {
  it("reads a record as one line, with the broker's own place and time", () => {
    expect(recordLines(record({ value: Buffer.from('{"type":"started"}') }), RULES)).toEqual({
      lines: [
        {
          offset: 7,
          text: '{"type":"started"}',
          tenant: undefined,
          dialect: undefined,
          key: "run-1",
          trusted: true,
          arrivedMs: 1_700_000_000_000,
        },
      ],
    });
  });

  it("reads several lines of one record at the same offset, without the blank ones", () => {
    const read = recordLines(record({ value: Buffer.from('{"a":1}\n\n{"b":2}\r\n') }), RULES);
    expect("lines" in read && read.lines.map(({ offset, text }) => [offset, text.trim()])).toEqual([
      [7, '{"a":1}'],
      [7, '{"b":2}'],
    ]);
  });

  it("takes tenant and dialect from the last header of that name", () => {
    const read = recordLines(
      record({
        headers: headers(
          ["entelix-tenant", "globex"],
          ["entelix-dialect", "graph"],
          ["entelix-tenant", "acme"],
        ),
      }),
      { ...RULES, dialect: "entelix", trusted: false },
    );
    expect(read).toMatchObject({
      lines: [{ tenant: "acme", dialect: "graph", trusted: false }],
    });
  });

  it("refuses a tenant that is too long for any row, and remembers no long keys as they are", () => {
    const tenant = (length: number) => headers(["entelix-tenant", "t".repeat(length)]);
    expect(issuesOf({ headers: tenant(4_097) })).toEqual([
      { field: "entelix-tenant", expected: "at most 4,096 characters" },
    ]);
    expect(issuesOf({ headers: tenant(4_096) })).toBeUndefined();
    const keyOf = (key: Buffer) => {
      const read = recordLines(record({ key }), RULES);
      return "lines" in read ? read.lines[0]?.key : undefined;
    };
    const long = Buffer.alloc(1_000_000, "k");
    expect(keyOf(long)).toHaveLength(44);
    expect(keyOf(long)).not.toBe(keyOf(long.subarray(1)));
    expect(keyOf(long.subarray(0, 4_096))).toBe("k".repeat(4_096));
  });

  it("takes the dialect of the option where no header says one", () => {
    expect(recordLines(record(), { ...RULES, dialect: "entelix" })).toMatchObject({
      lines: [{ dialect: "entelix" }],
    });
  });

  it.each([
    [{ value: null }, "value", /got none/],
    [{ value: Buffer.from(" \n ") }, "value", /got a blank/],
    [{ value: Buffer.alloc(0) }, "value", /got a blank/],
    [{ value: Buffer.from([0x7b, 0xff, 0x7d]) }, "value", /UTF-8/],
    [{ headers: headers(["entelix-dialect", "klingon"]) }, "entelix-dialect", /entelix, graph/],
    [{ headers: headers(["entelix-tenant", ""]) }, "entelix-tenant", /a tenant/],
  ] as const)("refuses %o, naming the field", (fields, field, expected) => {
    expect(issuesOf(fields)).toEqual([{ field, expected: expect.stringMatching(expected) }]);
  });
});
