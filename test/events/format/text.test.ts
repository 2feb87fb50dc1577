import { describe, expect, it } from "vitest";
import { cut, safe, safeLines } from "../../../src/events/format/text.ts";

describe("text from outside", () => {
  it.each([
    ["\x1b[31mred\x1b[0m", "\\x1b[31mred\\x1b[0m"],
    ["a\u202egnp.exe", "a\\u202egnp.exe"],
    ["\u2066a\u2069\u200f", "\\u2066a\\u2069\\u200f"],
    ["a\r\n\tb\0", "a\\r\\n\\tb\\x00"],
    ["\u2028\ufeff\u{e0041}", "\\u2028\\ufeff\\u{e0041}"],
    ["half \ud83d", "half \\ud83d"],
    ["<b>&amp;</b> مرحبا 👩‍👩‍👧", "<b>&amp;</b> مرحبا 👩‍👩‍👧"],
  ])("%j is %j on one line", (text, shown) => {
    expect(safe(text)).toBe(shown);
  });

  it("keeps its line breaks and tabs where it has lines", () => {
    expect(safeLines("a\r\n\tb\x1b\rc\u202e")).toBe("a\n\tb\\x1b\\rc\\u202e");
  });

  it("is cut, and never inside of a character of two units", () => {
    expect([cut("abc", 3), cut("abcd", 3), cut("ab👍", 3), cut("", 0)]).toEqual([
      { text: "abc", isCut: false },
      { text: "abc", isCut: true },
      { text: "ab", isCut: true },
      { text: "", isCut: false },
    ]);
  });
});
