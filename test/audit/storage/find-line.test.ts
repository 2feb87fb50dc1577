import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { findLine, MAX_LINE_BYTES } from "../../../src/audit/storage/file-lines.ts";
import { fileOf } from "./support/file-of.ts";

async function found(text: string, prefix: string, piece?: number, longest = MAX_LINE_BYTES) {
  return String(await findLine(await fileOf(Buffer.from(text), piece), prefix, longest));
}

describe("findLine", () => {
  it("finds what looking at every line finds, however the file is read", async () => {
    const unit = fc.constantFrom("a", "b", "é", "\n");
    const texts = fc.string({ unit, maxLength: 60 });
    const prefixes = fc.string({
      unit: fc.constantFrom("a", "b", "é"),
      minLength: 1,
      maxLength: 3,
    });
    await fc.assert(
      fc.asyncProperty(texts, prefixes, fc.integer({ min: 1, max: 9 }), async (text, prefix, n) => {
        const whole = text.split("\n").slice(0, -1);
        const expected = whole.find((line) => line.startsWith(prefix));
        expect(await found(text, prefix, n)).toBe(String(expected));
      }),
    );
  });

  it("finds one that is cut by the end of what is read at once, and one longer than that", async () => {
    const before = `x${"-".repeat(99)}\n`.repeat(2_621);
    for (const rest of ["", "é".repeat(300_000)]) {
      const line = `{"name":"sought"${rest}`;
      expect(await found(`${before}${line}\n${before}`, '{"name":"so')).toBe(line);
    }
  });

  it("finds nothing behind one that is longer than any may be", async () => {
    const long = "x".repeat(600_000);
    expect(await found(`${long}\nwanted\n`, "wanted")).toBe("wanted");
    expect(await found(`${long}\nwanted\n`, "wanted", undefined, 300_000)).toBe("undefined");
  });
});
