// A command of the package that says what it costs: CPU time and memory, at its end and whenever it is asked.
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

const MAIN = fileURLToPath(new URL("../../dist/cli/main.mjs", import.meta.url));
const OWN_COST = new URL("own-cost.mjs", import.meta.url).href;

/**
 * @param args of the command. Default: Node alone, without the package.
 * @returns the process, `cost` for what it has cost so far, and all costs that it has said.
 */
export function measured(args) {
  const program = args === undefined ? ["--eval", "0"] : [MAIN, ...args];
  const child = spawn(process.execPath, ["--import", OWN_COST, ...program], {
    stdio: ["ignore", "pipe", "inherit", "pipe"],
  });
  const costs = [];
  let wake = () => {};
  child.stdio[3].on("data", (text) => {
    for (const line of String(text).trim().split("\n")) costs.push(JSON.parse(line));
    wake();
  });
  const cost = async () => {
    const before = costs.length;
    child.kill("SIGUSR2");
    while (costs.length === before) await new Promise((resolve) => (wake = resolve));
    return costs.at(-1);
  };
  return { child, cost, costs };
}
