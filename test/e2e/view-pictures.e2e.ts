import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startBrowser, watchedPage } from "./support/browser.ts";
import { shipped } from "./support/stack.ts";
import { ViewProcess } from "./support/view-process.ts";
import { type ViewSample, viewSample } from "./support/view-sample.ts";

/** `npm run view:pictures` draws those of the documentation; a test run leaves them as they are. */
const drawsDocs = process.env.ENTELIX_VIEW_PICTURES === "1";

/** What the demo plays. */
const DEMO = shipped("recordings/support/events.ndjson");
/** A refund that a person changed. */
const STORY = "run/01a22916-3217-75ad-9e98-2a2cf057f049";

const THEMES = ["light", "dark"] as const;

let browser: Browser;
let sample: ViewSample;
let folder: string;

beforeAll(async () => {
  [browser, sample] = await Promise.all([startBrowser(), viewSample()]);
  folder = drawsDocs
    ? shipped("docs/images")
    : await mkdtemp(join(tmpdir(), "entelix-otel-pictures-"));
});
afterAll(async () => {
  await browser?.close();
  await sample?.remove();
  if (!drawsDocs && folder !== undefined) await rm(folder, { recursive: true, force: true });
});

describe.each(THEMES)("the %s theme", (theme) => {
  let view: ViewProcess;
  let page: Page;

  /** Opens the page of some sources. */
  async function open(places: readonly string[]): Promise<void> {
    view = await ViewProcess.start(places);
    const viewport = { width: 1_200, height: 760 };
    const options = { viewport, timezoneId: "UTC", colorScheme: theme };
    ({ page } = await watchedPage(browser, `${view.origin}/`, options));
    await page.goto(view.url);
  }

  /** Takes the picture of an address, once it shows a text. */
  async function draw(name: string, address: string, shown: string, width = 1_200): Promise<void> {
    await page.setViewportSize({ width, height: 760 });
    await page.goto(`${view.origin}/#/${address}`);
    await page.getByText(shown).filter({ visible: true }).first().waitFor();
    await page.evaluate("document.fonts.ready");
    const path = join(folder, `view-${name}-${theme}.png`);
    await page.screenshot({ path, animations: "disabled" });
    const bytes = await readFile(path);
    expect(bytes.subarray(1, 4).toString()).toBe("PNG");
    expect([bytes.readUInt32BE(16), bytes.readUInt32BE(20)]).toEqual([width, 760]);
  }

  describe("of the recordings", () => {
    beforeAll(() => open(sample.places));
    afterAll(() => view?.stop());

    it.each([
      [
        "run",
        "run/01a1fbfa-4968-71c5-8c19-2e5f98e57b52?span=7b7e3daa355bf724",
        "Input of the tool",
      ],
      ["failure", "run/01a1fbfa-48c1-71d5-8faa-5819dc0675b4?view=timeline", "Error, for the model"],
      ["pause", "run/01a1fbfa-6d3c-7a41-9c5e-2f60c1d7b8a4?view=timeline", "Resumes"],
      ["graph", "run/01a1fbfa-4968-71c5-8c19-2e5f98e57b52?view=graph", "research_team"],
    ])("draws view-%s.png", draw);
  });

  describe("of the demo", () => {
    beforeAll(() => open([DEMO]));
    afterAll(() => view?.stop());

    it.each([
      ["list", "", "Where is order 17?", 1_200],
      ["list-narrow", "", "Where is order 17?", 400],
      ["list-wide", "", "Where is order 17?", 2_400],
      ["story", STORY, "1 failed attempt", 1_200],
      ["story-narrow", STORY, "1 failed attempt", 400],
    ])("draws view-%s.png", draw);

    it("has the decision and the failure of the story on its first screen", async () => {
      await page.setViewportSize({ width: 1_200, height: 760 });
      await page.goto(`${view.origin}/#/${STORY}`);
      const call = page.locator(".talk-item", { hasText: "1 failed attempt" });
      await call.waitFor();
      const text = await call.innerText();
      expect(text).toContain("ann@acme.test edited refund after 2 min: euros 41.9 → 36.9");
      expect(text).toContain("1 failed attempt payment service answered 503");
      const box = await call.boundingBox();
      expect((box?.y ?? 760) + (box?.height ?? 0)).toBeLessThan(760);
    });
  });
});
