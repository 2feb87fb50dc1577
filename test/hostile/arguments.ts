import { parseArgs } from "node:util";
import { FAMILIES } from "./families.ts";

export interface Arguments {
  readonly short: boolean;
  readonly seed: number;
  /** Name of the only family. */
  readonly only: string | undefined;
  /** The only trial of that family. */
  readonly number: number | undefined;
  readonly markdown: boolean;
}

const OPTIONS = {
  short: { type: "boolean", default: false },
  seed: { type: "string", default: "1" },
  only: { type: "string" },
  number: { type: "string" },
  markdown: { type: "boolean", default: false },
  help: { type: "boolean", short: "h", default: false },
} as const;

/** @throws Error naming the argument that is wrong. */
export function readArguments(args: readonly string[]): Arguments | "help" {
  const { values } = parseArgs({ args: [...args], options: OPTIONS });
  if (values.help) return "help";
  const { markdown, only, short } = values;
  const names = FAMILIES.map(({ name }) => name);
  if (only !== undefined && !names.includes(only)) {
    throw new RangeError(`--only: expected one of ${names.join(", ")}, got ${only}`);
  }
  const number = values.number === undefined ? undefined : whole("--number", values.number, 1);
  if (number !== undefined && only === undefined) {
    throw new RangeError("--number: expected --only FAMILY too, since each family has its own");
  }
  return { short, seed: whole("--seed", values.seed, 0), only, number, markdown };
}

function whole(option: string, text: string, least: number): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= least) return value;
  throw new RangeError(`${option}: expected a whole number from ${least}, got ${text}`);
}

export function usage(): string {
  const width = Math.max(...FAMILIES.map(({ name }) => name.length)) + 2;
  return [
    "Usage: npm run test:hostile -- [options]",
    "",
    "Attacks serve, the commands and the library from outside, and counts what came of it.",
    "Exit code: 0 nothing was lost, doubled, altered, unanswered or unexpected; 1 something was.",
    "",
    "  --short          Fewer inputs of each kind, for CI. Default: all.",
    "  --seed N         The same inputs for the same N. Default: 1.",
    "  --only FAMILY    One family of those below. Default: all.",
    "  --number K       One trial of that family, as a failure names it.",
    "  --markdown       Print the table as Markdown.",
    "  -h, --help       Show this help.",
    "",
    ...FAMILIES.map(({ about, name }) => `  ${name.padEnd(width)}${about}`),
  ].join("\n");
}
