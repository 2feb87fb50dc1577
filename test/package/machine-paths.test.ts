import { homedir } from "node:os";
import { describe, expect, it } from "vitest";

const module = new URL("../../scripts/check-package/machine-paths.mjs", import.meta.url).href;

/** What the package check finds in a text that was built in `/srv/build/project`. */
async function found(text: string): Promise<unknown> {
  const loaded: Readonly<Record<string, unknown>> = await import(module);
  const { machinePaths } = loaded;
  if (typeof machinePaths !== "function") throw new TypeError("machinePaths: expected a function");
  return machinePaths([{ path: "dist/index.mjs", text }], "/srv/build/project/");
}

/** Joined, so that this file names no such folder. */
const ANYBODYS_HOME = ["", "home", "somebody"].join("/");

describe("the check for folders of the machine that built the package", () => {
  it.each([
    ["the project's folder", 'const x = "/srv/build/project/src/index.ts"', "/srv/build/project"],
    ["this user's home", `//# source=file://${homedir()}/x`, homedir()],
    ["anybody's home", `require("${ANYBODYS_HOME}/x")`, ANYBODYS_HOME],
    ["a Mac", "/Users/some.body/code", "/Users/some.body"],
    ["Windows", "C:\\Users\\somebody", "C:\\Users\\"],
    ["Windows, in a string", "C:\\\\Users\\\\somebody", "C:\\\\Users\\\\"],
  ])("finds %s, with file and line", async (_, text, path) => {
    expect(await found(`first line\n${text}`)).toEqual([`dist/index.mjs:2: ${path}`]);
  });

  it.each([
    ["another folder that begins alike", "/srv/build/project-two/x"],
    ["a folder that ends alike", "old/srv/build/project"],
    ["a route", "GET /users/1 and /homepage"],
    ["temporary folders, which docs may name", "/tmp/audit"],
  ])("leaves %s alone", async (_, text) => {
    expect(await found(text)).toEqual([]);
  });
});
