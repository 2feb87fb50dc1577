import { nearest } from "../events/door.ts";
import { VERSION } from "../version.ts";
import { checkArguments, withOptionalValues } from "./check-arguments.ts";
import { CliError, isBrokenPipe, messageOf, showError } from "./cli-error.ts";
import type { Io, ListedCommand } from "./command.ts";
import { helpOf, overview } from "./help.ts";
import type { Output } from "./terminal/output.ts";
import { safe } from "./terminal/text.ts";

/**
 * Runs one command line.
 *
 * @param args arguments after `entelix-otel`.
 * @param commands all commands, in the order of the help. Only the code of the named one is loaded.
 * @returns the exit code. Never rejects: an error of a command is printed, and gives 1.
 */
export async function run(
  args: readonly string[],
  io: Io,
  commands: readonly ListedCommand[],
): Promise<number> {
  try {
    const code = await dispatch(args, io, commands);
    // `audit show DIR > rows.ndjson` must fail on a full disk.
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
  commands: readonly ListedCommand[],
): Promise<number> {
  const [first] = args;
  if (first === "--version" || first === "-V") return print([VERSION], io.out);
  if (first === undefined) return print(overview(commands), io.err, 1);
  const isHelp = first === "help";
  const words = isHelp ? args.slice(1) : args;
  if (isHelpOption(first) || words.length === 0) return print(overview(commands), io.out);
  const listed = commands.find(({ name }) =>
    name.split(" ").every((word, at) => word === words[at]),
  );
  if (listed === undefined) {
    // `audit` is not a command, but has a help.
    const group = commands.filter(({ name }) => name.startsWith(`${words[0]} `));
    const isAlone = words.length === 1;
    if (group.length > 0 && (isHelpOption(words[1]) || (isHelp && isAlone))) {
      return print(overview(group), io.out);
    }
    if (group.length > 0 && isAlone) return print(overview(group), io.err, 1);
    throw unknownCommand(words, group, commands);
  }
  const command = await listed.load();
  const rest = withOptionalValues(command, words.slice(listed.name.split(" ").length));
  const asked = isHelp ? "help" : checkArguments(listed.name, command, rest);
  switch (asked) {
    case "help":
      return print(helpOf(listed, command), io.out);
    case "version":
      return print([VERSION], io.out);
    case "run":
      return command.run(rest, io);
    default:
      return asked satisfies never;
  }
}

function isHelpOption(word: string | undefined): boolean {
  return word === "--help" || word === "-h";
}

function print(lines: readonly string[], out: Output, exitCode = 0): number {
  for (const line of lines) out.line(line);
  return exitCode;
}

function unknownCommand(
  [first = "", second = ""]: readonly string[],
  group: readonly ListedCommand[],
  commands: readonly ListedCommand[],
): CliError {
  const hint = "Run: entelix-otel --help";
  if (group.length > 0) {
    const names = group.map((command) => command.name).join(" or ");
    return new CliError(`expected ${names}, got ${first} ${safe(second)}`, hint);
  }
  if (first.startsWith("-")) {
    return new CliError(`expected a command before ${safe(first)}`, hint);
  }
  const meant = nearest(first, [...commands.map((command) => command.name), "audit", "help"]);
  const question = meant === undefined ? "" : `. Did you mean ${meant}?`;
  return new CliError(`unknown command ${safe(first)}${question}`, hint);
}
