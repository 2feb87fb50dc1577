import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { IS_DEEP } from "../support/runs.ts";
import { expressionsIn } from "./support/expressions.ts";

const dist = fileURLToPath(new URL("../../dist", import.meta.url));

/** The checker without its native programs, which this project does not install. */
const { checkSync }: typeof import("recheck") = createRequire(import.meta.url)(
  "recheck/lib/browser.js",
);

/**
 * Limits that count work, so that a busy machine changes no verdict. Only the time for one expression is a time: the
 * longest takes 5 s, and a check that takes more than this counts as not safe.
 */
const LIMITS = {
  timeout: 90_000,
  attackTimeout: null,
  incubationTimeout: null,
  // Automata decide it, not guesses, also for long repetitions.
  maxRepeatCount: 400,
} as const;

/**
 * Expressions that are not linear, or not constant, with the bound that makes them safe. A text stands for every call
 * that holds it.
 */
const EXCEPTIONS: ReadonlyMap<string, string> = new Map([
  [
    ".escapePattern(",
    "OpenTelemetry's: the instrument names of metric views. The command sets no view.",
  ],
]);

/**
 * Expressions that are linear, whose check takes 0.3 to 3 s each, one a line. `npm test` checks all others; CI and
 * `npm run test:deep` check these, too. An expression that changes is another one, so it is checked at once.
 */
const CHECKED_IN_CI: ReadonlySet<string> = new Set(
  readFileSync(new URL("./support/linear-expressions.txt", import.meta.url), "utf8")
    .split("\n")
    .filter((line) => line !== ""),
);

/** `undefined` where it is linear in the text that it is used on. */
function fault(parts: { readonly source: string; readonly flags: string } | undefined) {
  if (parts === undefined) return "not constant";
  const found = checkSync(parts.source, parts.flags, LIMITS);
  if (found.status === "safe") return undefined;
  return found.status === "unknown" ? found.error.kind : found.complexity.summary;
}

const CONSTRUCTED =
  'let A; const STEP = "(?:a|a)*"; init(() => A = new RegExp("^" + `x$' + '{STEP}$`, "u"));';

describe("the checker of regular expressions", () => {
  it.each([
    ["a = /^data:([^;,]*)[^,]*,/i", "2nd degree polynomial"],
    [String.raw`a = text.replace(/\/+$/, "")`, "2nd degree polynomial"],
    [CONSTRUCTED, "exponential"],
    ["a = new RegExp(name);", "not constant"],
    ["a = /^data:([^;,]*)(?:;[^,]*)?,/i", undefined],
  ])("says of %s: %s", (program, expected) => {
    expect(expressionsIn(program).map(({ parts }) => fault(parts))).toEqual([expected]);
  });
});

describe("regular expressions of the build", () => {
  const texts = new Map(
    readdirSync(dist, { recursive: true, encoding: "utf8" })
      .filter((name) => /\.[cm]?js$/.test(name))
      .flatMap((name) => expressionsIn(readFileSync(join(dist, name), "utf8"), name))
      .map(({ text, parts }) => [text, parts] as const),
  );

  it("take time linear in the text, except of the listed ones", { timeout: 600_000 }, () => {
    expect(texts.size).toBeGreaterThan(100);
    const needed = new Set<string>();
    const wrong = [...texts].flatMap(([text, parts]) => {
      if (!IS_DEEP && CHECKED_IN_CI.has(text)) return [];
      const found = fault(parts);
      if (found === undefined) return [];
      const exception = [...EXCEPTIONS.keys()].find((held) => text.includes(held));
      if (exception !== undefined) needed.add(exception);
      return exception === undefined ? [`${text}: ${found}`] : [];
    });
    expect(wrong).toEqual([]);
    expect([...EXCEPTIONS.keys()].filter((held) => !needed.has(held))).toEqual([]);
  });

  it("are those that are checked in CI only, as long as the list names them", () => {
    expect([...CHECKED_IN_CI].filter((text) => !texts.has(text))).toEqual([]);
  });
});
