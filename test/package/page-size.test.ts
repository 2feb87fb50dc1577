import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { expect, it } from "vitest";

/** What the page of `view` and `report` may weigh with gzip, in KiB: its script, framework and styles. */
const MOST = 120;

const gzipped = (name: string) =>
  gzipSync(readFileSync(new URL(`../../dist/view/${name}`, import.meta.url))).length;

it("the page weighs no more than it may, and is all there", () => {
  const sizes = [gzipped("page.js"), gzipped("page.css")] as const;
  expect((sizes[0] + sizes[1]) / 1024).toBeLessThanOrEqual(MOST);
  // An empty bundle would weigh nothing.
  expect(sizes[0]).toBeGreaterThan(3_000);
});

it("the page asks for nothing beside itself", () => {
  const script = readFileSync(new URL("../../dist/view/page.js", import.meta.url), "utf8");
  const style = readFileSync(new URL("../../dist/view/page.css", import.meta.url), "utf8");
  expect(script).not.toMatch(/\bimport\s*[({"'*]|\bfrom\s*["']/);
  expect(script).not.toMatch(/\beval\(|new Function\(/);
  expect(style).not.toMatch(/@import|url\(|<\/style/i);
});
