import { VERSION } from "../version.ts";
import { checkArguments } from "./check-arguments.ts";
import { CliError, isBrokenPipe, messageOf, showError } from "./cli-error.ts";
import type { Command, Io } from "./command.ts";
import { helpOf, overview } from "./help.ts";
import { nearest } from "./nearest.ts";
import { safe } from "./terminal/text.ts";

/**
 * Runs one command line.
 *
 * @param args what follows `entelix-otel`.
 * @param commands those that there are, in the order of the help.
 * @returns the exit code. It does not reject: what a command throws is shown, and gives 1.
 */
export async function run(
  args: readonly string[],
  io: Io,
  commands: readonly Command[],
): Promise<number> {
  try {
    const code = await dispatch(args, io, commands);
    // `audit show DIR > rows.ndjson` on a full disk must not end as if the rows were all there.
    const failure = await io.out.settled();
    if (failure === undefined || isBrokenPipe(failure)) return code;
    throw new CliError(`standard output: ${safe(messageOf(failure))}`, undefined, {
      cause: failure,
    });
  } catch (error) {
    if (!isBrokenPipe(error)) showError(error, io);
    return 1;
  }
}

async function dispatch(
  args: readonly string[],
  io: Io,
  commands: readonly Command[],
): Promise<number> {
  const [first, ...others] = args;
  if (first === "--version" || first === "-V") return print(io, [VERSION]);
  if (first === undefined) {
    for (const line of overview(commands)) io.err.line(line);
    return 1;
  }
  if (first === "--help" || first === "-h") return print(io, overview(commands));
  if (first === "help") return help(others, io, commands);
  const found = find(args, commands);
  if (found === undefined) return group(args, io, commands);
  const { command, rest } = found;
  const asked = checkArguments(command, rest);
  switch (asked) {
    case "help":
      return print(io, helpOf(command));
    case "version":
      return print(io, [VERSION]);
    case "run":
      return command.run(rest, io);
    default:
      return asked satisfies never;
  }
}

function help(names: readonly string[], io: Io, commands: readonly Command[]): number {
  if (names.length === 0) return print(io, overview(commands));
  const found = find(names, commands);
  return found === undefined ? group(names, io, commands) : print(io, helpOf(found.command));
}

/** `audit` alone is no command, but its help is asked for all the same. */
function group(args: readonly string[], io: Io, commands: readonly Command[]): number {
  const [first = "", second] = args;
  const members = commands.filter((command) => command.name.startsWith(`${first} `));
  const asked = second === undefined || second === "--help" || second === "-h";
  if (members.length === 0 || !asked) throw unknownCommand(args, members, commands);
  const lines = overview(members);
  if (second !== undefined) return print(io, lines);
  for (const line of lines) io.err.line(line);
  return 1;
}

function find(
  args: readonly string[],
  commands: readonly Command[],
): { command: Command; rest: string[] } | undefined {
  for (const command of commands) {
    const words = command.name.split(" ");
    if (words.every((word, at) => word === args[at])) {
      return { command, rest: args.slice(words.length) };
    }
  }
  return undefined;
}

function unknownCommand(
  [first = "", second = ""]: readonly string[],
  members: readonly Command[],
  commands: readonly Command[],
): CliError {
  const hint = "Run: entelix-otel --help";
  if (members.length > 0) {
    const names = members.map((command) => command.name).join(" or ");
    return new CliError(`expected ${names}, got ${first} ${safe(second)}`, hint);
  }
  if (first.startsWith("-")) {
    return new CliError(`expected a command before ${safe(first)}`, hint);
  }
  const meant = nearest(first, [...commands.map((command) => command.name), "audit", "help"]);
  const question = meant === undefined ? "" : `. Did you mean ${meant}?`;
  return new CliError(`unknown command ${safe(first)}${question}`, hint);
}

function print(io: Io, lines: readonly string[]): number {
  for (const line of lines) io.out.line(line);
  return 0;
}
