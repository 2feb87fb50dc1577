// node bench/age.mjs: how many commits the figures of docs/benchmarks.md are behind HEAD. It warns above 20, and fails
// from 100 on. It also warns if the history that the clone has is without the commit (a shallow clone, a rebase),
// because the age is unknown then, and if a table has no figures.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const WARNS_ABOVE = 20;
const FAILS_AT = 100;

/** @returns the commits of the figures on a page, each once. */
function commitsOn(page) {
  const found = page.matchAll(/^Commit `([0-9a-f]{12,40})`/gm);
  return [...new Set([...found].map(([, commit]) => commit))];
}

/**
 * @param behind how many commits are in HEAD and not in this one; `undefined` if the history does not have it.
 * @returns `ok`, `warning` or `failed`, and why.
 */
function verdictOf(commit, behind) {
  const figures = `docs/benchmarks.md has figures of commit ${commit}`;
  const again = "measure again: npm run bench -- --write";
  if (behind === undefined) {
    const why = "which is not in the history of this clone (shallow, or rewritten)";
    return { state: "warning", text: `${figures}, ${why}: their age is unknown` };
  }
  const text = `${figures}, ${behind} commits behind`;
  if (behind >= FAILS_AT) return { state: "failed", text: `${text}: ${again}` };
  if (behind > WARNS_ABOVE) return { state: "warning", text: `${text}: ${again}` };
  return { state: "ok", text };
}

/** @param root of a clone. @returns `undefined` if the commit is not in the history that the clone has. */
function commitsBehind(root, commit) {
  const stdio = ["ignore", "pipe", "ignore"];
  const git = (...args) => execFileSync("git", args, { cwd: root, encoding: "utf8", stdio });
  try {
    git("merge-base", "--is-ancestor", commit, "HEAD");
    return Number(git("rev-list", "--count", `${commit}..HEAD`));
  } catch {
    return undefined;
  }
}

const root = fileURLToPath(new URL("..", import.meta.url));
const page = readFileSync(new URL("../docs/benchmarks.md", import.meta.url), "utf8");
for (const commit of commitsOn(page)) {
  const { state, text } = verdictOf(commit, commitsBehind(root, commit));
  console.log(`${state}: ${text}`);
  if (state === "failed") process.exitCode = 1;
}
const missing = page.match(/^Not measured yet\.$/gm)?.length ?? 0;
if (missing > 0) console.log(`warning: docs/benchmarks.md has tables without figures: ${missing}`);
