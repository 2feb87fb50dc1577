import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { longestRise } from "../../../src/service/journal/scan-segment.ts";
import { runs } from "../../support/runs.ts";
import { entriesOf } from "./support/disk-image.ts";
import { NAME, opened, PATH, refusal, written } from "./support/killed-journal.ts";

/** Something that happens to bytes of the file. */
type Harm =
  | { readonly do: "flip"; readonly at: number; readonly bit: number }
  | { readonly do: "zeros" | "drop"; readonly at: number; readonly count: number }
  | { readonly do: "copy"; readonly at: number; readonly from: number; readonly count: number };

const share = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
const count = fc.oneof(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 20, max: 600 }));
const harm: fc.Arbitrary<Harm> = fc.oneof(
  fc.record({ do: fc.constant("flip" as const), at: share, bit: fc.nat({ max: 7 }) }),
  fc.record({ do: fc.constantFrom("zeros" as const, "drop" as const), at: share, count }),
  fc.record({ do: fc.constant("copy" as const), at: share, from: share, count }),
);

function harmed(bytes: Buffer, harms: readonly Harm[]): Buffer {
  let damaged: Buffer = Buffer.from(bytes);
  for (const each of harms) {
    const at = Math.floor(each.at * damaged.length);
    switch (each.do) {
      case "flip":
        damaged[at] = (damaged[at] ?? 0) ^ (1 << each.bit);
        break;
      case "zeros":
        damaged.fill(0, at, Math.min(damaged.length, at + each.count));
        break;
      case "drop":
        damaged = Buffer.concat([damaged.subarray(0, at), damaged.subarray(at + each.count)]);
        break;
      case "copy": {
        const from = Math.floor(each.from * damaged.length);
        Buffer.from(damaged.subarray(from, from + each.count)).copy(damaged, at);
        break;
      }
      default:
        throw new TypeError(`no such harm: ${String(each satisfies never)}`);
    }
  }
  return damaged;
}

describe("any harm", () => {
  it("changes no line, and names each that is gone", async () => {
    const figures = { refused: 0, opened: 0, holes: 0 };
    const counts = fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 4 });
    const harms = fc.array(harm, { minLength: 1, maxLength: 4 });
    const property = fc.asyncProperty(counts, harms, fc.boolean(), async (counts, harms, each) => {
      const image = await written(...(each ? counts : [counts.reduce((a, b) => a + b)]));
      const bytes = image.get(NAME) ?? Buffer.alloc(0);
      const damaged = harmed(bytes, harms);
      const intact = new Set(damaged.toString("latin1").split("\n").slice(0, -1));
      const entries = entriesOf(bytes).filter(({ text }) => text !== undefined);
      const left = entries.filter(({ end, start }) =>
        intact.has(bytes.toString("latin1", start, end - 1)),
      );
      const gone = entries.filter((entry) => !left.includes(entry)).map(({ offset }) => offset);
      const safe = Math.max(0, ...left.map(({ write }) => write));
      const inPlace = harms.every(({ do: what }) => what === "flip" || what === "zeros");
      const harmedImage = new Map(image).set(NAME, damaged);
      const refused = await refusal(harmedImage);
      if (refused !== undefined) {
        figures.refused += 1;
        expect(refused.file).toBe(PATH);
        if (inPlace) expect(gone.some((offset) => offset < safe)).toBe(true);
        return;
      }
      figures.opened += 1;
      expect(gone.filter((offset) => offset < safe)).toEqual([]);
      const { next, offsets, torn } = await opened(harmedImage);
      const named = (offset: number) =>
        torn.some(
          ({ missing, offset: at }) => at <= offset && offset < at + (missing ?? entries.length),
        );
      const unread = entries.filter(({ offset }) => !offsets.includes(offset));
      expect(unread.filter(({ offset }) => !named(offset))).toEqual([]);
      // Lines that only stand in another place may be set aside with what is damaged there.
      if (inPlace) expect(unread.map(({ offset }) => offset)).toEqual(gone);
      if (offsets.length < next) figures.holes += 1;
    });
    await fc.assert(property, { numRuns: runs(600) });
    expect(Math.min(figures.refused, figures.opened, figures.holes)).toBeGreaterThan(
      runs(600) / 10,
    );
  });
});

describe("the longest rise", () => {
  it("rises, and none is longer", () => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 12 }), { maxLength: 14 }), (numbers) => {
        const rise = longestRise(numbers);
        for (const [n, at] of rise.entries()) {
          if (n === 0) continue;
          const before = rise[n - 1] ?? 0;
          expect(before < at && (numbers[before] ?? 0) < (numbers[at] ?? 0)).toBe(true);
        }
        const longest: number[] = [];
        for (const [at, number] of numbers.entries()) {
          const shorter = longest.filter((_, n) => (numbers[n] ?? 0) < number);
          longest[at] = Math.max(0, ...shorter) + 1;
        }
        expect(rise.length).toBe(Math.max(0, ...longest));
      }),
    );
  });
});
