#!/usr/bin/env node
import { type Io, leaveSoon, Output, run } from "./cli/door.ts";
import { COMMANDS } from "./commands.ts";

const { env, stdin, stdout, stderr } = process;
const io: Io = {
  out: new Output(stdout, env),
  err: new Output(stderr, env),
  stdin,
  stdout,
  env,
  leaveSoon,
};

// Not process.exit: what is written to a pipe has to get there first.
process.exitCode = await run(process.argv.slice(2), io, COMMANDS);
