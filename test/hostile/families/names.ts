import { mkdir, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { sendLines } from "../../e2e/support/serve-sender.ts";
import { event } from "../../service/http/support/lines.ts";
import type { Family, Size } from "../family.ts";
import { AUDIT_NAMES, JOURNAL_NAMES, OBSTACLES, type Obstacle } from "../support/obstacles.ts";
import { runCommand } from "../support/run-command.ts";
import { seededUuid } from "../support/seeded-ids.ts";
import { Service } from "../support/service.ts";
import type { Trial } from "../trial.ts";
import type { Trials } from "../trials.ts";

/** A name of ours, and what stands there in place of the file. */
interface Place {
  readonly name: string;
  readonly obstacle: Obstacle;
}

/** FIFOs, directories, links and sockets where a log's files should be. */
export const names: Family = {
  name: "names",
  about:
    "FIFOs, directories, links and sockets named like our files: a start or a refusal, never a hang",
  async run(trials, size) {
    const options = { width: 3, boundMs: 180_000 };
    const each = (
      kind: string,
      all: readonly Place[],
      work: (trial: Trial, place: Place) => Promise<void>,
    ) => {
      const chosen = choose(trials, size, kind, all);
      return trials.each(
        kind,
        chosen.length,
        async (trial, index) => {
          const place = chosen[index];
          if (place === undefined) return;
          trial.subject = `${place.obstacle.name} as ${place.name}`;
          await work(trial, place);
        },
        options,
      );
    };
    const [journal, audit] = [placesOf(JOURNAL_NAMES), placesOf(AUDIT_NAMES)];
    await each("in the journal: serve", journal, (trial, place) => start(trial, place, "journal"));
    await each("in the audit log: serve", audit, (trial, place) => start(trial, place, "audit"));
    await each("in the audit log: audit verify", audit, verify);
    const folders = placesOf(["journal", "audit"]);
    await each("in place of the folder: serve", folders, (trial, place) =>
      start(trial, place, undefined),
    );
    const fifos = journal.filter(({ obstacle }) => obstacle.name.includes("FIFO"));
    await each("in the journal: SIGTERM while it starts", fifos, sigterm);
    await trials.one("the tokens file: SIGTERM while it starts", tokens);
  },
};

function placesOf(names: readonly string[]): Place[] {
  return names.flatMap((name) => OBSTACLES.map((obstacle) => ({ name, obstacle })));
}

/** All of them, or a few that the seed chooses, a FIFO among them. */
function choose(trials: Trials, size: Size, kind: string, all: readonly Place[]): Place[] {
  const random = trials.shared(kind);
  const few = all.filter(({ obstacle }) => obstacle.name === "a FIFO").slice(0, 1);
  while (few.length < 5) few.push(random.of(all));
  return size.short ? few : [...all];
}

/** Makes the obstacle. @returns the options of a service that meets it. */
async function prepare(trial: Trial, { name, obstacle }: Place, below: string | undefined) {
  const folder = await trial.folder();
  const path = below === undefined ? join(folder, name) : join(folder, below, name);
  if (below !== undefined) await mkdir(join(folder, below));
  await obstacle.make(trial, path);
  const usesAudit = below === "audit" || name === "audit";
  const args = usesAudit ? ["--audit", join(folder, "audit")] : [];
  return { journal: join(folder, "journal"), args, path };
}

/** It starts and works, twice, or says what is in its way. */
async function start(trial: Trial, place: Place, below: string | undefined): Promise<void> {
  const { args, journal, path } = await prepare(trial, place, below);
  const what = trial.subject;
  const line = event({ event_id: seededUuid(trial.random) });
  for (const expected of ["accepted", "duplicate"]) {
    const service = Service.spawn(trial, journal, { args });
    const url = await service.listening();
    if (url === undefined) {
      const { code, said } = await service.ended();
      trial.equal(`${what}: exit code`, code, 1);
      trial.says(`${what}: file or folder`, said, named(path));
      trial.refuse();
      return;
    }
    const { code, results, status } = await sendLines(url, [line]);
    if (status === 200) trial.equal(`${what}: the line`, results[0]?.status, expected);
    else trial.equal(`${what}: refusal`, [status, code], [503, "store"]);
    trial.equal(`${what}: exit code after SIGTERM`, (await service.stop()).code, 0);
  }
  trial.accept();
}

async function verify(trial: Trial, place: Place): Promise<void> {
  const { path } = await prepare(trial, place, "audit");
  const { code, stderr, stdout } = await runCommand(trial, ["audit", "verify", join(path, "..")]);
  // There is no log here: it is not whole, or can't be checked.
  if (code === 1 || code === 2 || code === 3) trial.refuse();
  else {
    const expected = `${trial.subject}: exit code 1, 2 or 3`;
    trial.harm("unexpected", expected, `${code}: ${stdout}${stderr}`);
  }
}

async function sigterm(trial: Trial, place: Place): Promise<void> {
  const { args, journal } = await prepare(trial, place, "journal");
  const service = Service.spawn(trial, journal, { args });
  await sleep(trial.random.below(1_500));
  const { code, signal } = await service.stop();
  const how = signal ?? code;
  // It may have been refused, or have come to listen, by then.
  if (how === 0 || how === 1 || how === "SIGTERM" || how === 143) trial.accept();
  else trial.harm("unexpected", "an end with 0, 1, 143 or SIGTERM", `${how}: ${service.said}`);
}

/** One that nobody writes to is waited for, until SIGTERM. */
async function tokens(trial: Trial): Promise<void> {
  const folder = await trial.folder();
  const path = join(folder, "tokens.json");
  const [fifo] = OBSTACLES;
  await fifo?.make(trial, path);
  await writeFile(join(folder, "note"), "the FIFO is tokens.json\n");
  const service = Service.spawn(trial, join(folder, "journal"), { args: ["--tokens", path] });
  await sleep(500);
  await service.stop();
  trial.accept();
}

/** The file or its folder is named. */
function named(path: string): RegExp {
  const escaped = (text: string) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return new RegExp(`${escaped(basename(path))}|${escaped(basename(join(path, "..")))}`);
}
