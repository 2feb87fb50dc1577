import { spawn } from "node:child_process";
import { existsSync, realpathSync } from "node:fs";
import { delimiter, join } from "node:path";

/** How long one command may take, in ms. */
const TIMEOUT_MS = 120_000;

/** What `npm run` and this shell say about the project, and what would change a program's telemetry. */
const LEFT_OUT =
  /^(npm_(package|lifecycle)_.*|INIT_CWD|NODE_PATH|NODE_OPTIONS|FORCE_COLOR|OTEL_.*)$/;

const inherited = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !LEFT_OUT.test(name)),
);

/** Runs a command to its end without input. @returns `{ code, stdout, stderr }`. */
export function run(file, args, { cwd, env = {} }) {
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, {
      cwd,
      env: { ...inherited, ...env },
      stdio: ["ignore", "pipe", "pipe"],
      timeout: TIMEOUT_MS,
    });
    let stdout = "";
    let stderr = "";
    child.stdout.setEncoding("utf8").on("data", (text) => {
      stdout += text;
    });
    child.stderr.setEncoding("utf8").on("data", (text) => {
      stderr += text;
    });
    child.on("error", reject);
    child.on("close", (code, signal) => resolve({ code: code ?? signal, stdout, stderr }));
  });
}

/** As {@link run}, for a command that must succeed. @throws Error with all that it printed. */
export async function mustRun(file, args, options) {
  const ended = await run(file, args, options);
  if (ended.code === 0) return ended;
  const called = [file, ...args].join(" ");
  throw new Error(`${called}: exit ${ended.code}\n${ended.stdout}${ended.stderr}`);
}

/** Runs npm, by the Node that is given, so that this Node's version is the one it checks against. */
export function npm(args, { node = process.execPath, ...options }) {
  return mustRun(node, [npmCli(), ...args], options);
}

/** What npm has to say about the packages, without its remarks on this machine's own settings. */
export function npmRemarks(stderr) {
  return stderr
    .split("\n")
    .filter((line) => /^npm (warn|error)/i.test(line))
    .filter((line) => !/Unknown (\w+ )?config/.test(line));
}

function npmCli() {
  const { npm_execpath: given, PATH = "" } = process.env;
  if (given?.endsWith("npm-cli.js")) return given;
  for (const folder of PATH.split(delimiter)) {
    const command = join(folder, "npm");
    if (!existsSync(command)) continue;
    const file = realpathSync(command);
    if (file.endsWith("npm-cli.js")) return file;
  }
  throw new Error("npm: expected to find it on the PATH; run this as: npm run test:package");
}
