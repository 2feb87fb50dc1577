import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fitText } from "../../../src/view/model/fit-text.ts";
import { runs } from "../../support/runs.ts";

/** Wide letters are three times as wide as others. */
const widthOf = (text: string) =>
  [...text].reduce((sum, letter) => sum + (letter === "W" ? 3 : 1), 0);

describe("a text in a box", () => {
  it("is cut by its width, not by its letters", () => {
    expect(fitText("WWWW", 12, widthOf)).toBe("WWWW");
    expect(fitText("WWWWW", 12, widthOf)).toBe("WWW…");
    expect(fitText("iiiiiiiiiiiiii", 12, widthOf)).toBe("iiiiiiiiiii…");
  });

  it("has as many letters as fit", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom("W", "i"), maxLength: 30 }),
        fc.integer({ min: 1, max: 60 }),
        (text, width) => {
          const shown = fitText(text, width, widthOf);
          expect(widthOf(shown)).toBeLessThanOrEqual(Math.max(width, 1));
          if (shown === text) return;
          const next = `${text.slice(0, shown.length)}…`;
          expect(next.length > text.length || widthOf(next) > width).toBe(true);
        },
      ),
      { numRuns: runs(200) },
    );
  });
});
