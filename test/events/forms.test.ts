import { describe, expect, expectTypeOf, it } from "vitest";
import {
  count,
  type FieldIssue,
  type Form,
  flag,
  type Infer,
  json,
  list,
  name,
  nullish,
  oneOf,
  oneOfElse,
  openWord,
  optional,
  text,
  withoutNull,
} from "../../src/events/forms.ts";
import { record, tagged } from "../../src/events/object-forms.ts";

const CALL = record({
  id: name,
  tries: nullish(count),
  notes: optional(list(text)),
  status: withoutNull(oneOfElse(["done", "failed"], "failed")),
});
const EVENT = tagged(
  "type",
  {
    call: CALL,
    calls: record({ calls: list(record({ kind: openWord(["read", "edit"]) })), raw: json }),
    flag: record({ on: flag, level: oneOf(["low", "high"]) }, "a flag"),
    unknown: record({}),
  },
  { adaptUnknown: (given) => ({ ...given, type: "unknown" }), reserved: "unknown" },
);

function issuesOf(form: Form<unknown>, value: unknown): readonly FieldIssue[] {
  const issues: FieldIssue[] = [];
  form.explain(value, "", issues);
  return issues;
}

function adapted(value: unknown): { readonly value: unknown; readonly found: readonly string[] } {
  const found: string[] = [];
  return { value: EVENT.adapt?.(value, found), found };
}

describe("the forms of JSON values", () => {
  it("infer the type of a value", () => {
    expectTypeOf<Infer<typeof CALL>>().toEqualTypeOf<{
      readonly id: string;
      readonly tries?: number | bigint | null;
      readonly notes?: readonly string[];
      readonly status?: "done" | "failed";
    }>();
    expectTypeOf<Extract<Infer<typeof EVENT>, { type: "flag" }>>().toEqualTypeOf<{
      readonly type: "flag";
      readonly on: boolean;
      readonly level: "low" | "high";
    }>();
  });

  it.each([
    [{ type: "call", id: "c" }, []],
    [{ type: "call", id: "c", tries: null, notes: [], other: 1 }, []],
    [{ type: "call", id: "c", tries: 2n ** 60n }, []],
    ["call", [["", "a JSON object"]]],
    [{ type: "other" }, [["type", "one of call, calls, flag, unknown"]]],
    [
      { type: "call", id: "", tries: -1, notes: null, status: "new" },
      [
        ["id", "non-empty text"],
        ["tries", "a whole number from 0, or null"],
        ["notes", "a list"],
        ["status", "one of done, failed"],
      ],
    ],
    [{ type: "call", id: "c", notes: ["a", 1] }, [["notes[1]", "text"]]],
    [{ type: "calls", calls: [{ kind: 1 }], raw: null }, [["calls[0].kind", "text"]]],
    [{ type: "calls", calls: [] }, [["raw", "a JSON value (null where it was left out)"]]],
    [
      { type: "flag", on: "true" },
      [
        ["on", "true or false"],
        ["level", "one of low, high"],
      ],
    ],
  ])("say what is wrong with %o", (value, issues) => {
    expect(issuesOf(EVENT, value)).toEqual(
      issues.map(([field, expected]) => ({ field, expected })),
    );
    expect(EVENT.fits(value)).toBe(issues.length === 0);
  });

  it("keep their own words for what is wrong inside a value that may be null", () => {
    const form = record({ inner: nullish(record({ id: text }, "an object with id")) });
    expect(issuesOf(form, { inner: 1 })).toEqual([
      { field: "inner", expected: "an object with id, or null" },
    ]);
    expect(issuesOf(form, { inner: {} })).toEqual([{ field: "inner.id", expected: "text" }]);
  });

  it("list at most 20 issues", () => {
    expect(issuesOf(list(text), new Array(50).fill(1))).toHaveLength(20);
  });

  it.each([
    [{ type: "call", status: "new" }, { type: "call", status: "failed" }, ["status=new"]],
    [{ type: "call", status: null }, { type: "call" }, []],
    [{ type: "new", id: 1 }, { type: "unknown", id: 1 }, ["type=new"]],
    [{ type: "unknown" }, { type: "unknown" }, ["type=unknown"]],
    [
      { type: "calls", calls: [{ kind: "read" }, { kind: "x".repeat(80) }] },
      { type: "calls", calls: [{ kind: "read" }, { kind: "x".repeat(80) }] },
      [`calls.kind=${"x".repeat(60)}`],
    ],
  ])("adapt what a newer agent added: %o", (value, known, found) => {
    expect(adapted(value)).toEqual({ value: known, found });
  });

  it("hand back the same object where there is nothing to adapt", () => {
    const value = { type: "calls", calls: [{ kind: "new" }] };
    expect(adapted(value).value).toBe(value);
  });

  it("write the declared fields in their order, and keep what is not declared", () => {
    expect(EVENT.write({ status: "done", id: "c", type: "call" })).toBe(
      '{"type":"call","id":"c","status":"done"}',
    );
    expect(EVENT.write({ id: "c", other: 2n ** 60n, type: "call" })).toBe(
      '{"id":"c","other":1152921504606846976,"type":"call"}',
    );
    expect(record({ tries: optional(count, "0") }).write({})).toBe('{"tries":0}');
  });
});
