#!/usr/bin/env node
import { type Io, keepCompiledCode, leaveSoon, Output, run } from "./cli/door.ts";
import { COMMANDS } from "./commands.ts";

const { env, stdout, stderr } = process;
keepCompiledCode(env);
const io: Io = {
  out: new Output(stdout, env),
  err: new Output(stderr, env),
  // Opened when a command reads it, because that takes time.
  get stdin() {
    return process.stdin;
  },
  stdout,
  env,
  leaveSoon,
};

// Not process.exit: what is written to a pipe has to get there first.
process.exitCode = await run(process.argv.slice(2), io, COMMANDS);
