import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { ROOT, readPage, tableRows } from "./pages.ts";

const ROWS = tableRows(readPage("test/README.md"));

it("the table of programs names tests that are there", () => {
  expect(ROWS.length).toBeGreaterThan(30);
  const missing = ROWS.filter(([, , file = "", test = ""]) => {
    const text = readFileSync(join(ROOT, "test", file), "utf8");
    return test === "" || !text.includes(`"${test}"`);
  });
  expect(missing).toEqual([]);
});
