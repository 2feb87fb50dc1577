import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { NdjsonSessionLog, readRows } from "../../src/entries/audit.ts";
import { command } from "../cli/support/command.ts";
import { recording } from "../cli/support/recorded.ts";
import type { RunList } from "../view/support/view-documents.ts";
import { startBrowser, watchedPage } from "./support/browser.ts";
import { ViewProcess } from "./support/view-process.ts";
import { cli } from "./support/view-sample.ts";

/** The run of `nested_subagent`, which dispatches another. */
const NESTED = "01a1fbfa-4968-71c5-8c19-2e5f98e57b52";

let browser: Browser;
let folder: string;
let events: string;

beforeAll(async () => {
  browser = await startBrowser();
  folder = await mkdtemp(join(tmpdir(), "entelix-otel-view-damaged-"));
  const names = ["nested_subagent", "success"];
  const texts = await Promise.all(names.map((name) => readFile(recording(name), "utf8")));
  events = texts.join("");
});
afterAll(async () => {
  await browser?.close();
  await rm(folder, { recursive: true, force: true });
});

interface Damaged {
  /** What is viewed. */
  readonly place: string;
  /** What is said: where, on which line, and what is wrong. */
  readonly where: string;
  readonly line?: number;
  readonly what: string;
  /** How the runs are shown that are left. */
  readonly runs: readonly string[];
}

const ALL = ["complete coordinator", "complete react", "complete react"];

async function audited(name: string): Promise<string> {
  const [file, audit] = [join(folder, `${name}.ndjson`), join(folder, name)];
  await writeFile(file, events);
  await cli("replay", file, "--audit", audit, "--no-spans");
  return audit;
}

/** The same log in segments of a few rows. */
async function inSegments(audit: string, name: string): Promise<string> {
  const directory = join(folder, name);
  const log = await NdjsonSessionLog.open(directory, { segmentBytes: 2_048 });
  for await (const { tenant_id, thread_id, ordinal, ...row } of readRows(audit)) {
    const entry = { ...row, event: JSON.parse(row.event_text) };
    const { ordinal: stored } = await log.append({ tenant_id, thread_id }, [entry]);
    expect(stored).toBe(ordinal);
  }
  await log.close();
  return directory;
}

const DAMAGES: readonly (readonly [name: string, damage: () => Promise<Damaged>])[] = [
  [
    "a recording with a bad line in its middle",
    async () => {
      const place = join(folder, "middle.ndjson");
      const lines = events.split("\n");
      await writeFile(place, lines.toSpliced(4, 0, '{"type":"tool_start", broken').join("\n"));
      const what = "json: expected a property name at column 23";
      return { place, where: place, line: 5, what, runs: ALL };
    },
  ],
  [
    "a log with an edited row",
    async () => {
      const place = await audited("edited");
      const segment = join(place, "segment-00000001.ndjson");
      const lines = (await readFile(segment, "utf8")).split("\n");
      const at = lines.findIndex((line) => line.includes('"kind":"tool_call"'));
      await writeFile(segment, lines.with(at, lines[at]?.replace("tu-1", "tu-9") ?? "").join("\n"));
      const what = "edited: the event is not the one the row's digest was made of";
      return { place, where: "segment-00000001.ndjson", line: at + 1, what, runs: ALL };
    },
  ],
  [
    "a log with a missing segment",
    async () => {
      const place = await inSegments(await audited("whole"), "missing");
      const names = (await readdir(place)).filter((name) => name.endsWith(".ndjson")).sort();
      expect(names.length).toBeGreaterThan(3);
      const where = names[1] ?? "";
      await rm(join(place, where));
      return { place, where, what: "the segment is missing", runs: ALL };
    },
  ],
  [
    "a gzip file that is cut",
    async () => {
      const place = join(folder, "cut.ndjson.gz");
      const whole = gzipSync(events);
      await writeFile(place, whole.subarray(0, whole.length - 12));
      const what = "cannot be read to its end: unexpected end of file";
      return { place, where: place, what, runs: ["abandoned react", ...ALL.slice(0, 2)] };
    },
  ],
  [
    "a span file with a line that is no request",
    async () => {
      const place = join(folder, "spans.ndjson");
      const [file, out] = [join(folder, "all.ndjson"), join(folder, "all.spans")];
      await writeFile(file, events);
      await cli("replay", file, "--out", out);
      const text = await readFile(out, "utf8");
      await writeFile(place, `${text}[]\n${text}`);
      const what = "expected an ExportTraceServiceRequest in JSON on one line";
      return { place, where: place, line: text.split("\n").length, what, runs: ALL };
    },
  ],
];

describe("damaged input", () => {
  it.each(DAMAGES)("is named, and the rest is shown: %s", async (_, damage) => {
    const { line, place, runs, what, where } = await damage();
    const { code, stdout } = await command(["view", place, "--json"]);
    const list: RunList = JSON.parse(stdout);
    const [source] = list.sources;
    expect(source?.problems).toEqual([
      {
        place: where,
        problem: expect.stringContaining(what),
        ...(line === undefined ? {} : { line }),
      },
    ]);
    expect(code).toBe(2);
    expect(list.runs.map(({ agent, outcome }) => `${outcome} ${agent}`).toSorted()).toEqual(runs);
    if (source?.kind === "audit-log") {
      expect(source.verdict?.state).toBe("damaged");
      expect((await command(["audit", "verify", place])).code).toBe(2);
    }

    const view = await ViewProcess.start([place]);
    const { errors, page } = await watchedPage(browser, `${view.origin}/`);
    await page.goto(view.url);
    const told = page.locator(".sources .problems li").filter({ hasText: what }).first();
    await told.waitFor();
    const shown = line === undefined ? where : `${where}:${line}`;
    expect(await told.locator("code").innerText()).toBe(shown);
    await page.getByLabel("Sub-runs too").check();
    const rows = page.getByRole("grid", { name: "Runs" }).getByRole("row");
    await expect.poll(() => rows.count()).toBe(runs.length + 1);
    await page.goto(`${view.origin}/#/run/${NESTED}?view=timeline`);
    const spans = page.getByRole("tree", { name: "Spans" }).getByRole("treeitem");
    await expect.poll(() => spans.count()).toBeGreaterThan(1);
    expect(errors).toEqual([]);
    await page.context().close();
    expect(await view.stop()).toBe(0);
  });
});
