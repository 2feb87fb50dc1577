import { run } from "../../../src/cli/door.ts";
import { COMMANDS } from "../../../src/commands.ts";
import { command as builtCommand, type CommandOptions, type CommandResult } from "./command.ts";
import { memoryIo } from "./memory-io.ts";

/** Whether a command sets up telemetry for its process, or runs until a signal comes. */
function needsProcess([name = "", ...args]: readonly string[]): boolean {
  if (name === "view") return !args.includes("--json");
  return ["consume", "demo", "doctor", "serve"].includes(name);
}

/**
 * Runs a command line: from the source in this process where that makes no difference, else as the built command.
 *
 * Each start of a process takes a quarter of a second of one core, and tests run hundreds of command lines.
 */
export async function command(
  args: readonly string[],
  options: CommandOptions = {},
): Promise<CommandResult> {
  const { stdin = "", ...others } = options;
  if (Object.keys(others).length > 0 || needsProcess(args)) return builtCommand(args, options);
  const { io, ended } = memoryIo(stdin);
  const code = await run(args, io, COMMANDS);
  return { code, signal: null, ...(await ended()) };
}
