import { PassThrough, Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { Output, run } from "../../../src/cli/door.ts";
import { COMMANDS } from "../../../src/commands.ts";
import { command as builtCommand, type CommandOptions, type CommandResult } from "./command.ts";

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
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const texts = Promise.all([text(stdout), text(stderr)]);
  const env = {};
  const code = await run(
    args,
    {
      out: new Output(stdout, env),
      err: new Output(stderr, env),
      stdin: Readable.from([stdin], { objectMode: false }),
      stdout,
      env,
      leaveSoon: () => {},
    },
    COMMANDS,
  );
  stdout.end();
  stderr.end();
  const [out, err] = await texts;
  return { code, signal: null, stdout: out, stderr: err };
}
