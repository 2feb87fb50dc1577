import { VERSION } from "../version.ts";
import { checkArguments } from "./check-arguments.ts";
import { CliError, messageOf } from "./cli-error.ts";
import type { Command, Io } from "./command.ts";
import { COMMANDS } from "./commands.ts";
import { helpOf, overview } from "./help.ts";
import { nearest } from "./nearest.ts";
import { safe } from "./terminal/safe-text.ts";

/**
 * Runs one command line.
 *
 * @param args what follows `entelix-otel`.
 * @returns the exit code. It does not reject: what a command throws is shown, and gives 1.
 */
export async function run(args: readonly string[], io: Io): Promise<number> {
  try {
    return await dispatch(args, io);
  } catch (error) {
    show(error, io);
    return 1;
  }
}

async function dispatch(args: readonly string[], io: Io): Promise<number> {
  const [first, ...others] = args;
  if (first === "--version" || first === "-V") return print(io, [VERSION]);
  if (first === undefined) {
    for (const line of overview(COMMANDS)) io.err.line(line);
    return 1;
  }
  if (first === "--help" || first === "-h") return print(io, overview(COMMANDS));
  if (first === "help") return help(others, io);
  const found = find(args);
  if (found === undefined) throw unknownCommand(args);
  const { command, rest } = found;
  if (rest[0] === "--version") return print(io, [VERSION]);
  if (checkArguments(command, rest) === "help") return print(io, helpOf(command));
  return command.run(rest, io);
}

function help(names: readonly string[], io: Io): number {
  if (names.length === 0) return print(io, overview(COMMANDS));
  const found = find(names);
  if (found === undefined) throw unknownCommand(names);
  return print(io, helpOf(found.command));
}

function find(args: readonly string[]): { command: Command; rest: string[] } | undefined {
  for (const command of COMMANDS) {
    const words = command.name.split(" ");
    if (words.every((word, at) => word === args[at])) {
      return { command, rest: args.slice(words.length) };
    }
  }
  return undefined;
}

function unknownCommand([first = "", second]: readonly string[]): CliError {
  const hint = "Run: entelix-otel --help";
  const group = COMMANDS.filter((command) => command.name.startsWith(`${first} `));
  if (group.length > 0) {
    const names = group.map((command) => command.name).join(" or ");
    const got = second === undefined || second.startsWith("-") ? "" : `, got "${safe(second)}"`;
    return new CliError(`${first}: expected ${names}${got}`, hint);
  }
  const what = first.startsWith("-") ? "option" : "command";
  const meant = nearest(first, [...COMMANDS.map((command) => command.name), "audit", "help"]);
  const question = meant === undefined ? "" : `. Did you mean ${meant}?`;
  return new CliError(`unknown ${what} ${safe(first)}${question}`, hint);
}

function print(io: Io, lines: readonly string[]): number {
  for (const line of lines) io.out.line(line);
  return 0;
}

function show(error: unknown, io: Io): void {
  const { err } = io;
  if (error instanceof CliError) {
    err.line(`${err.style("red", "entelix-otel:")} ${error.message}`);
    if (error.hint !== undefined) err.line(error.hint);
    return;
  }
  err.line(`${err.style("red", "entelix-otel:")} ${safe(messageOf(error))}`);
  if (io.env["ENTELIX_OTEL_DEBUG"] && error instanceof Error) err.line(error.stack ?? "");
  else err.line("With ENTELIX_OTEL_DEBUG=1 the stack is shown.");
}
