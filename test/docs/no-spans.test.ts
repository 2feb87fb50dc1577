import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ROOT, readPage, section } from "./pages.ts";

const page = readPage("docs/no-spans.md");
const source = readdirSync(join(ROOT, "src"), { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".ts"))
  .map((name) => readPage(`src/${name.replaceAll("\\", "/")}`))
  .join("\n");

/** The texts in code marks of the first cell of each row. */
function messages(heading: string): readonly string[] {
  return section(page, heading)
    .split("\n")
    .flatMap((line) => /^\| ([^|]+) \|/.exec(line)?.[1] ?? [])
    .flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, text = ""]) => text));
}

describe("docs/no-spans.md", () => {
  it.each([
    ["A line on standard error", 16],
    ["The backend", 4],
  ])("%s: the code has each of the %i messages", (heading, count) => {
    const named = messages(heading);
    expect(named).toHaveLength(count);
    expect(named.filter((text) => !source.includes(text))).toEqual([]);
  });

  it("has each code of a warning, except that of other errors", () => {
    const [, union = ""] =
      /type NoticeCode =([^;]*);/.exec(readPage("src/events/notices.ts")) ?? [];
    const codes = [...union.matchAll(/"(ENTELIX_\w+)"/g)].map(([, code = ""]) => code);
    expect(codes.length).toBeGreaterThan(4);
    const named = messages("A line on standard error").filter((text) => /^ENTELIX_/.test(text));
    expect(named.toSorted()).toEqual(codes.filter((code) => code !== "ENTELIX_ERROR").toSorted());
  });
});
