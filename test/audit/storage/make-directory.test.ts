import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { nodeFileLayer } from "../../../src/audit/storage/node-file-layer.ts";

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "entelix-otel-mkdir-"));
});
afterEach(() => rmSync(root, { recursive: true }));

const make = (path: string) => nodeFileLayer.makeDirectory(path);

describe("making a folder", () => {
  it("makes those above it too, each for the owner alone", async () => {
    await make(join(root, "a/b/../b/c/"));
    const modes = ["a", "a/b", "a/b/c"].map((path) => statSync(join(root, path)).mode & 0o777);
    expect(modes).toEqual([0o700, 0o700, 0o700]);
  });

  it("takes one that is there, the topmost and one behind a link too", async () => {
    mkdirSync(join(root, "a"));
    symlinkSync(join(root, "a"), join(root, "link"));
    await make(join(root, "a"));
    await make("/");
    await make(join(root, "link/b"));
    expect(statSync(join(root, "a/b")).isDirectory()).toBe(true);
  });

  it("lets many make the same one at a time", async () => {
    await Promise.all(Array.from({ length: 20 }, () => make(join(root, "a/b/c/d"))));
    expect(statSync(join(root, "a/b/c/d")).isDirectory()).toBe(true);
  });

  it.each([
    ["file", "EEXIST", "expected a directory, got a file"],
    ["file/a", "ENOTDIR", "not a directory"],
    ["file/a/b", "ENOTDIR", "not a directory"],
  ])("says what is in the way of %s", async (path, code, said) => {
    writeFileSync(join(root, "file"), "");
    const failed = make(join(root, path));
    await expect(failed).rejects.toMatchObject({ code, message: expect.stringContaining(said) });
  });

  // The system's own way of making all of them asked there for ever, with a core of the machine.
  it.skipIf(!existsSync("/proc/self/stat")).each(["/proc/entelix", "/proc/entelix/log"])(
    "gives up on %s, where nothing can be made",
    async (path) => {
      await expect(make(path)).rejects.toMatchObject({
        code: "ENOENT",
        message: "/proc/entelix: no folder can be made in /proc",
      });
    },
  );
});
