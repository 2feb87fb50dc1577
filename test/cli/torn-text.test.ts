import { expect, it } from "vitest";
import { tornTexts } from "../../src/cli/services/reports.ts";

const place = { file: "/j/lines.log", line: 61, position: 900, offset: 60 };
const hint = 'journal: what to do: docs/operations.md, "Lines set aside"';

it("tells of places that are damaged, cut, or both", () => {
  expect(
    tornTexts([
      { ...place, bytes: 215, missing: 1, copy: "/j/torn/c" },
      { ...place, line: 70, offset: 69, bytes: 1, missing: 2, copy: "/j/torn/c" },
      { ...place, line: 91, offset: 90, bytes: 0, missing: undefined, copy: "/j/torn/c" },
    ]),
  ).toEqual([
    "journal: /j/lines.log, line 61: expected the record of offset 60 or the end mark, found 215 damaged bytes, copied to /j/torn/c; 1 line missing",
    "journal: /j/lines.log, line 70: expected the record of offset 69 or the end mark, found 1 damaged byte, copied to /j/torn/c; 2 lines missing",
    "journal: /j/lines.log, line 91: expected the record of offset 90 or the end mark, found neither; the number of missing lines is unknown",
    hint,
  ]);
});

it("tells of 20 places one by one, and of all others in one line", () => {
  const torn = Array.from({ length: 1000 }, (_, n) => ({
    ...place,
    line: n + 1,
    bytes: 10,
    missing: n === 999 ? undefined : 1,
    copy: "/j/torn/c",
  }));
  const texts = tornTexts(torn);
  expect(texts).toHaveLength(22);
  expect(texts.slice(20)).toEqual([
    "journal: /j/lines.log, line 21 and below: 980 more places like this, 9,800 bytes, 979 lines missing",
    hint,
  ]);
});
