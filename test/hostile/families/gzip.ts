import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { field, optionalText } from "../../e2e/support/json-shape.ts";
import { wholeRuns } from "../../e2e/support/serve-runs.ts";
import type { Random } from "../../support/random.ts";
import { Ends } from "../ends.ts";
import type { Family } from "../family.ts";
import { type Damage, damaged, damageText, drawCut, drawFlip } from "../support/damage.ts";
import { runCommand } from "../support/run-command.ts";
import { seededUuid } from "../support/seeded-ids.ts";
import { Service } from "../support/service.ts";
import type { Trial } from "../trial.ts";

/** Bytes of the head of gzip data: a flip of its time, level or system leaves the data as it is. */
const HEAD_BYTES = 10;

interface Body {
  readonly lines: number;
  readonly text: string;
  readonly bytes: Buffer;
}

/** What the service said of a body. */
interface Said {
  readonly status: number;
  readonly code: string | undefined;
  readonly accepted: number;
  readonly duplicate: number;
  readonly rejected: number;
}

/** Damaged gzip bodies: nothing of them is stored, and the whole body is taken after that. */
export const gzip: Family = {
  name: "gzip",
  about:
    "a byte flipped, or the end cut, in a gzip body: an error, nothing stored, and a resend works",
  async run(trials, size) {
    await using owner = new Ends();
    const { url } = await Service.start(owner, join(trials.root, "journal"));
    const flipped = (chunked: boolean) => (trial: Trial) => {
      const body = drawBody(trial.random);
      return strike(trial, url, body, drawFlip(trial.random, 0, body.bytes.length), chunked);
    };
    const cut = (chunked: boolean) => (trial: Trial) => {
      const body = drawBody(trial.random);
      return strike(trial, url, body, drawCut(trial.random, 1, body.bytes.length), chunked);
    };
    const options = { width: 8 };
    await trials.each("flip", size.of(800, 100), flipped(false), options);
    await trials.each("flip, sent in chunks", size.of(400, 50), flipped(true), options);
    await trials.each("cut", size.of(400, 50), cut(false), options);
    await trials.each("cut, sent in chunks", size.of(200, 25), cut(true), options);
    await trials.each("other bytes behind it", size.of(100, 20), (trial) => behind(trial, url), {
      width: 8,
    });
    await trials.each("cut file: replay", size.of(12, 3), replayCut, { width: 3 });
  },
};

/** A body of some lines; now and then of so many that they are several groups of lines to the service. */
function drawBody(random: Random): Body {
  const runs = random.chance(0.1) ? 150 : 1 + random.below(5);
  const lines = wholeRuns(runs, "acme", 0, () => seededUuid(random)).flat();
  const text = lines.map((line) => `${line}\n`).join("");
  return { lines: lines.length, text, bytes: gzipSync(text, { level: 1 + random.below(9) }) };
}

async function strike(trial: Trial, url: string, body: Body, damage: Damage, chunked: boolean) {
  const what = damageText(`a gzip body of ${body.bytes.length} bytes`, damage);
  const bytes = damaged(body.bytes, damage);
  await judge(trial, url, body, { what, bytes, chunked, intact: readsTheSame(body, damage) });
}

async function behind(trial: Trial, url: string): Promise<void> {
  const body = drawBody(trial.random);
  const junk = Buffer.from([1 + trial.random.below(30), trial.random.below(256), 7, 7]);
  const bytes = Buffer.concat([body.bytes, junk]);
  const what = `a gzip body with ${junk.toString("hex")} behind its end`;
  await judge(trial, url, body, { what, bytes, chunked: false, intact: false });
}

async function judge(
  trial: Trial,
  url: string,
  body: Body,
  sent: {
    readonly what: string;
    readonly bytes: Buffer;
    readonly chunked: boolean;
    /** The damage is where it changes nothing of the text. */
    readonly intact: boolean;
  },
): Promise<void> {
  const { bytes, chunked, intact, what } = sent;
  const first = await post(url, bytes, chunked);
  const whole = first.status === 200 && first.accepted === body.lines;
  if (intact && whole) trial.accept();
  else {
    trial.refuse();
    trial.equal(`${what}: status and code`, [first.status, first.code], [400, "encoding"]);
    const stored = first.accepted + first.duplicate;
    trial.harm("unexpected", `${what}: nothing stored`, `${stored} lines accepted`, stored);
    const { accepted, duplicate } = await post(url, body.bytes, chunked);
    const lost = body.lines - accepted - duplicate;
    trial.harm("lost", `${what}: each line taken when sent again`, `${lost} are not`, lost);
    // The line of the damaged body stands in the place of the one that is sent again.
    trial.harm("altered", `${what}: no line known`, `${duplicate} duplicates`, duplicate);
  }
  const again = await post(url, body.bytes, false);
  const known = [again.accepted, again.duplicate, again.rejected];
  trial.equal(`${what}: accepted, duplicate, rejected at last`, known, [0, body.lines, 0]);
}

/** zlib is asked: bits behind the end of the data, say, are nobody's. */
function readsTheSame({ bytes, text }: Body, damage: Damage): boolean {
  if (damage.kind === "flip" && damage.at > 1 && damage.at < HEAD_BYTES) return true;
  try {
    return gunzipSync(damaged(bytes, damage)).toString("utf8") === text;
  } catch {
    return false;
  }
}

async function post(url: string, bytes: Buffer, chunked: boolean): Promise<Said> {
  const response = await fetch(`${url}/v1/events`, {
    method: "POST",
    headers: { "content-type": "application/x-ndjson", "content-encoding": "gzip" },
    ...(chunked ? { body: inPieces(bytes), duplex: "half" } : { body: bytes }),
    signal: AbortSignal.timeout(30_000),
  });
  const answer: unknown = await response.json();
  const error = field(answer, "error");
  const count = (name: string) => Number(field(answer, name) ?? 0);
  return {
    status: response.status,
    code: error === undefined ? undefined : optionalText(error, "code"),
    accepted: count("accepted"),
    duplicate: count("duplicate"),
    rejected: count("rejected"),
  };
}

function inPieces(bytes: Buffer): ReadableStream<Uint8Array> {
  const piece = Math.max(1, Math.ceil(bytes.length / 5));
  let at = 0;
  return new ReadableStream({
    pull(controller) {
      if (at >= bytes.length) return controller.close();
      controller.enqueue(bytes.subarray(at, at + piece));
      at += piece;
    },
  });
}

/** A file is read up to the damage: what is whole before it is replayed, and the exit code is 1. */
async function replayCut(trial: Trial): Promise<void> {
  const body = drawBody(trial.random);
  const file = join(await trial.folder(), "events.ndjson.gz");
  const damage = drawCut(trial.random, 2, body.bytes.length);
  await writeFile(file, damaged(body.bytes, damage));
  const { code, stderr } = await runCommand(trial, ["replay", file, "--json"]);
  trial.equal(`${damageText(file, damage)}: exit code`, code, 1);
  trial.says("the file", stderr, /events\.ndjson\.gz/);
  trial.refuse();
}
