import { existsSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { describe, expect, it } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import { PAGES, prose, ROOT, readPage } from "./pages.ts";

/** A heading's anchor, as the forges make it. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, "")
    .replaceAll(" ", "-");
}

function anchorsOf(path: string): string[] {
  return [...prose(readPage(path)).matchAll(/^#+ (.*)$/gm)].map(([, text = ""]) => anchorOf(text));
}

function linksOf(path: string): string[] {
  const text = prose(readPage(path));
  return [...text.matchAll(/\]\(([^)]+)\)|\bsrc(?:set)?="([^"]+)"/g)].map(
    ([, target = "", picture = target]) => picture,
  );
}

describe.each(PAGES)("%s", (path) => {
  it("has links that lead somewhere", () => {
    const broken = linksOf(path)
      .filter((target) => !target.startsWith("https://"))
      .filter((target) => {
        const [file = "", anchor] = target.split("#");
        const to = file === "" ? path : normalize(join(dirname(path), file));
        if (!existsSync(join(ROOT, to))) return true;
        return anchor !== undefined && !anchorsOf(to).includes(anchor);
      });
    expect(broken).toEqual([]);
  });

  it("names files and scripts that are there", () => {
    const text = readPage(path);
    const files = [
      ...text.matchAll(/`((?:src|test|docs|examples|recordings|scripts)\/[\w./-]*)`/g),
    ];
    const missing = files
      .map(([, file = ""]) => file)
      .filter((file) => !existsSync(join(ROOT, file)));
    expect(missing).toEqual([]);
    const scripts = [...text.matchAll(/npm run (?:-s )?([\w:]+)/g)].map(([, name = ""]) => name);
    expect(scripts.filter((name) => !Object.hasOwn(manifest.scripts, name))).toEqual([]);
  });
});

describe("the README", () => {
  it("is short, and leads to every page", () => {
    expect(readPage("README.md").split("\n").length).toBeLessThanOrEqual(150);
    const reached = new Set(["README.md"]);
    for (const page of reached) {
      const targets = linksOf(page).map((target) =>
        normalize(join(dirname(page), target.split("#")[0] ?? "")),
      );
      for (const target of targets) if (PAGES.includes(target)) reached.add(target);
    }
    const unlinked = PAGES.filter((path) => !reached.has(path));
    expect(unlinked).toEqual([]);
  });

  it("has the two commands", () => {
    expect(readPage("README.md")).toContain("\nnpm ci && npm run demo\nnpm ci && npm test\n");
  });
});
