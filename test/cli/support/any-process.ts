import { PassThrough, Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { Output, run } from "../../../src/cli/door.ts";
import { COMMANDS } from "../../../src/commands.ts";
import { command as builtCommand, type CommandOptions, type CommandResult } from "./command.ts";

/** These set up telemetry for their process, or end it. */
const NEED_PROCESS: ReadonlySet<string> = new Set([
  "consume",
  "demo",
  "doctor",
  "report",
  "serve",
  "view",
]);

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
  if (
    Object.keys(others).length > 0 ||
    NEED_PROCESS.has(args[0] ?? "") ||
    args.includes("--endpoint")
  ) {
    return builtCommand(args, options);
  }
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
    },
    COMMANDS,
  );
  stdout.end();
  stderr.end();
  const [out, err] = await texts;
  return { code, signal: null, stdout: out, stderr: err };
}
