// npm run build && node bench/view-page.mjs [BROWSERS] [run] [--write]: what the page of `view` costs the browser. A run with 20,000 spans is
// opened in five fresh browsers, for the CPU time of its script and the time until head, first failure and tree are
// there, and scrolled; a list of 100,000 runs is searched,
// sorted and scrolled. Of each part stands the longest task of the main thread, by the wall clock and by its CPU time:
// on a machine that does something else they differ.
//
// Needs Debian's Chromium: `npm run servers chromium`.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createWriteStream, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";
import { chromium as findChromium } from "../scripts/servers/chromium.mjs";
import { show } from "./page.mjs";
import { median, NAMES, ROUNDS } from "./processes.mjs";

const SPANS = 20_000;
const RUNS = 100_000;
/** Browsers that open the run. */
const OPENED = Number(NAMES[0] ?? ROUNDS);
const GOALS = { scriptS: 2, taskMs: 100, shownMs: 500 };
const BEGIN = Date.parse("2026-11-02T08:00:00Z");
const TOOLS = ["search_docs", "sql_query", "send_email", "read_file", "calculator"];
const ARGS = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

const runId = (n) => `01a1fbfa-0000-7000-8000-${n.toString(16).padStart(12, "0")}`;
const line = (ms, event) =>
  `${JSON.stringify({ timestamp: new Date(BEGIN + ms).toISOString(), ...event })}\n`;

/** Runs of sub-agents with calls, one in 50 failed; the root and its sub-agents are a tenth of the spans. */
function* bigRun() {
  const root = { run_id: runId(1), tenant_id: "acme" };
  yield line(0, { type: "started", ...root, parent_run_id: null, agent: "coordinator" });
  let ms = 0;
  for (let child = 2; child <= SPANS / 10; child++) {
    const own = { run_id: runId(child), tenant_id: "acme" };
    ms += 3;
    yield line(ms, {
      type: "started",
      ...own,
      parent_run_id: root.run_id,
      agent: `worker-${child % 40}`,
    });
    for (let k = 0; k < 9; k++) {
      const call = {
        ...own,
        tool_use_id: `tu-${k}`,
        tool: TOOLS[(child + k) % TOOLS.length],
        tool_version: "1.0.0",
      };
      ms += 5;
      yield line(ms, {
        type: "tool_start",
        ...call,
        input: { query: `orders of customer ${ms}` },
      });
      ms += 20 + (child % 7);
      if ((child + k) % 50 > 0)
        yield line(ms, { type: "tool_complete", ...call, duration_ms: 20, output: "25 rows" });
      else
        yield line(ms, {
          type: "tool_error",
          ...call,
          duration_ms: 20,
          error: "timed out",
          error_for_llm: "timed out",
          envelope: { wire_code: "timeout", wire_class: "server" },
          kind: "transient",
        });
    }
    ms += 2;
    yield line(ms, { type: "complete", ...own, state: null, usage: null });
  }
  ms += 2;
  yield line(ms, { type: "complete", ...root, state: null, usage: null });
}

function* manyRuns() {
  for (let n = 1; n <= RUNS; n++) {
    const own = { run_id: runId(n), tenant_id: `tenant-${n % 17}` };
    yield line(n * 700, { type: "started", ...own, parent_run_id: null, agent: `agent-${n % 11}` });
    const end = {
      ...own,
      state: null,
      usage: {
        requests: 4,
        input_tokens: 1200 + (n % 999),
        output_tokens: 300,
        tool_calls: 3,
        cost_usd: "0.01",
      },
    };
    const failed = {
      ...own,
      error: "vendor down",
      envelope: { wire_code: "upstream", wire_class: "server" },
      kind: { type: "model_dispatch" },
    };
    yield line(
      n * 700 + 400 + (n % 313),
      n % 20 > 0 ? { type: "complete", ...end } : { type: "failed", ...failed },
    );
  }
}

const folder = mkdtempSync(join(tmpdir(), "entelix-otel-bench-page-"));
const { path: executablePath } = await findChromium("chromium", (said) => console.error(said));
try {
  const run = await written("run.ndjson", bigRun());
  const runs = await written("runs.ndjson", manyRuns());
  const opened = [];
  for (let n = 0; n < OPENED; n++) opened.push(await viewed(run, n === OPENED - 1, openRun));
  const ms = (name) => Math.round(median(opened.map(({ shownMs }) => shownMs[name])));
  const title = `a run of ${opened[0].spans} spans`;
  const scriptS = median(opened.map((one) => one.scriptS)).toFixed(2);
  const goal = `<= ${GOALS.shownMs}`;
  const rows = [
    { [title]: "CPU time of script, s", measured: scriptS, goal: `<= ${GOALS.scriptS}` },
    { [title]: "from the click to its head, ms", measured: ms("head"), goal },
    { [title]: "to its first failure, ms", measured: ms("failure"), goal },
    { [title]: "to the tree of spans, ms", measured: ms("tree"), goal: "" },
  ];
  show("view-run", rows, `medians of ${opened.length} browsers`);
  show("view-scroll", opened.at(-1).tasks, "one browser");
  if (NAMES[1] === "run") process.exit();
  show("view-list", await viewed(runs, true, useList), `a list of ${RUNS} runs, one browser`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function written(name, lines) {
  const path = join(folder, name);
  const stream = createWriteStream(path);
  for (const text of lines) if (!stream.write(text)) await once(stream, "drain");
  stream.end();
  await once(stream, "finish");
  return path;
}

/** Serves a file by the command, and opens it in a browser of its own. */
async function viewed(file, traced, use) {
  const main = new URL("../dist/cli/main.mjs", import.meta.url).pathname;
  const server = spawn(process.execPath, [main, "view", file], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const browser = await chromium.launch({ executablePath, args: ARGS });
  try {
    let said = "";
    for await (const chunk of server.stdout) {
      said += chunk;
      if (/\?token=\S+\s/.test(said)) break;
    }
    const [url] = /http:\S+/.exec(said) ?? [];
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
    await page.goto(url);
    await allRead(page);
    return await use(page, (name, action) => longestTask(browser, page, name, action), traced);
  } finally {
    await browser.close();
    server.kill("SIGINT");
    await once(server, "exit");
  }
}

async function openRun(page, longest, traced) {
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  const scriptS = async () =>
    (await session.send("Performance.getMetrics")).metrics.find(
      ({ name }) => name === "ScriptDuration",
    ).value;
  const before = await scriptS();
  const shownMs = await page.evaluate(async (key) => {
    const times = {};
    const begin = performance.now();
    const look = () => {
      const text = document.querySelector("main.run")?.textContent ?? "";
      if (text.includes("coordinator")) times.head ??= performance.now() - begin;
      if (text.includes("First failure")) times.failure ??= performance.now() - begin;
      if (document.querySelector('[role="treeitem"]')) times.tree ??= performance.now() - begin;
    };
    const observer = new MutationObserver(look);
    observer.observe(document.body, { childList: true, subtree: true, characterData: true });
    location.hash = `#/run/${key}`;
    while (times.tree === undefined) await new Promise((drawn) => setTimeout(drawn, 20));
    observer.disconnect();
    return times;
  }, runId(1));
  const tree = page.getByRole("tree");
  await tree.getByRole("treeitem").first().waitFor();
  await page.waitForTimeout(1_500);
  const after = await scriptS();
  const spans = await page.evaluate(async (key) => {
    const headers = { authorization: `Bearer ${localStorage.getItem("entelix-otel.session")}` };
    return (await (await fetch(`/run?key=${key}`, { headers })).json()).spans.length;
  }, runId(1));
  const tasks = traced
    ? [
        await longest("wheel", async () => {
          const box = await tree.boundingBox();
          await page.mouse.move(box.x + 100, box.y + 100);
          for (let n = 0; n < 60; n++) {
            await page.mouse.wheel(0, n < 40 ? 900 : -3_000);
            await page.waitForTimeout(30);
          }
        }),
        await longest("from begin to end", () =>
          tree.evaluate(async (element) => {
            for (let n = 0; n <= 40; n++) {
              element.scrollTop = (element.scrollHeight * n) / 40;
              await new Promise((drawn) => requestAnimationFrame(drawn));
            }
          }),
        ),
        await longest("keys", async () => {
          await tree.focus();
          for (const key of ["Home", "End", "ArrowUp", "f", "PageUp"]) {
            await page.keyboard.press(key);
            await page.waitForTimeout(100);
          }
        }),
      ]
    : [];
  return { scriptS: after - before, shownMs, spans, tasks };
}

async function useList(page, longest) {
  const search = page.getByRole("searchbox");
  return [
    await longest("typing", async () => {
      await search.click();
      await page.keyboard.type("tenant-11", { delay: 120 });
      await page.waitForTimeout(500);
      await page.keyboard.press("Escape");
      await page.waitForTimeout(500);
    }),
    await longest("wheel", async () => {
      await page.mouse.move(600, 700);
      for (let n = 0; n < 60; n++) {
        await page.mouse.wheel(0, 1_200);
        await page.waitForTimeout(30);
      }
    }),
    await longest("sorting", async () => {
      for (const name of ["Agent", "Cost", "Duration", "Time"]) {
        await page.getByRole("button", { name }).last().click();
        await page.waitForTimeout(400);
      }
    }),
  ];
}

/** Waits until the page has all runs of the file. */
async function allRead(page) {
  const isRead = async () => {
    const headers = { authorization: `Bearer ${localStorage.getItem("entelix-otel.session")}` };
    const { sources } = await (await fetch("/runs?since=999999999", { headers })).json();
    return sources.length > 0 && sources.every(({ read }) => read === 1);
  };
  await page.waitForFunction(isRead, undefined, { timeout: 300_000, polling: 500 });
  await page.waitForTimeout(4_000);
}

/** The longest task of the page's main thread while something is done. */
async function longestTask(browser, page, name, action) {
  await browser.startTracing(page, { categories: ["toplevel", "devtools.timeline"] });
  await action();
  const { traceEvents } = JSON.parse((await browser.stopTracing()).toString());
  const isOfPage = (one) => one.name === "FunctionCall" || one.name === "EventDispatch";
  const { pid, tid } = traceEvents.find(isOfPage);
  const tasks = traceEvents.filter(
    (one) => one.ph === "X" && one.pid === pid && one.tid === tid && one.name.endsWith("RunTask"),
  );
  const most = (field) => Math.max(...tasks.map((one) => one[field] ?? 0)) / 1000;
  const wallMs = most("dur");
  return {
    action: name,
    "longest task, ms": wallMs.toFixed(0),
    "its CPU time, ms": most("tdur").toFixed(0),
    goal: `<= ${GOALS.taskMs}`,
    reached: wallMs <= GOALS.taskMs ? "yes" : "no",
  };
}
