import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { Readable, Writable } from "node:stream";
import { finished } from "node:stream/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { JsonValue } from "../../events/door.ts";
import { isJsonObject } from "../../replay/door.ts";
import { CliError } from "../cli-error.ts";
import { endBy } from "../services/signals.ts";
import { safe } from "../terminal/text.ts";
import type { Finding } from "./finding.ts";

/** What loading a file may take, in s: a setup that asks others for its secrets needs a few. */
export const LOADING_S = 30;

/** Beside this module once it is built. */
const PROGRAM = fileURLToPath(new URL("./doctor-setup.mjs", import.meta.url));

/** What the file has printed may take so long to arrive, in ms. */
const PRINTING_MS = 500;

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** A file may be a whole program in place of its setup. */
const SETUP_ALONE = "Name the file that sets tracing up, and does nothing else.";

/**
 * Loads a file of the application, which sets its tracing up, and looks at what it registered. That happens in a
 * process of its own, which is ended then, with all that it has begun: a file may compute without end, end its
 * process, or serve. What the file prints goes to standard error.
 *
 * @param limitS what loading may take.
 * @throws CliError when the file can't be loaded, or not within its time.
 */
export async function inspectSetup(file: string, limitS: number): Promise<readonly Finding[]> {
  const path = resolve(file);
  const fail = (why: string, hint?: string) =>
    new CliError(`--import: ${safe(file)}: ${safe(why)}`, hint);
  if (!existsSync(path)) throw fail("no such file");
  const child = spawn(process.execPath, [...process.execArgv, PROGRAM, path], {
    stdio: ["ignore", "pipe", "pipe", "pipe"],
    // The leader of a group of processes, so that what the file starts can be ended with it.
    detached: process.platform !== "win32",
  });
  const [, stdout, stderr, results] = child.stdio;
  const printed = [stdout, stderr].filter(isReadable).map((stream) => {
    stream.pipe(process.stderr, { end: false });
    return finished(stream).catch(() => {});
  });
  child.on("exit", () => endGroup(child)).on("error", () => results?.destroy());
  const onSignal = (signal: (typeof SIGNALS)[number]) => {
    endGroup(child);
    endBy(signal);
  };
  for (const signal of SIGNALS) process.once(signal, onSignal);
  const over = new AbortController();
  try {
    const late = sleep(1_000 * limitS, "late" as const, { signal: over.signal }).catch(
      () => "late" as const,
    );
    const line = await Promise.race([firstLine(results), late]);
    if (line === "late") {
      throw fail(
        `it is not loaded after ${limitS} s`,
        `It serves, computes without end, or awaits what does not come. ${SETUP_ALONE}`,
      );
    }
    const result = line === undefined ? undefined : parse(line);
    if (isJsonObject(result) && typeof result.error === "string") throw fail(result.error);
    if (isJsonObject(result) && Array.isArray(result.findings)) {
      return result.findings.filter(isFinding);
    }
    throw fail("it ended the process before it was loaded", SETUP_ALONE);
  } finally {
    over.abort();
    for (const signal of SIGNALS) process.off(signal, onSignal);
    endGroup(child);
    // What the file said of its trouble. A process that left the group may hold the other ends open.
    await Promise.race([Promise.all(printed), sleep(PRINTING_MS)]);
    for (const stream of child.stdio) stream?.destroy();
  }
}

function endGroup(child: ChildProcess): void {
  try {
    if (process.platform === "win32" || child.pid === undefined) child.kill("SIGKILL");
    else process.kill(-child.pid, "SIGKILL");
  } catch {
    // None of it is left.
  }
}

/** @returns `undefined` when the stream ends before one. */
async function firstLine(stream: Readable | Writable | null | undefined) {
  if (!isReadable(stream)) return undefined;
  let text = "";
  try {
    for await (const part of stream.setEncoding("utf8")) {
      text += part;
      const end = text.indexOf("\n");
      if (end >= 0) return text.slice(0, end);
    }
  } catch {
    // It was closed.
  }
  return undefined;
}

function isReadable(stream: Readable | Writable | null | undefined): stream is Readable {
  return stream !== null && stream !== undefined && "setEncoding" in stream;
}

function parse(text: string): JsonValue {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function isFinding(value: unknown): value is Finding {
  if (typeof value !== "object" || value === null) return false;
  const { advice, level, what }: Readonly<Record<string, unknown>> = { ...value };
  return (
    (level === "ok" || level === "note" || level === "problem") &&
    typeof what === "string" &&
    (advice === undefined || typeof advice === "string")
  );
}
