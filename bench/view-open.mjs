// npm run build && node bench/view-open.mjs [MB] [PAIRS] [--write]: the CPU time of `view` until it has read a recording, relative
// to that of `replay` of the same file. Both are whole processes, which take turns. The recording has copies of the
// recordings of this package, with new IDs and later times, several runs at once. Also: the memory of `view`, and the
// CPU time of its server for one run that is opened then.
import { once } from "node:events";
import { createWriteStream, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath, pathToFileURL } from "node:url";
import { withBundle } from "../scripts/bundle-typescript.mjs";
import { show } from "./page.mjs";
import { format, judged, median, NAMES, pairs, ROUNDS } from "./processes.mjs";
import { measured } from "./view-open/measured.mjs";

const GOAL = 1.5;
const RECORDINGS = fileURLToPath(new URL("../recordings/", import.meta.url));
const [megabytes = 100, count = ROUNDS] = NAMES.map(Number);

const folder = mkdtempSync(join(tmpdir(), "entelix-otel-bench-open-"));
try {
  const file = join(folder, "recorded.ndjson");
  const { bytes, lines } = await written(file);
  const base = () => replay(file);
  const made = await pairs(count, base, () => view(file));
  const ratios = made.map(([replayed, viewed]) => viewed.cpuS / replayed.cpuS);
  const all = (field) => median(made.map(([, viewed]) => viewed[field]));
  const rows = [
    {
      recording: `${(bytes / 1e6).toFixed(0)} MB, ${lines} lines`,
      ...judged(ratios, GOAL),
      "replay, s": format(median(made.map(([{ cpuS }]) => cpuS))),
      "view, s": format(all("cpuS")),
      "view, MB": Math.round(all("mb")),
      "to open a run, s": format(all("openS")),
    },
  ];
  show("view-open", rows, `medians of ${count} processes`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function written(path) {
  const streams = readdirSync(RECORDINGS)
    .filter((name) => name.endsWith(".ndjson"))
    .map((name) => readFileSync(join(RECORDINGS, name), "utf8").trimEnd().split("\n"));
  const copies = new URL("replay/copies.mjs", import.meta.url);
  const { freshBatches } = await withBundle(copies, (path) => import(pathToFileURL(path).href));
  const out = createWriteStream(path);
  let bytes = 0;
  let lines = 0;
  for (const batch of freshBatches(streams, 5_000)) {
    const text = `${batch.join("\n")}\n`;
    bytes += text.length;
    lines += batch.length;
    if (!out.write(text)) await once(out, "drain");
    if (bytes >= megabytes * 1e6) break;
  }
  out.end();
  await once(out, "finish");
  return { bytes, lines };
}

async function replay(file) {
  const { child, costs } = measured(["replay", file, "--json"]);
  child.stdout.resume();
  await once(child, "close");
  return costs.at(-1);
}

async function view(file) {
  const { child, cost } = measured(["view", file]);
  try {
    let said = "";
    for await (const chunk of child.stdout) {
      said += chunk;
      if (/\?token=\S+\s/.test(said)) break;
    }
    const [url] = /http:\S+/.exec(said) ?? [];
    const page = await (await fetch(url)).text();
    const [, session] = /entelix-otel\.session" content="([\w-]+)"/.exec(page) ?? [];
    const ask = async (path) => {
      const headers = { authorization: `Bearer ${session}` };
      return (await fetch(new URL(path, url), { headers })).text();
    };
    const isRead = async () =>
      JSON.parse(await ask("/runs?since=999999999")).sources.every(({ read }) => read === 1);
    while (!(await isRead())) await sleep(200);
    const read = await cost();
    const { runs } = JSON.parse(await ask("/runs"));
    const before = await cost();
    await ask(`/run/parts?key=${encodeURIComponent(runs[runs.length >> 1].key)}`);
    const after = await cost();
    return { ...read, openS: after.cpuS - before.cpuS };
  } finally {
    child.kill("SIGINT");
    await once(child, "exit");
  }
}
