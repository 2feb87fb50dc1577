import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { MAIN } from "../cli/support/command.ts";

/** Files that a built file imports before it runs, and theirs. */
function importedBy(start: string): ReadonlySet<string> {
  const files = new Set([start]);
  for (const file of files) {
    // Minified: `import{a as b}from"./c.mjs"`, `export{a}from"./c.mjs"`, `import"./c.mjs"`.
    const imports = readFileSync(file, "utf8").matchAll(
      /(?:^|;|\n)(?:import|export)\s*(?:[\w$*{][^"';()]*from)?\s*["'](\.[^"']+)["']/g,
    );
    for (const [, from = ""] of imports) files.add(join(dirname(file), from));
  }
  return files;
}

describe("the built command", () => {
  it("needs few files for its help, without OpenTelemetry", () => {
    const files = [...importedBy(MAIN)];
    const texts = files.map((file) => readFileSync(file, "utf8"));
    expect(texts[0]).toMatch(/import\(["'`]\.\/serve-[\w-]+\.mjs["'`]\)/);
    // 32 KiB: the list of commands, help, checks of arguments, and the terminal.
    expect(texts.reduce((sum, { length }) => sum + length, 0)).toBeLessThan(32 * 1024);
    expect(
      texts.filter((text) => /TracerProvider|createServer|NumberFormat\("/.test(text)),
    ).toEqual([]);
  });
});
