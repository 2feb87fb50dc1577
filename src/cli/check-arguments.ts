import { parseArgs } from "node:util";
import { nearest } from "../events/door.ts";
import { CliError } from "./cli-error.ts";
import type { Command, OptionSpec } from "./command.ts";
import { safe } from "./terminal/text.ts";

/** Gives options with an optional value the one they have without: `parseArgs` knows only options with or without. */
export function withOptionalValues({ options }: Command, args: readonly string[]): string[] {
  const end = args.indexOf("--");
  return args.map((argument, at) => {
    const spec = argument.startsWith("--") ? options[argument.slice(2)] : undefined;
    const isAfter = end >= 0 && at > end;
    if (spec?.optional === undefined || isAfter) return argument;
    const { accepts, value } = spec.optional;
    return accepts.test(args[at + 1] ?? "") ? argument : `${argument}=${value}`;
  });
}

/**
 * Checks a command's arguments against its options and operands.
 *
 * @returns `help` or `version` if one of the arguments asks for it. The others are then not checked.
 * @throws CliError for the first error, with a hint.
 */
export function checkArguments(
  commandName: string,
  command: Command,
  args: string[],
): "help" | "version" | "run" {
  const { tokens } = parseArgs({
    args,
    strict: false,
    tokens: true,
    options: parserOptions(command),
  });
  const asked = (name: string) =>
    tokens.some((token) => token.kind === "option" && token.name === name);
  if (asked("help")) return "help";
  if (asked("version")) return "version";
  const hint = `Run: entelix-otel ${commandName} --help`;
  const given = new Map<string, string>();
  let operands = 0;
  for (const token of tokens) {
    if (token.kind === "positional") operands++;
    if (token.kind !== "option") continue;
    const name = safe(token.rawName);
    const spec = Object.hasOwn(command.options, token.name)
      ? command.options[token.name]
      : undefined;
    if (spec === undefined) throw unknownOption(command, token.name, name, hint);
    if (spec.type === "boolean" && token.value !== undefined) {
      throw new CliError(`${name}: expected no value, got ${shown(token.value)}`, hint);
    }
    const value = token.value;
    if (spec.type === "string" && isMissing(value, token.inlineValue)) {
      throw new CliError(`${name}: expected ${spec.value ?? "a value"} after it`, hint);
    }
    if (value === undefined || spec.multiple === true) continue;
    // parseArgs would silently ignore the first value. The values are not shown: they may be secrets.
    if ((given.get(token.name) ?? value) !== value) {
      throw new CliError(`${name}: expected only one, got two that differ`, hint);
    }
    given.set(token.name, value);
  }
  if (operands < command.least) {
    throw new CliError(`expected ${command.operands} after ${commandName}`, hint);
  }
  if (operands > command.most) {
    const wanted = command.operands === "" ? "nothing" : `one ${command.operands}`;
    throw new CliError(`expected ${wanted} after ${commandName}, got ${operands}`, hint);
  }
  return "run";
}

/** `--out --json` lacks a value, `--out=--json` has one. `--out=` comes from `--out=$FILE` with an empty variable. */
function isMissing(value: string | undefined, inline: boolean | undefined): boolean {
  if (value === undefined || value === "") return true;
  return inline !== true && value.length > 1 && value.startsWith("-");
}

function unknownOption(command: Command, typed: string, name: string, hint: string): CliError {
  const meant = nearest(typed, Object.keys(command.options));
  const question = meant === undefined ? "" : `. Did you mean --${meant}?`;
  return new CliError(`unknown option ${name}${question}`, hint);
}

function shown(value: string): string {
  return `"${safe(value)}"`;
}

/** `parseArgs` takes the next argument as a value only for options that it knows. */
function parserOptions(command: Command): Record<string, OptionSpec> {
  return { ...command.options, help: HELP, version: VERSION };
}

const HELP: OptionSpec = { type: "boolean", short: "h", about: "Show this help." };
const VERSION: OptionSpec = { type: "boolean", short: "V", about: "Show the version." };
