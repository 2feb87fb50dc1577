import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { AgentEvent } from "../../src/index.ts";
import { RunEvents } from "../support/run-events.ts";
import { startBrowser, watchedPage } from "./support/browser.ts";
import { ViewProcess } from "./support/view-process.ts";

const NIGHT = 8 * 3600;
const ASKED = new RunEvents("018f3c7a-0000-7000-8000-0000000000a1");
const PAUSED = new RunEvents("018f3c7a-0000-7000-8000-0000000000a2");
const RETRIED = new RunEvents("018f3c7a-0000-7000-8000-0000000000a3");

/** An event, so many seconds after the first one. */
const line = (second: number, event: AgentEvent, details?: object) =>
  JSON.stringify({
    timestamp: new Date(Date.UTC(2026, 3, 29, 12) + second * 1000).toISOString(),
    ...event,
    ...(details === undefined ? {} : { details }),
  });

const decision = { by: "user", wait_ms: NIGHT * 1000 };

/** Five seconds of work in each run, and a night in which it waits: for an approval, or paused. */
const LINES = [
  line(0, ASKED.started()),
  line(1, ASKED.toolStart("c1")),
  line(2, ASKED.toolComplete("c1")),
  line(3 + NIGHT, ASKED.approved("c2"), { decision }),
  line(3 + NIGHT, ASKED.toolStart("c2")),
  line(4 + NIGHT, ASKED.toolComplete("c2")),
  line(5 + NIGHT, ASKED.complete()),
  line(0, PAUSED.started()),
  line(1, PAUSED.toolStart("c1")),
  line(2, PAUSED.toolComplete("c1")),
  line(3, PAUSED.interrupted()),
  line(3 + NIGHT, PAUSED.started()),
  line(3 + NIGHT, PAUSED.toolStart("c2")),
  line(4 + NIGHT, PAUSED.toolComplete("c2")),
  line(5 + NIGHT, PAUSED.complete()),
  line(0, RETRIED.started()),
  ...[10, 13, 16].flatMap((at) => [
    line(at, RETRIED.toolStart(`c${at}`)),
    line(at + 1, at < 16 ? RETRIED.toolError(`c${at}`) : RETRIED.toolComplete(`c${at}`)),
  ]),
  line(20, RETRIED.complete()),
];

let folder: string;
let browser: Browser;
let view: ViewProcess;
let page: Page;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "entelix-otel-view-waits-"));
  const file = join(folder, "run.ndjson");
  await writeFile(file, `${LINES.join("\n")}\n`);
  [browser, view] = await Promise.all([startBrowser(), ViewProcess.start([file])]);
  ({ page } = await watchedPage(browser, `${view.origin}/`));
  await page.setViewportSize({ width: 1280, height: 900 });
  await page.goto(view.url);
});
afterAll(async () => {
  await browser?.close();
  await view?.stop();
  if (folder !== undefined) await rm(folder, { recursive: true, force: true });
});

it.each([
  ["that waited for an approval", ASKED.run_id],
  ["that paused", PAUSED.run_id],
])("draws the work of a run %s for a night as wide as without it", async (_, run) => {
  await page.goto(`${view.origin}/#/run/${run}?view=timeline`);
  await page.getByText("waiting for people, drawn shorter").waitFor();
  const title = "Waiting for people: 8 h 0 min, drawn shorter";
  expect(await page.locator(".axis .cut").getAttribute("title")).toBe(title);
  await expect.poll(() => page.locator(".axis .track").innerText()).toMatch(/^0(\s+[1-5]\.0 s)+$/);
  const widthOf = async (selector: string) => {
    const boxes = await Promise.all(
      (await page.locator(selector).all()).map((bar) => bar.boundingBox()),
    );
    return boxes.map((box) => Math.round(box?.width ?? 0));
  };
  const [track = 0] = await widthOf(".axis .track");
  // One second of five, and a wait that takes a tenth of them.
  const second = track / 5.5;
  const tools = await widthOf(".tree .bar.tool");
  expect(tools).toHaveLength(2);
  for (const tool of tools) expect(Math.abs(tool - second)).toBeLessThan(2);
  const [wait = 0] = await widthOf(".tree .bar.wait");
  expect(Math.abs(wait - second / 2)).toBeLessThan(2);
});

it("zooms to all calls of a fold, also where the first failure is inside it", async () => {
  await page.goto(`${view.origin}/#/run/${RETRIED.run_id}?view=timeline`);
  const tree = page.getByRole("tree", { name: "Spans" });
  await tree.focus();
  const axis = () => page.locator(".axis .track").innerText();
  const bars = () => page.locator(".tree .bar.tool").count();
  await expect.poll(bars).toBe(3);
  await page.keyboard.press("z");
  // From the start of the first call, for 7 s to the end of the last one.
  await expect.poll(axis).toMatch(/^10\.0 s(\s+\+[1-7]\.0 s)+$/);
  expect(await bars()).toBe(3);
  const note = page.getByText("The time axis shows fetch only.");
  expect(await note.last().isVisible()).toBe(false);
  await page.emulateMedia({ media: "print" });
  expect(await note.last().isVisible()).toBe(true);
  await page.emulateMedia({ media: "screen" });
  await page.reload();
  await expect.poll(axis).toMatch(/^10\.0 s/);
  await tree.focus();
  await page.keyboard.press("z");
  await expect.poll(axis).toMatch(/^0/);
});
