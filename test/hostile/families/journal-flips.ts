import { join } from "node:path";
import { sendLines } from "../../e2e/support/serve-sender.ts";
import { keptTexts, openJournal } from "../../service/journal/support/journals.ts";
import type { Random } from "../../support/random.ts";
import type { Family, Size } from "../family.ts";
import { type Damage, damaged, damageText, drawCut, drawFlip } from "../support/damage.ts";
import {
  type JournalFile,
  type JournalTemplate,
  journalTemplate,
  place,
  segmentsOf,
  setAside,
} from "../support/journal-template.ts";
import { Service } from "../support/service.ts";
import type { Trial } from "../trial.ts";
import type { Trials } from "../trials.ts";

/** Where a kind of damage strikes. */
interface Kind {
  readonly name: string;
  readonly closed: boolean;
  /** In process; then as many through the command. */
  readonly counts: readonly [full: number, short: number];
  readonly commands: readonly [full: number, short: number];
  draw(random: Random, template: JournalTemplate): Struck;
}

interface Struck {
  readonly file: JournalFile;
  readonly damage: Damage;
}

const KINDS: readonly Kind[] = [
  {
    name: "flip, journal closed",
    closed: true,
    counts: [800, 100],
    commands: [12, 2],
    draw: (random, template) => drawIn(random, segmentsOf(template).map(wholeOf), drawFlip),
  },
  {
    name: "cut, journal closed",
    closed: true,
    counts: [300, 40],
    commands: [6, 1],
    draw: (random, template) => drawIn(random, segmentsOf(template).map(wholeOf), drawCut),
  },
  {
    name: "flip before the last write",
    closed: false,
    counts: [800, 100],
    commands: [12, 2],
    draw: (random, template) => drawIn(random, split(template).before, drawFlip),
  },
  {
    name: "flip in the last write",
    closed: false,
    counts: [1_200, 150],
    commands: [24, 4],
    draw: (random, template) => drawIn(random, [split(template).last], drawFlip),
  },
  {
    name: "cut in the last write",
    closed: false,
    counts: [600, 60],
    commands: [12, 2],
    draw: (random, template) => drawIn(random, [split(template).last], drawCut),
  },
];

/** Bytes of serve's journal that flipped, or are gone. */
export const journalFlips: Family = {
  name: "journal-flips",
  about:
    "a byte flipped, or a segment cut, in serve's journal: refused with file and line, or set aside",
  async run(trials, size) {
    for (const kind of KINDS) {
      const random = trials.shared(kind.name);
      const templates: JournalTemplate[] = [];
      for (const segmentBytes of [4_096, 1_048_576]) {
        const { closed } = kind;
        templates.push(await journalTemplate(random, trials.root, { closed, segmentBytes }));
      }
      await inProcess(trials, size, kind, templates);
      await throughServe(trials, size, kind, templates);
    }
    await checkpointFlips(trials, size);
  },
};

async function inProcess(
  trials: Trials,
  size: Size,
  kind: Kind,
  templates: readonly JournalTemplate[],
): Promise<void> {
  const work = async (trial: Trial) => {
    const template = trial.random.of(templates);
    const struck = kind.draw(trial.random, template);
    const folder = await trial.folder();
    await place(withDamage(template, struck), folder);
    const opened = await readAll(folder);
    judge(trial, { ...struck, template, ...opened, aside: await setAside(folder) });
  };
  await trials.each(kind.name, size.of(...kind.counts), work, { width: 4 });
}

async function throughServe(
  trials: Trials,
  size: Size,
  kind: Kind,
  templates: readonly JournalTemplate[],
): Promise<void> {
  const work = async (trial: Trial) => {
    const template = trial.random.of(templates);
    const struck = kind.draw(trial.random, template);
    const folder = join(await trial.folder(), "journal");
    await place(withDamage(template, struck), folder);
    const service = Service.spawn(trial, folder);
    const url = await service.listening();
    if (url === undefined) {
      const { code, said } = await service.ended();
      trial.equal("exit code of serve", code, 1);
      judge(trial, { ...struck, template, refusal: said, kept: [], aside: Buffer.alloc(0) });
      return;
    }
    const { results } = await sendLines(url, template.texts);
    const kept = template.texts.filter((_, at) => results[at]?.status === "duplicate");
    judge(trial, { ...struck, template, kept, aside: await setAside(folder) });
    tellsOfDamage(trial, service.said, { ...struck, template });
    trial.equal("exit code after SIGTERM", (await service.stop()).code, 0);
    const again = await Service.start(trial, folder);
    const second = await sendLines(again.url, template.texts);
    const missing = second.results.filter(({ status }) => status !== "duplicate").length;
    trial.harm("lost", "each line a duplicate after the second start", "accepted anew", missing);
  };
  await trials.each(`${kind.name}: serve`, size.of(...kind.commands), work, { width: 3 });
}

/** A checkpoint has a checksum: it is refused, or what was flipped in it says nothing. */
async function checkpointFlips(trials: Trials, size: Size): Promise<void> {
  const options = { closed: true, segmentBytes: 4_096 };
  const template = await journalTemplate(trials.shared("checkpoint"), trials.root, options);
  const file = template.files.find(({ name }) => name === "checkpoint");
  if (file === undefined) throw new Error("expected a checkpoint");
  const work = async (trial: Trial) => {
    const damage = drawFlip(trial.random, 0, file.bytes.length);
    const folder = await trial.folder();
    await place(withDamage(template, { file, damage }), folder);
    const { kept, refusal } = await readAll(folder);
    if (refusal === undefined) {
      trial.accept();
      const lost = template.texts.length - kept.length;
      trial.harm("lost", damageText(file.name, damage), "lines are missing", lost);
      return;
    }
    trial.refuse();
    trial.says(`${damageText(file.name, damage)} is named`, refusal, /checkpoint\b.*line 1\b/);
  };
  await trials.each("flip in the checkpoint", size.of(200, 40), work, { width: 4 });
}

interface Judged extends Struck {
  readonly template: JournalTemplate;
  /** What was said where the journal was refused. */
  readonly refusal?: string | undefined;
  /** The lines that are there all the same. */
  readonly kept: readonly string[];
  readonly aside: Buffer;
}

/** Holds what became of a damaged journal to the rule for the place of the damage. */
function judge(trial: Trial, judged: Judged): void {
  const { aside, damage, file, kept, refusal, template } = judged;
  const what = damageText(file.name, damage);
  const { line, mayStart } = placeOf(judged);
  if (refusal !== undefined) {
    trial.refuse();
    if (mayStart) trial.harm("unexpected", `${what}: a start, above the verified end`, refusal);
    else trial.says(`${what}: a refusal`, refusal, named(file.name, line));
    return;
  }
  trial.accept();
  if (!mayStart) {
    trial.harm("unexpected", `${what}: no start, with file and line ${line}`, "it started");
  }
  const { gone, pieces, whole } = remains(judged);
  const lost = whole.filter((text) => !kept.includes(text));
  trial.harm("lost", `${what}: each line but ${line} is there`, `no ${lost[0]}`, lost.length);
  trial.harm("doubled", what, "a line is there twice", kept.length - new Set(kept).size);
  const known = new Set(template.texts);
  const strange = kept.filter((text) => !known.has(text));
  trial.harm("altered", what, `${strange[0]}`, strange.length);
  // What reads as it did was no damage; a line that a cut has taken whole has left nothing to be named.
  const unnamed = kept.some((text) => gone.includes(text))
    ? []
    : pieces.filter((piece) => !aside.includes(piece));
  trial.harm("lost", `${what}: the damaged bytes in torn/`, `${unnamed[0]}`, unnamed.length);
}

function named(file: string, line: number): RegExp {
  return new RegExp(`${file}[^\\n]*(?:line |:)${line}\\b`);
}

function tellsOfDamage(trial: Trial, said: string, judged: Struck & { template: JournalTemplate }) {
  const { file } = judged;
  const { line } = placeOf(judged);
  const { pieces } = remains(judged);
  if (pieces.length === 0) return;
  trial.says("file and line", said, named(file.name, line));
  trial.says("how many bytes", said, /\b\d[\d,]* bytes?\b/);
}

/** What the damage leaves of the template's lines: whole ones, broken pieces, and the texts they were of. */
function remains({ damage, file, template }: Struck & { template: JournalTemplate }) {
  const textOf = (record: string) => record.slice(record.indexOf("\t") + 1);
  const records = linesOf(file.bytes);
  const text = damaged(file.bytes, damage).toString("latin1");
  // A record without its line feed is a damaged one.
  const left = [...text.matchAll(/[^\n]*\n|[^\n]+$/g)].map(([each]) =>
    each.endsWith("\n") ? each.slice(0, -1) : `${each}\u0000`,
  );
  const pieces = left
    .filter((record) => !records.includes(record))
    .map((piece) => bytesOf(piece.split("\u0000")[0] ?? ""));
  const gone = records.filter((record) => !left.includes(record)).map((text) => textOf(text));
  const whole = template.texts.filter((text) => !gone.includes(text));
  return { pieces, gone, whole };
}

/** The line of the file that is damaged, and whether that is above the verified end, in the last write. */
function placeOf({ damage, file, template }: Struck & { template: JournalTemplate }) {
  const line = file.bytes.subarray(0, damage.at).toString("latin1").split("\n").length;
  const last = segmentsOf(template).at(-1);
  const records = linesOf(file.bytes);
  const inLastWrite = file.name === last?.name && line > beforeLastWrite(records, template);
  return { line, mayStart: inLastWrite || isEndMark(records[line - 1]) };
}

/** Records of the last file that came with earlier writes. The end mark behind the last write is of it. */
function beforeLastWrite(records: readonly string[], { open }: JournalTemplate): number {
  return records.length - open - (isEndMark(records.at(-1)) ? 1 : 0);
}

/** No line: it says where the write before it ends. */
function isEndMark(record: string | undefined): boolean {
  return record?.includes('"missing":0}') === true;
}

/** Complete lines and what stands behind the last of them, as latin1: byte for byte. */
function linesOf(bytes: Buffer): string[] {
  const lines = bytes.toString("latin1").split("\n");
  return lines.at(-1) === "" ? lines.slice(0, -1) : lines;
}

const bytesOf = (text: string) => Buffer.from(text, "latin1");

async function readAll(folder: string): Promise<{ kept: readonly string[]; refusal?: string }> {
  let journal: Awaited<ReturnType<typeof openJournal>> | undefined;
  try {
    journal = await openJournal(folder, { segmentBytes: 1_048_576 });
    return { kept: await keptTexts(journal) };
  } catch (error) {
    return { kept: [], refusal: String(error) };
  } finally {
    await journal?.close();
  }
}

function withDamage({ files }: JournalTemplate, { damage, file }: Struck): JournalFile[] {
  return files.map((each) =>
    each.name === file.name ? { ...each, bytes: damaged(each.bytes, damage) } : each,
  );
}

/** A part of a file. */
interface Reach {
  readonly file: JournalFile;
  readonly from: number;
  readonly end: number;
}

function wholeOf(file: JournalFile): Reach {
  return { file, from: 0, end: file.bytes.length };
}

function drawIn(
  random: Random,
  reaches: readonly Reach[],
  draw: (random: Random, from: number, end: number) => Damage,
): Struck {
  const { end, file, from } = random.of(reaches);
  return { file, damage: draw(random, from, end) };
}

/** What stands before the last write, and the last write. */
function split(template: JournalTemplate): { before: readonly Reach[]; last: Reach } {
  const segments = segmentsOf(template);
  const file = segments.at(-1);
  if (file === undefined) throw new Error("expected a segment");
  const records = linesOf(file.bytes);
  const earlier = records.slice(0, beforeLastWrite(records, template));
  const from = earlier.reduce((sum, record) => sum + record.length + 1, 0);
  const head = from === 0 ? [] : [{ file, from: 0, end: from }];
  return {
    before: [...segments.slice(0, -1).map(wholeOf), ...head],
    last: { file, from, end: file.bytes.length },
  };
}
