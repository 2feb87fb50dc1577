import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { finished } from "node:stream/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { JsonValue } from "../../events/door.ts";
import { isJsonObject } from "../../replay/door.ts";
import { CliError } from "../cli-error.ts";
import { endBy } from "../services/signals.ts";
import { safe } from "../terminal/text.ts";
import type { Finding } from "./finding.ts";

/** Default time limit for loading the file, in s. */
export const LOADING_S = 30;

/** `setup-program.ts`, built beside this module. */
const PROGRAM = fileURLToPath(new URL("./doctor-setup.mjs", import.meta.url));

/** How long to wait for the last output of the file, in ms. */
const PRINTING_MS = 500;

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** What the file's setup is. */
export interface InspectedSetup {
  readonly findings: readonly Finding[];
  /** Whether it is a setup of this package. The endpoint of others is not known. */
  readonly isOurs: boolean;
  /** The `endpoint` in the file's code; `undefined`: as the variables say. */
  readonly endpoint: string | undefined;
  /** The `headers` in the file's code. */
  readonly headers: Readonly<Record<string, string>>;
}

const SETUP_ALONE = "Use a file that only sets up tracing.";

/**
 * Loads the application's file that sets up tracing, in a separate process, and checks the providers that it
 * registers. That process and its child processes are then killed, because the file may start a server. Output of
 * the file goes to standard error.
 *
 * @param limitS time limit for loading, in s.
 * @throws CliError when the file cannot be loaded, or not within the limit.
 */
export async function inspectSetup(file: string, limitS: number): Promise<InspectedSetup> {
  const path = resolve(file);
  const fail = (why: string, hint?: string) =>
    new CliError(`--import: ${safe(file)}: ${safe(why)}`, hint);
  if (!existsSync(path)) throw fail("no such file");
  const child = spawn(process.execPath, [...process.execArgv, PROGRAM, path], {
    stdio: ["ignore", "pipe", "pipe", "pipe"],
    // It leads a process group, so that its child processes can be killed too.
    detached: process.platform !== "win32",
  });
  const [stdout, stderr, results] = child.stdio.filter((stream) => stream instanceof Readable);
  const printed = [stdout, stderr].map((stream) => {
    stream?.pipe(process.stderr, { end: false });
    return stream && finished(stream).catch(() => {});
  });
  child.on("exit", () => killGroup(child)).on("error", () => results?.destroy());
  const onSignal = (signal: (typeof SIGNALS)[number]) => {
    killGroup(child);
    endBy(signal);
  };
  for (const signal of SIGNALS) process.once(signal, onSignal);
  let late = false;
  const timer = setTimeout(() => {
    late = true;
    killGroup(child);
  }, 1_000 * limitS);
  try {
    const result = results === undefined ? null : parse(await text(results).catch(() => ""));
    if (late) {
      throw fail(
        `expected it to load within ${limitS} s`,
        `It starts a server, computes for too long, or waits. ${SETUP_ALONE}`,
      );
    }
    if (isJsonObject(result) && typeof result.error === "string") throw fail(result.error);
    if (isJsonObject(result) && Array.isArray(result.findings)) {
      const { endpoint, findings, headers, isOurs } = result;
      return {
        findings: findings.filter(isFinding),
        isOurs: isOurs === true,
        endpoint: typeof endpoint === "string" ? endpoint : undefined,
        headers: isJsonObject(headers) ? texts(headers) : {},
      };
    }
    throw fail("it ended the process before it was loaded", SETUP_ALONE);
  } finally {
    clearTimeout(timer);
    for (const signal of SIGNALS) process.off(signal, onSignal);
    killGroup(child);
    // Shows the last output. A process that left the group may hold these pipes open.
    await Promise.race([Promise.all(printed), sleep(PRINTING_MS)]);
    for (const stream of child.stdio) stream?.destroy();
  }
}

function killGroup(child: ChildProcess): void {
  try {
    if (process.platform === "win32" || child.pid === undefined) child.kill("SIGKILL");
    else process.kill(-child.pid, "SIGKILL");
  } catch {
    // All of its processes have ended.
  }
}

function parse(json: string): JsonValue {
  try {
    return JSON.parse(json);
  } catch {
    return null;
  }
}

function texts(object: { readonly [name: string]: JsonValue }): Record<string, string> {
  const all: Record<string, string> = {};
  for (const [name, value] of Object.entries(object)) {
    if (typeof value === "string") all[name] = value;
  }
  return all;
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
