import {
  closeSync,
  ftruncateSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { NdjsonSessionLog } from "../../../src/entries/audit.ts";
import { entry } from "../../audit/support/entries.ts";
import type { Random } from "../../support/random.ts";
import type { Family, Size } from "../family.ts";
import { type AuditTemplate, auditTemplates, copyOf } from "../support/audit-template.ts";
import { verifyInProcess } from "../support/audit-verify.ts";
import { type Damage, damaged, damageText, drawCut, drawFlip } from "../support/damage.ts";
import { runCommand } from "../support/run-command.ts";
import type { Trial } from "../trial.ts";
import type { Trials } from "../trials.ts";

/** Exit codes of `audit verify`. */
const CLOSED = 0;
const DAMAGED = 2;
const OPEN = 3;

interface Struck {
  /** Path of the segment below the log's folder. */
  readonly segment: string;
  readonly damage: Damage;
}

interface Kind {
  readonly name: string;
  readonly state: "closed" | "killed";
  readonly counts: readonly [full: number, short: number];
  /** Trials whose exit code the command itself is asked for too. */
  readonly commands: readonly [full: number, short: number];
  draw(random: Random, template: AuditTemplate): Struck;
}

const KINDS: readonly Kind[] = [
  {
    name: "flip, log closed",
    state: "closed",
    counts: [20_000, 1_000],
    commands: [24, 4],
    draw: (random, template) => anywhere(random, template, drawFlip),
  },
  {
    name: "flip, log open without a writer",
    state: "killed",
    counts: [10_000, 600],
    commands: [12, 2],
    draw: (random, template) => anywhere(random, template, drawFlip),
  },
  {
    name: "cut of the newest segment, log closed",
    state: "closed",
    counts: [5_000, 400],
    commands: [24, 4],
    draw: (random, template) => inNewest(random, template, drawCut),
  },
  {
    name: "cut of the newest segment, log open without a writer",
    state: "killed",
    counts: [2_000, 200],
    commands: [12, 2],
    draw: (random, template) => inNewest(random, template, drawCut),
  },
  {
    name: "cut of an earlier segment",
    state: "closed",
    counts: [1_500, 150],
    commands: [6, 1],
    draw: (random, { folder, segments }) => {
      const segment = random.of(segments.slice(0, -1));
      return { segment, damage: drawCut(random, 0, bytesOf(folder, segment).length) };
    },
  },
];

/** Bytes of an audit log that flipped, or are gone. */
export const auditFlips: Family = {
  name: "audit-flips",
  about: "a byte flipped, or a segment cut or deleted, in an audit log: audit verify never says 0",
  async run(trials, size) {
    const templates = await auditTemplates(trials.shared("log"), trials.root);
    for (const kind of KINDS) {
      const template = templates[kind.state];
      const work = (trial: Trial) => inProcess(trial, template, kind.draw(trial.random, template));
      await trials.each(kind.name, size.of(...kind.counts), work);
      const byCommand = (trial: Trial) =>
        throughCommand(trial, template, kind.draw(trial.random, template));
      const count = size.of(...kind.commands);
      await trials.each(`${kind.name}: command`, count, byCommand, { width: 3 });
    }
    await cutAtCloses(trials, templates.closed);
    await deletions(trials, templates.closed);
    await states(trials, size, templates);
  },
};

/** Damages the log in its place and mends it again: thousands of them in a minute. */
async function inProcess(trial: Trial, template: AuditTemplate, struck: Struck): Promise<void> {
  const { damage, segment } = struck;
  const bytes = bytesOf(template.folder, segment);
  const file = openSync(join(template.folder, segment), "r+");
  try {
    if (damage.kind === "cut") ftruncateSync(file, damage.at);
    else writeSync(file, damaged(bytes, damage), damage.at, 1, damage.at);
    const { code, said } = await verifyInProcess(template.folder);
    judge(trial, template, struck, code, said);
    if (trial.harmed) await copyOf(template.folder, await trial.folder());
  } finally {
    writeSync(file, bytes, damage.at, bytes.length - damage.at, damage.at);
    closeSync(file);
  }
}

async function throughCommand(
  trial: Trial,
  template: AuditTemplate,
  struck: Struck,
): Promise<void> {
  const folder = await trial.folder();
  await copyOf(template.folder, folder);
  const path = join(folder, struck.segment);
  writeFileSync(path, damaged(readFileSync(path), struck.damage));
  const { code, stderr, stdout } = await runCommand(trial, ["audit", "verify", folder]);
  judge(trial, template, struck, code, stdout + stderr);
}

function judge(
  trial: Trial,
  { closes, segments }: AuditTemplate,
  { damage, segment }: Struck,
  code: number | null,
  said: string,
): void {
  const what = damageText(segment, damage);
  const isNewest = segment === segments.at(-1);
  const wasClosed = damage.kind === "cut" && isNewest && closes.includes(damage.at);
  if (wasClosed) {
    // As the log stood when it was closed the time before: nothing in it can tell.
    trial.accept();
    trial.equal(`${what}, where it was closed: exit code`, code, CLOSED);
    return;
  }
  const allowed = damage.kind === "cut" && !isNewest ? [DAMAGED] : [DAMAGED, OPEN];
  if (code !== null && allowed.includes(code)) trial.refuse();
  else {
    trial.accept();
    const harm = code === CLOSED ? "lost" : "unexpected";
    trial.harm(harm, `${what}: exit code ${allowed.join(" or ")}`, `${code}: ${said}`);
  }
}

/** Where the log was closed before, a byte less, and a byte more. */
async function cutAtCloses(trials: Trials, template: AuditTemplate): Promise<void> {
  const segment = template.segments.at(-1) ?? "";
  const earlier = template.closes.slice(0, -1);
  const sizes = earlier.flatMap((size) => [size - 1, size, size + 1]);
  await trials.each("cut where it was closed before", sizes.length, (trial, index) => {
    const damage: Damage = { kind: "cut", at: sizes[index] ?? 0, mask: 0 };
    return throughCommand(trial, template, { segment, damage });
  });
}

async function deletions(trials: Trials, template: AuditTemplate): Promise<void> {
  const { folder, segments } = template;
  await trials.each("segment deleted", segments.length, async (trial, index) => {
    const copy = await trial.folder();
    await copyOf(folder, copy);
    const segment = segments[index] ?? "";
    rmSync(join(copy, segment));
    const { code, stdout } = await runCommand(trial, ["audit", "verify", copy]);
    const isNewest = index === segments.length - 1;
    const allowed = isNewest ? [DAMAGED, OPEN] : [DAMAGED];
    if (code !== null && allowed.includes(code)) trial.refuse();
    else trial.harm("lost", `${segment} deleted: ${allowed.join(" or ")}`, `${code}: ${stdout}`);
  });
}

/** Logs that nothing was done to. */
async function states(
  trials: Trials,
  size: Size,
  templates: Readonly<Record<"closed" | "killed", AuditTemplate>>,
): Promise<void> {
  const untouched = async (trial: Trial, template: AuditTemplate, expected: number) => {
    const { code, stderr, stdout } = await runCommand(trial, ["audit", "verify", template.folder]);
    if (code === expected) trial.accept();
    else trial.harm("unexpected", `exit code ${expected}`, `${code}: ${stdout}${stderr}`);
  };
  await trials.one("untouched, log closed", (trial) => untouched(trial, templates.closed, CLOSED));
  await trials.one("untouched, log open without a writer", (trial) =>
    untouched(trial, templates.killed, OPEN),
  );
  await trials.each("a living writer", size.of(10, 2), async (trial) => {
    const folder = await trial.folder();
    const log = await NdjsonSessionLog.open(folder);
    try {
      const rows = trial.random.below(5);
      for (let n = 0; n < rows; n += 1) {
        await log.append({ tenant_id: "acme", thread_id: "t1" }, [entry(`${n}`)]);
      }
      await untouched(trial, { folder, segments: [], closes: [] }, CLOSED);
    } finally {
      await log.close();
    }
  });
}

function anywhere(
  random: Random,
  { folder, segments }: AuditTemplate,
  draw: (random: Random, from: number, end: number) => Damage,
): Struck {
  const segment = random.of(segments);
  return { segment, damage: draw(random, 0, bytesOf(folder, segment).length) };
}

function inNewest(random: Random, template: AuditTemplate, draw: typeof drawCut): Struck {
  const { folder, segments } = template;
  const segment = segments.at(-1) ?? "";
  return { segment, damage: draw(random, 0, bytesOf(folder, segment).length) };
}

function bytesOf(folder: string, segment: string): Buffer {
  return readFileSync(join(folder, segment));
}
