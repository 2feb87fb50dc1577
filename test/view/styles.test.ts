import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";

/** The names of the classes that a file of styles begins a rule with. */
function classesOf(file: string): ReadonlySet<string> {
  const path = new URL(`../../src/view/page/styles/${file}.css`, import.meta.url);
  const selectors = readFileSync(path, "utf8")
    .replace(/\/\*.*?\*\//gs, "")
    .matchAll(/(?:^|[{},;])\s*\.([\w-]+)/g);
  return new Set([...selectors].map(([, name = ""]) => name));
}

describe("the styles of the page, which are joined into one file", () => {
  it("share no class between the list and the run", () => {
    const [list, run] = [classesOf("list"), classesOf("run")];
    expect([list.size, run.size].every((size) => size > 10)).toBe(true);
    expect([...list].filter((name) => run.has(name))).toEqual([]);
  });
});
