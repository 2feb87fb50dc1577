import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { field, list, text } from "../../e2e/support/json-shape.ts";
import { wholeRuns } from "../../e2e/support/serve-runs.ts";
import { ViewProcess } from "../../e2e/support/view-process.ts";
import { visitor } from "../../view/support/view-documents.ts";
import type { Family } from "../family.ts";
import { OBSTACLES, type Obstacle } from "../support/obstacles.ts";
import { runCommand } from "../support/run-command.ts";
import { seededUuid } from "../support/seeded-ids.ts";
import type { Trial } from "../trial.ts";

/** What a folder can have under the name of a file, and is none. */
const ODD: readonly Obstacle[] = [
  ...OBSTACLES.filter(({ name }) => name !== "an empty file"),
  { name: "a link to /dev/zero", make: async (_, path) => symlinkSync("/dev/zero", path) },
  { name: "a link to a folder", make: async (_, path) => symlinkSync("..", path) },
];

const ENDS = [".ndjson", ".jsonl", ".json", ".ndjson.gz", ".json.gz"];

/** What a folder has, by the names of its entries. */
interface Content {
  /** The folder. */
  readonly path: string;
  /** Ids of the runs in its files. */
  readonly runs: Set<string>;
  /** Paths of its odd entries. */
  readonly odd: Set<string>;
}

/** What was shown of it. */
interface Shown {
  readonly runs: readonly string[];
  /** Places of problems. */
  readonly places: readonly string[];
}

/** Folders of `view` with entries that are no files: the runs of all files are shown, and each odd entry is named. */
export const folders: Family = {
  name: "folders",
  about:
    "pipes, links, sockets, devices in a folder of view: every run of its files, every odd entry named",
  async run(trials, size) {
    const options = { width: 2, boundMs: 180_000 };
    await trials.each(
      "one odd entry: view",
      ODD.length,
      (trial, at) => one(trial, ODD[at]),
      options,
    );
    await trials.each("mixed: view", size.of(60, 8), (trial) => viewed(trial), options);
    await trials.each("mixed: report", size.of(30, 4), (trial) => reported(trial), options);
    await trials.each("mixed, followed: view", size.of(20, 3), (trial) => followed(trial), options);
  },
};

async function one(trial: Trial, odd: Obstacle | undefined): Promise<void> {
  const content = await aFolder(trial);
  addFile(trial, content);
  if (odd !== undefined) await addOdd(trial, content, odd);
  await look(trial, content);
}

async function viewed(trial: Trial): Promise<void> {
  const content = await aFolder(trial);
  await fill(trial, content);
  await look(trial, content);
}

async function reported(trial: Trial): Promise<void> {
  const content = await aFolder(trial);
  addFile(trial, content);
  await fill(trial, content);
  const [run = ""] = content.runs;
  const out = join(await trial.folder(), "report.html");
  const { code, stderr } = await runCommand(trial, [
    "report",
    content.path,
    "--run",
    run,
    "--out",
    out,
  ]);
  trial.equal("exit code of report", code, content.odd.size === 0 ? 0 : 2);
  if (content.odd.size > 0) trial.says("what it says", stderr, /expected a file|no such file/);
  count(trial, content);
}

/** Files and odd entries come, go and take each other's names while they are followed. */
async function followed(trial: Trial): Promise<void> {
  const content = await aFolder(trial);
  if (trial.random.chance(0.7)) await fill(trial, content);
  const view = await ViewProcess.start([content.path]);
  trial.atEnd(() => view.stop());
  const ask = await visitor(view.url);
  for (let turn = 0; turn < 3; turn += 1) {
    await fill(trial, content);
    const [first] = content.odd;
    if (first !== undefined && trial.random.chance(0.5)) {
      rmSync(first, { recursive: true });
      content.odd.delete(first);
      writeRuns(trial, content, first);
    }
    // It may end while it is read: the bound of the trial says when that is too long.
    let shown = shownIn(await ask("/runs"));
    while (!isSame(shown, content)) {
      await sleep(100);
      shown = shownIn(await ask("/runs"));
      trial.subject = `${shown.runs.length} of ${content.runs.size} runs and ${shown.places.join()} are shown, and all of it`;
    }
  }
  count(trial, content);
}

async function aFolder(trial: Trial): Promise<Content> {
  const path = join(await trial.folder(), "runs");
  mkdirSync(path);
  return { path, runs: new Set(), odd: new Set() };
}

async function fill(trial: Trial, content: Content): Promise<void> {
  const { random } = trial;
  for (let left = random.below(8); left > 0; left -= 1) {
    const odd = ODD[random.below(ODD.length)];
    if (odd !== undefined && random.chance(0.5)) await addOdd(trial, content, odd);
    else addFile(trial, content);
  }
}

function addFile(trial: Trial, content: Content): void {
  writeRuns(trial, content, newName(trial, content));
}

function writeRuns(trial: Trial, { runs }: Content, path: string): void {
  const newId = () => seededUuid(trial.random);
  const lines = wholeRuns(1 + trial.random.below(3), "acme", 0, newId).flat();
  for (const line of lines) runs.add(text(JSON.parse(line), "run_id"));
  const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(""));
  writeFileSync(path, path.endsWith(".gz") ? gzipSync(bytes) : bytes);
}

async function addOdd(trial: Trial, content: Content, odd: Obstacle): Promise<void> {
  const path = newName(trial, content);
  trial.subject = `${odd.name} as ${path}`;
  await odd.make(trial, path);
  content.odd.add(path);
}

function newName({ random }: Trial, { path }: Content): string {
  const name = Array.from({ length: 8 }, () => random.below(36).toString(36)).join("");
  return join(path, `${name}${ENDS[random.below(ENDS.length)]}`);
}

async function look(trial: Trial, content: Content): Promise<void> {
  const { code, stdout } = await runCommand(trial, ["view", content.path, "--json"]);
  trial.equal("exit code of view", code, content.odd.size === 0 ? 0 : 2);
  const { places, runs } = shownIn(JSON.parse(stdout));
  const lost = [...content.runs].filter((run) => !runs.includes(run));
  trial.harm("lost", "the runs of all files", `without ${lost.join()}`, lost.length);
  const untold = [...content.odd].filter((path) => !places.includes(path));
  trial.harm("lost", "a problem for each odd entry", `none for ${untold.join()}`, untold.length);
  trial.equal("runs", runs.length, content.runs.size);
  trial.equal("problems", places.length, content.odd.size);
  count(trial, content);
}

function count(trial: Trial, { odd, runs }: Content): void {
  trial.refuse(odd.size);
  trial.accept(runs.size);
}

function shownIn(answer: unknown): Shown {
  const problems = list(answer, "sources").flatMap((source) => list(source, "problems"));
  return {
    runs: list(answer, "runs").map((run) => text(run, "run_id")),
    places: problems.map((problem) => String(field(problem, "place"))),
  };
}

function isSame({ places, runs }: Shown, content: Content): boolean {
  return (
    runs.length === content.runs.size &&
    places.length === content.odd.size &&
    runs.every((run) => content.runs.has(run)) &&
    places.every((place) => content.odd.has(place))
  );
}
