// node bench/export.mjs [cpu|loss|encode] [--rounds N] [--short] [--write]: spans created, encoded and sent to a receiver on this machine, in
// CPU of the process, as a share of hand-written SDK calls with the stock batch processor and OTLP/JSON exporter; what
// is lost of more spans than those take; and encoding alone, beside OpenTelemetry's encoders.
//
// One side a process, since sides in one process share their call sites: processes take turns, A B, B A,
// and a ratio is one of neighbours. The control is the stock side against itself: how far it is from 1 is
// how far any figure here can be trusted. `--short` shows that it works.
//
// Lost is what the receiver has not, counted is what the sender says is lost. Memory is heap and external
// memory (buffers) above what was there before, garbage too, looked at all through the tick and the sending;
// "waiting" is what is left of it at the end of the tick after a collection.
import { execFile, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { withBundle } from "../scripts/bundle-typescript.mjs";
import { show } from "./page.mjs";
import { format, median, NAMES, ROUNDS as PAIRS, short } from "./processes.mjs";

const run = promisify(execFile);
/** Which tables: all, unless one is named. */
const wanted = (table) => NAMES.length === 0 || NAMES.includes(table);
const ROUNDS = short ? 3 : 25;
/** The first fits into the queue, the second does not. */
const [BURST, LONG_BURST] = [100_000, 300_000];
const BURSTS = short ? 1 : 5;
const PACED = short ? 60_000 : 240_000;
const BASE = "stock JSON";
const UNSENT = "hand-written, unsent";

if (wanted("encode")) {
  await withBundle(new URL("export/encode.mjs", import.meta.url), encodeTable);
}

const server = fork(fileURLToPath(new URL("export/server.mjs", import.meta.url)));
let program;
try {
  const [{ port }] = await once(server, "message");
  const url = `http://127.0.0.1:${port}/v1/traces`;
  if (wanted("cpu") || wanted("loss")) {
    await withBundle(new URL("export/child.mjs", import.meta.url), async (bundled) => {
      program = bundled;
      if (wanted("cpu")) await cpuTable(url);
      if (wanted("loss")) await lossTables(url);
    });
  }
} finally {
  server.kill();
}

async function child(what, side, url, count, compression = "none") {
  const args = ["--expose-gc", program, what, side, url, String(count)];
  const env = { ...process.env, OTEL_EXPORTER_OTLP_COMPRESSION: compression };
  const { stdout } = await run(process.execPath, args, { env, maxBuffer: 1 << 24 });
  server.send("counts");
  const [counts] = await once(server, "message");
  return { ...JSON.parse(stdout.trim().split("\n").at(-1)), ...counts };
}

async function cpuTable(url) {
  show("export", [
    await row(url, BASE, "none", undefined),
    await row(url, "hand-written, chunks", "none", 0.5),
    await row(url, "bridge, chunks", "none", 0.5),
    await row(url, "own records, chunks", "none", 0.35),
    await row(url, BASE, "gzip", undefined),
    await row(url, "hand-written, chunks", "gzip", 0.6),
    await row(url, "bridge, chunks", "gzip", 0.6),
  ]);
  show("export-unsent", [
    await row(url, UNSENT, "none", undefined, UNSENT),
    await row(url, "own records, unsent", "none", 0.35, UNSENT),
  ]);
}

/** Encoding alone: ratios of neighbouring processes, as in {@link row}. */
async function encodeTable(program) {
  const time = async (encoder) => {
    const args = [program, encoder, String(ROUNDS)];
    return JSON.parse((await run(process.execPath, args)).stdout);
  };
  const stock = "stock protobuf";
  const rows = [];
  for (const encoder of [stock, "own", "stock JSON"]) {
    const ratios = [];
    let last;
    for (let n = 0; n < PAIRS; n++) {
      const pair = [];
      for (const each of n % 2 === 0 ? [stock, encoder] : [encoder, stock]) {
        pair.push(await time(each));
      }
      if (n % 2 === 1) pair.reverse();
      ratios.push(pair[1].us / pair[0].us);
      last = pair[1];
    }
    rows.push({
      encoder: encoder === stock ? "control" : encoder,
      ratio: format(median(ratios)),
      spread: `${format(Math.min(...ratios))}–${format(Math.max(...ratios))}`,
      "µs a span": last.us.toFixed(2),
      "bytes a span": Math.round(last.bytesASpan),
    });
  }
  show("export-encode", rows);
}

async function row(url, side, compression, goal, base = BASE) {
  const ratios = [];
  const ours = [];
  for (let n = 0; n < PAIRS; n++) {
    const order = n % 2 === 0 ? [base, side] : [side, base];
    const pair = [];
    for (const each of order) pair.push(await child("cpu", each, url, ROUNDS, compression));
    if (n % 2 === 1) pair.reverse();
    const [first, other] = pair;
    ratios.push(other.us / first.us);
    ours.push(other);
  }
  const ratio = median(ratios);
  const lost = ours.reduce((sum, { ended, spans }) => sum + ended - spans, 0);
  return {
    side: goal === undefined ? "control" : side,
    compression,
    ratio: format(ratio),
    goal: goal === undefined ? "" : `<= ${goal.toFixed(2)}`,
    reached: goal === undefined ? "" : ratio <= goal ? "yes" : "no",
    spread: `${format(Math.min(...ratios))}–${format(Math.max(...ratios))}`,
    "µs a span": median(ours.map(({ us }) => us)).toFixed(2),
    ...(base === UNSENT
      ? {}
      : {
          "bytes a span": Math.round(median(ours.map(({ bytes, spans }) => bytes / spans))),
          lost,
        }),
  };
}

async function lossTables(url) {
  const sides = ["stock JSON, defaults", BASE, "hand-written, chunks", "bridge, chunks"];
  const [bursts, more] = [[], []];
  for (const side of sides) {
    bursts.push({ side, ...(await burst(url, side)) });
    more.push({ side, ...(await pastTheBound(url, side)) });
  }
  show("export-burst", bursts, `the most of ${BURSTS} processes`);
  show("export-more", more, "one process");
}

async function burst(url, side) {
  const all = [];
  for (let n = 0; n < BURSTS; n++) all.push(await child("burst", side, url, BURST));
  const { waiting } = await child("waiting", side, url, BURST);
  const peaks = all.map(({ held }) => held);
  const peak = Math.max(...peaks);
  return {
    lost: Math.max(...all.map(({ ended, spans }) => ended - spans)),
    counted: Math.max(...all.map(({ counted }) => counted)),
    waiting: mebibytes(waiting),
    "at most": mebibytes(peak),
    spread: `${mebibytes(Math.min(...peaks))}–${mebibytes(peak)}`,
    goal: "<= 64",
    reached: peak <= 64 * 2 ** 20 ? "yes" : "no",
    "rss grown": mebibytes(Math.max(...all.map(({ rss }) => rss))),
  };
}

async function pastTheBound(url, side) {
  const paced = await child("paced", side, url, PACED);
  const long = await child("burst", side, url, LONG_BURST);
  const told = ({ counted, ended, spans }) => `${ended - spans} / ${counted}`;
  return {
    "120,000 a second": `${told(paced)} of ${PACED}`,
    "reached a second": Math.round(paced.rate),
    "in one tick": `${told(long)} of ${LONG_BURST}`,
    "MiB at most": mebibytes(long.held),
  };
}

function mebibytes(bytes) {
  return Number((bytes / 2 ** 20).toFixed(1));
}
