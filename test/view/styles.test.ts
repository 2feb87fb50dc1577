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
  it.each(["run", "overview", "timeline", "details", "graph", "talk"])(
    "share no class between list and %s",
    (file) => {
      const [list, run] = [classesOf("list"), classesOf(file)];
      expect(list.size).toBeGreaterThan(10);
      expect(run.size).toBeGreaterThan(3);
      expect([...list].filter((name) => run.has(name))).toEqual([]);
    },
  );

  it.each(["run", "overview", "timeline", "details", "graph"])(
    "share no class between %s and the conversation",
    (file) => {
      const talk = classesOf("talk");
      expect([...classesOf(file)].filter((name) => talk.has(name))).toEqual([]);
    },
  );
});
