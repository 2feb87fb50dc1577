import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startBrowser, watchedPage } from "./support/browser.ts";
import { shipped } from "./support/stack.ts";
import { ViewProcess } from "./support/view-process.ts";
import { type ViewSample, viewSample } from "./support/view-sample.ts";

/** `npm run view:pictures` draws those of the documentation; a test run leaves them as they are. */
const drawsDocs = process.env.ENTELIX_VIEW_PICTURES === "1";

let browser: Browser;
let sample: ViewSample;
let view: ViewProcess;
let page: Page;
let folder: string;

beforeAll(async () => {
  [browser, sample] = await Promise.all([startBrowser(), viewSample()]);
  folder = drawsDocs
    ? shipped("docs/images")
    : await mkdtemp(join(tmpdir(), "entelix-otel-pictures-"));
  view = await ViewProcess.start(sample.places);
  const viewport = { width: 1_200, height: 760 };
  ({ page } = await watchedPage(browser, `${view.origin}/`, { viewport, timezoneId: "UTC" }));
  await page.goto(view.url);
});
afterAll(async () => {
  await browser?.close();
  await view?.stop();
  await sample?.remove();
  if (!drawsDocs && folder !== undefined) await rm(folder, { recursive: true, force: true });
});

it.each([
  ["list", "", "2026-11-21"],
  ["run", "run/01a1fbfa-4968-71c5-8c19-2e5f98e57b52?span=7b7e3daa355bf724", "Input of the tool"],
  ["failure", "run/01a1fbfa-48c1-71d5-8faa-5819dc0675b4", "What the model received"],
  ["pause", "run/01a1fbfa-6d3c-7a41-9c5e-2f60c1d7b8a4", "Resumes"],
  ["graph", "run/01a1fbfa-4968-71c5-8c19-2e5f98e57b52?view=graph", "research_team"],
])("draws view-%s.png", async (name, address, shown) => {
  await page.goto(`${view.origin}/#/${address}`);
  await page.getByText(shown).filter({ visible: true }).first().waitFor();
  await page.evaluate("document.fonts.ready");
  const path = join(folder, `view-${name}.png`);
  await page.screenshot({ path, animations: "disabled" });
  const bytes = await readFile(path);
  expect(bytes.subarray(1, 4).toString()).toBe("PNG");
  expect([bytes.readUInt32BE(16), bytes.readUInt32BE(20)]).toEqual([1_200, 760]);
});
