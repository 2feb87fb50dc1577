// docs/cli.md: what the built command says of itself.
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const PROGRAM = fileURLToPath(new URL("../../dist/cli/main.mjs", import.meta.url));

const help = (...args) =>
  execFileSync(process.execPath, [PROGRAM, ...args, "--help"], { encoding: "utf8" }).trimEnd();

/** @returns the page; each command has a section, in the order of the overview. */
export function cliPage() {
  const overview = help();
  const commands = [...overview.matchAll(/^ {2}([a-z]+(?: [a-z]+)?) {2}/gm)].map(
    ([, name]) => name,
  );
  return [
    "<!-- Generated from the built command: change its help in src/cli, then npm run build && npm run docs. -->",
    "",
    "# Command line",
    "",
    "The package installs the command `entelix-otel`. Without an installation, `npx entelix-otel` runs it.",
    "",
    "From Node 22.1 on, the command keeps its compiled code for the next start, in the folder `entelix-otel` of",
    "`XDG_CACHE_HOME` or `~/.cache`, if that exists and can be written. `NODE_COMPILE_CACHE=DIR` names another folder,",
    "and with `NODE_DISABLE_COMPILE_CACHE=1` nothing is kept.",
    "",
    ...block(overview),
    ...commands.flatMap((name) => ["", `## ${name}`, "", ...block(help(...name.split(" ")))]),
    "",
  ].join("\n");
}

const block = (text) => ["```text", text, "```"];
