import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fetchText } from "../../e2e/support/http.ts";
import { SPANS_A_RUN, wholeRuns } from "../../e2e/support/serve-runs.ts";
import { sendLines, sendUntilTaken } from "../../e2e/support/serve-sender.ts";
import { OtlpServer } from "../../support/otlp-server.ts";
import type { Family } from "../family.ts";
import { compareOutcomes, outcomeOf, replayed, SERVICE, spansArrive } from "../support/outcome.ts";
import { seededUuid } from "../support/seeded-ids.ts";
import { Service } from "../support/service.ts";
import { DISK, HAS_TMPFS, type SmallDisk, smallDisk } from "../support/small-disk.ts";
import type { Trial } from "../trial.ts";

/** Bodies that are sent at most until the disk is full, of ten runs each. */
const MOST_BODIES = 100;
/** Starts on a full disk, each ended by `kill -9`. */
const STARTS = 6;
/** Drafts that a folder may have: of its checkpoint, of the lock of one start. */
const MOST_DRAFTS = 3;

/** A disk that fills up under serve, `kill -9`, and starts with the disk full or freed. */
export const disk: Family = {
  name: "disk",
  about: `a full disk (${DISK} here), kill -9 and starts: it starts, and nothing acknowledged is lost`,
  async run(trials, size) {
    const options = { width: 2, boundMs: 180_000 };
    const kind = (text: string) => `${text} (${DISK})`;
    await trials.each(
      kind("journal full, started again full"),
      size.of(6, 1),
      (trial) => journalFull(trial, true),
      options,
    );
    await trials.each(
      kind("journal full, started again freed"),
      size.of(6, 1),
      (trial) => journalFull(trial, false),
      options,
    );
    // A limit on the size of files would strike the journal too.
    const audits = HAS_TMPFS ? size.of(4, 1) : 0;
    await trials.each(kind("audit log full, then freed"), audits, auditFull, options);
  },
};

async function journalFull(trial: Trial, staysFull: boolean): Promise<void> {
  const disk = await smallDisk(trial);
  const journal = join(disk.folder, "journal");
  const { lines, taken } = await fillJournal(trial, disk, journal);
  if (staysFull) await startFull(trial, disk, journal, taken);
  disk.free();
  const { service, url } = await Service.start(trial, journal);
  await known(trial, url, taken, "started with room");
  const open = lines.filter((line) => !taken.includes(line));
  const { results } = await sendLines(url, open);
  // A write that failed half way may have left some of its lines: they count as known.
  const rejected = results.filter(({ status }) => status === "rejected").length;
  trial.equal("lines that were refused, sent again", [results.length, rejected], [open.length, 0]);
  await known(trial, url, lines, "sent once more");
  trial.equal("exit code after SIGTERM", (await service.stop()).code, 0);
  await drafts(trial, journal);
}

/** Sends until the disk is full; ended by `kill -9`. */
async function fillJournal(trial: Trial, disk: SmallDisk, journal: string) {
  const lines: string[] = [];
  const taken: string[] = [];
  const filled = trial.random.below(8);
  let service = Service.spawn(trial, journal);
  let url = (await service.listening()) ?? "";
  for (let body = 0; body < MOST_BODIES; body += 1) {
    if (body === filled) {
      disk.fill();
      if (disk.options().wrap !== undefined) {
        await service.kill();
        service = Service.spawn(trial, journal, disk.options());
        url = (await service.listening()) ?? "";
      }
    }
    const own = wholeRuns(10, "acme", body, () => seededUuid(trial.random)).flat();
    lines.push(...own);
    const { code, results, status } = await sendLines(url, own);
    const accepted = results.filter((result) => result.status === "accepted");
    taken.push(...accepted.map(({ line }) => own[line - 1] ?? ""));
    trial.accept(accepted.length);
    if (status === 200) continue;
    trial.refuse(own.length - accepted.length);
    trial.equal("refusal of a full disk", [status, code], [503, "store"]);
    break;
  }
  await sleep(trial.random.below(100));
  await service.kill();
  return { lines, taken };
}

/** It starts on the full disk, again and again, and knows what it has acknowledged. */
async function startFull(
  trial: Trial,
  disk: SmallDisk,
  journal: string,
  taken: readonly string[],
): Promise<void> {
  for (let start = 0; start < STARTS; start += 1) {
    const service = Service.spawn(trial, journal, disk.options());
    if (start % 2 === 1) {
      await sleep(trial.random.below(500));
      await service.kill();
      continue;
    }
    const url = await service.listening();
    if (url === undefined) {
      const { code, said } = await service.ended();
      trial.harm("unexpected", `start ${start} on the full disk`, `exit code ${code}: ${said}`);
      continue;
    }
    await known(trial, url, taken, `start ${start} on the full disk`);
    trial.equal("/healthz", await fetchText(`${url}/healthz`), '{"status":"ok"}\n');
    await service.kill();
  }
  await drafts(trial, journal);
}

/** Sent again, each line is known. */
async function known(trial: Trial, url: string, lines: readonly string[], when: string) {
  const { results } = await sendLines(url, lines);
  const missing = lines.length - results.filter(({ status }) => status === "duplicate").length;
  trial.harm("lost", `${when}: each acknowledged line a duplicate`, `${missing} are not`, missing);
}

async function drafts(trial: Trial, folder: string): Promise<void> {
  const names = await readdir(folder);
  const left = names.filter((name) => /\.tmp$|^(?:lock|sock)-/.test(name));
  const pile = left.filter((name) => name.endsWith(".tmp"));
  if (pile.length <= MOST_DRAFTS && left.length <= 2 * MOST_DRAFTS) return;
  trial.harm("unexpected", `at most ${MOST_DRAFTS} drafts in the folder`, left.join(" "));
}

/** The journal has room and the audit log has none: its rows come when it has. */
async function auditFull(trial: Trial): Promise<void> {
  const disk = await smallDisk(trial);
  const folder = await trial.folder();
  await using receiver = await OtlpServer.start();
  const audit = join(disk.folder, "audit");
  const args = ["--endpoint", receiver.url, "--audit", audit, ...SERVICE];
  const journal = join(folder, "journal");
  const lines: string[] = [];
  const send = async (url: string, runs: number) => {
    const id = () => seededUuid(trial.random);
    const own = wholeRuns(runs, "acme", lines.length, id).flat();
    lines.push(...own);
    await sendUntilTaken(url, own);
    trial.accept(own.length);
  };
  const first = await Service.start(trial, journal, { args });
  await send(first.url, 20);
  await sleep(trial.random.below(3_000));
  disk.fill();
  await send(first.url, 30);
  await sleep(trial.random.below(8_000));
  await first.service.kill();
  const full = Service.spawn(trial, journal, { args, ...disk.options() });
  const url = await full.listening();
  if (url === undefined) {
    const { code, said } = await full.ended();
    trial.harm("unexpected", "a start with the log full", `exit code ${code}: ${said}`);
  } else {
    await send(url, 10);
    await sleep(trial.random.below(8_000));
    await full.kill();
  }
  disk.free();
  const last = await Service.start(trial, journal, { args });
  await send(last.url, 10);
  await spansArrive(receiver, (lines.length / 8) * SPANS_A_RUN);
  trial.equal("exit code after SIGTERM", (await last.service.stop()).code, 0);
  compareOutcomes(trial, await outcomeOf(receiver, audit), await replayed(trial, lines));
  await drafts(trial, audit);
}
