import { describe, expect, it } from "vitest";
import { FAMILIES } from "../hostile/families.ts";
import { HARMS } from "../hostile/harm.ts";
import { readPage } from "./pages.ts";

const page = readPage("docs/hostile-trials.md");
const [head = [], , ...rows] = page
  .split("\n")
  .filter((line) => line.startsWith("|"))
  .map((line) =>
    line
      .slice(1, -1)
      .split("|")
      .map((cell) => cell.trim()),
  );

describe("the figures of the hostile trials", () => {
  it("are those of every family", () => {
    const names = rows.map(([family]) => family);
    expect([...new Set(names)]).toEqual([...FAMILIES.map(({ name }) => name), "all"]);
  });

  it("have a column for everything that must not happen", () => {
    expect(head.slice(-HARMS.length)).toEqual([...HARMS]);
    expect(rows.filter((row) => row.length !== head.length)).toEqual([]);
  });
});
