import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { nodeFileLayer } from "../../../src/audit/storage/node-file-layer.ts";

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "entelix-otel-files-"));
});
afterEach(() => rmSync(root, { recursive: true }));

const read = (name: string) => nodeFileLayer.open(join(root, name), "read");

describe("a file that is read", () => {
  it("may be behind a link", async () => {
    writeFileSync(join(root, "file"), "abc");
    symlinkSync("file", join(root, "link"));
    const file = await read("link");
    const into = new Uint8Array(3);
    expect([await file?.size(), await file?.read(into, 0), String(Buffer.from(into))]).toEqual([
      3,
      3,
      "abc",
    ]);
    await file?.close();
  });

  it("is none where nothing is", async () => {
    expect(await read("absent")).toBeUndefined();
  });

  it("is said not to be one where a directory is", async () => {
    mkdirSync(join(root, "folder"));
    await expect(read("folder")).rejects.toThrow(
      `${join(root, "folder")}: expected a file, got a directory`,
    );
  });

  it.runIf(process.platform !== "win32")("is not waited for where a named pipe is", async () => {
    execFileSync("mkfifo", [join(root, "pipe")]);
    await expect(read("pipe")).rejects.toThrow(
      `${join(root, "pipe")}: expected a file, got a named pipe`,
    );
  });

  it.runIf(process.platform !== "win32")("nor where one is to be written", async () => {
    execFileSync("mkfifo", [join(root, "pipe")]);
    for (const mode of ["update", "create"] as const) {
      await expect(nodeFileLayer.open(join(root, "pipe"), mode)).rejects.toThrow(
        `${join(root, "pipe")}: expected a file, got a named pipe`,
      );
    }
  });
});
