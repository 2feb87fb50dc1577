import { execFileSync } from "node:child_process";
import { constants, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  fileBytes,
  inputBytes,
  inputText,
  openFile,
} from "../../../src/audit/storage/open-input.ts";

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "entelix-otel-input-"));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function named(name: string): string {
  const path = join(root, name);
  if (name === "pipe") execFileSync("mkfifo", [path]);
  if (name === "zero") symlinkSync("/dev/zero", path);
  if (name === "file") writeFileSync(path, "text");
  return path;
}

/** The other end of a pipe that somebody reads. */
async function writer(path: string): Promise<FileHandle> {
  for (;;) {
    const handle = await open(path, constants.O_WRONLY | constants.O_NONBLOCK).catch(() => {});
    if (handle !== undefined) return handle;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

async function text(bytes: AsyncIterable<Buffer>): Promise<string> {
  let all = "";
  for await (const piece of bytes) all += piece.toString();
  return all;
}

describe("an input that a user has named", () => {
  it("is a file, or the null device", async () => {
    expect(await inputText(named("file"))).toBe("text");
    expect(await inputText("/dev/null")).toBe("");
  });

  it("is a pipe, which is waited for, and said to be", async () => {
    const path = named("pipe");
    let waiting = (_: string) => {};
    const told = new Promise<string>((resolve) => {
      waiting = resolve;
    });
    const read = inputText(path, waiting);
    expect(await told).toBe(`${path}: waiting, since nothing has been written to this pipe yet`);
    const end = await writer(path);
    await end.write("one ");
    await end.write("two");
    await end.close();
    expect(await read).toBe("one two");
  });

  it("holds no thread up while it is waited for", async () => {
    const path = named("pipe");
    // More of them than there are threads that open files.
    const reads = Array.from({ length: 8 }, () => inputText(path));
    expect(await inputText(named("file"))).toBe("text");
    const end = await writer(path);
    await end.close();
    expect(await Promise.all(reads)).toEqual(Array(8).fill(""));
  });

  it("is nothing that never ends, or can't be read", async () => {
    await expect(inputText(named("zero"))).rejects.toThrow("expected a file, got a device");
    await expect(inputText(root)).rejects.toThrow("expected a file, got a directory");
    const path = join(root, "socket");
    const server = createServer().listen(path);
    await new Promise((listening) => server.once("listening", listening));
    await expect(inputText(path)).rejects.toThrow("expected a file, got a socket");
    await new Promise((closed) => server.close(closed));
    await expect(text(inputBytes(join(root, "nothing")))).rejects.toThrow("ENOENT");
  });
});

describe("a file that nobody has named", () => {
  it("is a file, and nothing else", async () => {
    expect(await text(fileBytes(named("file")))).toBe("text");
    await expect(text(fileBytes(named("pipe")))).rejects.toThrow(
      "expected a file, got a named pipe",
    );
    await expect(openFile(named("zero"))).rejects.toThrow("expected a file, got a device");
    await expect(openFile("/dev/null")).rejects.toThrow("expected a file, got a device");
  });
});
