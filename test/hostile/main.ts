// npm run test:hostile [-- --help]: attacks the built command and the library from outside, and counts what was
// refused, accepted, lost, doubled, altered, left unanswered or otherwise unexpected. Exits 1 when anything was.
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { keepFolder } from "../e2e/support/keeper.ts";
import { type Arguments, readArguments, usage } from "./arguments.ts";
import { failureText } from "./failure-text.ts";
import { FAMILIES } from "./families.ts";
import { type Family, sizeOf } from "./family.ts";
import { markdownTable, plainTable } from "./table.ts";
import { Trials } from "./trials.ts";

/** Families at a time: each waits a good deal, for windows and for processes. */
const WIDTH = 2;

async function runAll(asked: Arguments, root: string): Promise<readonly Trials[]> {
  const families = FAMILIES.filter(({ name }) => asked.only === undefined || asked.only === name);
  const all = families.map((family) => ({
    family,
    trials: new Trials({
      family: family.name,
      seed: asked.seed,
      root: join(root, family.name),
      only: asked.number,
    }),
  }));
  for (const { family, trials } of all) if (family.alone) await runFamily(family, trials, asked);
  const waiting = all.filter(({ family }) => !family.alone);
  const worker = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      await runFamily(next.family, next.trials, asked);
    }
  };
  await Promise.all(Array.from({ length: WIDTH }, worker));
  return all.map(({ trials }) => trials);
}

async function runFamily({ name, run }: Family, trials: Trials, { short }: Arguments) {
  const since = performance.now();
  await mkdir(trials.root, { recursive: true });
  try {
    await run(trials, sizeOf(short));
  } catch (error) {
    // What a family needs before its trials did not come about.
    await trials.one("the family itself", () => Promise.reject(error));
  }
  const seconds = ((performance.now() - since) / 1000).toFixed(1);
  console.error(`${name}: ${trials.failures.length + trials.untold} failures, ${seconds} s`);
}

async function main(asked: Arguments): Promise<number> {
  const root = await mkdtemp(join(tmpdir(), "entelix-otel-hostile-"));
  // Removed though this is killed; with failures its files are wanted.
  const forget = keepFolder(root);
  console.error(`seed ${asked.seed}, ${asked.short ? "short" : "full"}`);
  const all = await runAll(asked, root);
  const results = all.map(({ family, kinds }) => ({ family, kinds }));
  console.log(asked.markdown ? markdownTable(results) : plainTable(results));
  const failed = all.filter(({ failures }) => failures.length > 0);
  for (const trials of failed) console.log(`\n${failureText(trials, asked)}`);
  if (failed.length === 0) await rm(root, { recursive: true, force: true, maxRetries: 5 });
  forget();
  return failed.length === 0 ? 0 : 1;
}

function asked(): Arguments | "help" | undefined {
  try {
    return readArguments(process.argv.slice(2));
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    return undefined;
  }
}

const given = asked();
if (given === "help") console.log(usage());
else process.exitCode = given === undefined ? 1 : await main(given);
