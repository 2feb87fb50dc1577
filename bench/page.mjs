// Shows the tables of the benchmarks. With `--write`, it also puts them on docs/benchmarks.md, each with the commit that
// it is of: `<!-- figures: NAME -->` … `<!-- /figures -->`.
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { MEDIANS, write } from "./processes.mjs";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const PAGE = fileURLToPath(new URL("../docs/benchmarks.md", import.meta.url));
const commit = write ? cleanCommit() : undefined;

/** The commit whose code is measured, after a build of it. */
function cleanCommit() {
  const git = (...args) => execFileSync("git", args, { cwd: ROOT, encoding: "utf8" }).trim();
  const changed = git("status", "--porcelain", "--", "src", "bench", "package.json");
  if (changed !== "") {
    throw new Error(`--write: expected src, bench and package.json as committed; got\n${changed}`);
  }
  execFileSync(process.execPath, ["scripts/build.mjs"], { cwd: ROOT, stdio: "inherit" });
  return git("rev-parse", "--short=12", "HEAD");
}

/**
 * @param name of the part of the page.
 * @param rows objects with the same keys: the titles of the columns.
 * @param how words about the measurement. Default: the number of processes.
 */
export function show(name, rows, how = MEDIANS) {
  console.log(name);
  console.table(rows);
  if (commit === undefined) return;
  const machine = `Node ${process.versions.node}, ${availableParallelism()} cores`;
  const figures = `${markdown(rows)}\n\nCommit \`${commit}\`, ${machine}, ${how}.`;
  writeFileSync(PAGE, replaced(readFileSync(PAGE, "utf8"), name, figures));
}

function markdown(rows) {
  const titles = Object.keys(rows[0]);
  const line = (cells) => `| ${cells.join(" | ")} |`;
  const body = rows.map((row) => line(titles.map((title) => row[title] ?? "")));
  return [line(titles), `|${"---|".repeat(titles.length)}`, ...body].join("\n");
}

/** @throws Error if the page has no such part. */
function replaced(page, name, figures) {
  const from = `<!-- figures: ${name} -->\n`;
  const start = page.indexOf(from) + from.length;
  const end = page.indexOf("<!-- /figures -->", start);
  if (start < from.length || end < 0) {
    throw new Error(`docs/benchmarks.md: expected ${from.trim()} … <!-- /figures -->`);
  }
  return `${page.slice(0, start)}${figures}\n${page.slice(end)}`;
}
