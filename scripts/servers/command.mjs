// Runs a program to its end, and ends it when this process is told to end.
import { spawn } from "node:child_process";

/** The last bytes of what a failed program said: enough for a compiler's complaint, not for a download log. */
const TAIL = 4000;

/**
 * @param {string} program
 * @param {readonly string[]} args
 * @param {{ cwd?: string, env?: NodeJS.ProcessEnv }} [options]
 * @returns {Promise<string>} standard output and standard error as they came
 * @throws {Error} when the program can't be started (`code` ENOENT) or ends with another status than 0
 */
export function run(program, args, options = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { ...options, stdio: ["ignore", "pipe", "pipe"] });
    let said = "";
    const listen = (chunk) => {
      said += chunk;
    };
    child.stdout.setEncoding("utf8").on("data", listen);
    child.stderr.setEncoding("utf8").on("data", listen);
    const end = (signal) => child.kill(signal);
    for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, end);
    const settle = () => {
      for (const signal of ["SIGINT", "SIGTERM"]) process.off(signal, end);
    };
    child.once("error", (error) => {
      settle();
      reject(error);
    });
    child.once("close", (status, signal) => {
      settle();
      if (status === 0) resolve(said);
      else {
        const how = signal === null ? `status ${status}` : `signal ${signal}`;
        reject(new Error(`${program} ${args.join(" ")} ended with ${how}:\n${said.slice(-TAIL)}`));
      }
    });
  });
}

/**
 * The first line that a program says to these arguments; undefined when there is no such program.
 *
 * @param {string} program
 * @param {...string} args
 */
export async function firstLine(program, ...args) {
  try {
    return (await run(program, args)).split("\n", 1)[0];
  } catch (error) {
    if (error.code === "ENOENT") return undefined;
    throw error;
  }
}
