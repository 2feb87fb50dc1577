import { run } from "../../../src/cli/door.ts";
import { COMMANDS } from "../../../src/commands.ts";
import { command as builtCommand, type CommandOptions, type CommandResult } from "./command.ts";
import { memoryIo } from "./memory-io.ts";

/** Whether a command sets up telemetry for its process, starts one, or runs until a signal comes. */
function needsProcess([name = "", ...args]: readonly string[]): boolean {
  if (args.includes("--help") || args.includes("--version")) return false;
  if (name === "view") return !args.includes("--json");
  if (name === "doctor") return args.includes("--import");
  return ["consume", "demo", "serve"].includes(name);
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
  const { cwd, env, stdin = "", ...others } = options;
  if (Object.keys(others).length > 0 || needsProcess(args)) return builtCommand(args, options);
  if (cwd === undefined && env === undefined) return atOnce(() => runHere(args, stdin, {}));
  return alone(() => within(cwd, env, () => runHere(args, stdin, env ?? {})));
}

async function runHere(
  args: readonly string[],
  stdin: string | Uint8Array,
  variables: Readonly<Record<string, string>>,
): Promise<CommandResult> {
  const { io, ended } = memoryIo(stdin, variables);
  const code = await run(args, io, COMMANDS);
  return { code, signal: null, ...(await ended()) };
}

/** Gives this process a directory and variables while it does something. */
async function within<T>(
  cwd: string | undefined,
  env: Readonly<Record<string, string>> = {},
  doIt: () => Promise<T>,
): Promise<T> {
  const directory = process.cwd();
  const before = Object.keys(env).map((name) => [name, process.env[name]] as const);
  Object.assign(process.env, env);
  if (cwd !== undefined) process.chdir(cwd);
  try {
    return await doIt();
  } finally {
    process.chdir(directory);
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  }
}

/** Command lines that have begun: those that run alone in turn, and all others. */
let lastAlone: Promise<unknown> = Promise.resolve();
const others = new Set<Promise<unknown>>();

/** Runs beside others, but not beside one that changes the directory or the variables of this process. */
function atOnce<T>(start: () => Promise<T>): Promise<T> {
  const done = lastAlone.then(start);
  const settled = done.then(ignore, ignore).finally(() => others.delete(settled));
  others.add(settled);
  return done;
}

function alone<T>(start: () => Promise<T>): Promise<T> {
  const done = Promise.all([lastAlone, ...others]).then(start);
  lastAlone = done.then(ignore, ignore);
  return done;
}

function ignore(): void {}
