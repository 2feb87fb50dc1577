import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { indentedJson, parsedJson } from "../../../src/view/model/json-text.ts";
import { runs } from "../../support/runs.ts";

describe("indented JSON", () => {
  it("is what JSON.stringify writes", () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.array(fc.jsonValue()), fc.dictionary(fc.string(), fc.jsonValue())),
        (value) => {
          const text = JSON.stringify(value);
          expect(indentedJson(text)).toBe(JSON.stringify(JSON.parse(text), undefined, 2));
        },
      ),
      { numRuns: runs(300) },
    );
  });

  it("keeps all digits of a number", () => {
    expect(indentedJson('{"id":12345678901234567890123, "x": 1.50}')).toBe(
      '{\n  "id": 12345678901234567890123,\n  "x": 1.50\n}',
    );
  });

  it.each(["plain", "12", '"text"', "{cut", "", "[1,"])("is none of %j", (text) => {
    expect(indentedJson(text)).toBeUndefined();
  });
});

describe("the value of a JSON text", () => {
  it.each([
    ['{"a":[1]}', { a: [1] }],
    ['"text"', "text"],
    ["null", null],
    ["{cut", undefined],
    ["", undefined],
  ])("of %j is %j", (text, value) => {
    expect(parsedJson(text)).toEqual(value);
  });
});
