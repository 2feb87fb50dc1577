import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  seriousFindings,
  spokenName,
  startBrowser,
  type WatchedPage,
  watchedPage,
} from "./support/browser.ts";
import { ViewProcess } from "./support/view-process.ts";
import { type ViewSample, viewSample } from "./support/view-sample.ts";

/** Runs of the recordings: one with a sub-agent, and one that failed by a tool. */
const NESTED = "01a1fbfa-4968-71c5-8c19-2e5f98e57b52";
const FAILED = "01a1fbfa-48c1-71d5-8faa-5819dc0675b4";

let browser: Browser;
let sample: ViewSample;
let view: ViewProcess;
let watched: WatchedPage;
let page: Page;

beforeAll(async () => {
  [browser, sample] = await Promise.all([startBrowser(), viewSample()]);
  view = await ViewProcess.start(sample.places);
  // axe is a script of its own, which the policy of the page would not let in.
  watched = await watchedPage(browser, `${view.origin}/`, { bypassCSP: true });
  page = watched.page;
  await page.goto(view.url);
});
afterAll(async () => {
  await browser?.close();
  await view?.stop();
  await sample?.remove();
});

const rows = () =>
  page
    .getByRole("grid", { name: "Runs" })
    .getByRole("row")
    .filter({ has: page.getByRole("link") });
const items = () => page.getByRole("tree", { name: "Spans" }).getByRole("treeitem");
const selected = () => page.locator('[role="treeitem"][aria-selected="true"]').first();

describe("a run that is read slowly", () => {
  it("has its head from the list, and says that it is being read", async () => {
    await page.goto(`${view.origin}/#/`);
    await expect.poll(() => rows().count()).toBe(10);
    let answer: () => void = () => {};
    const asked = new Promise<void>((resolve) => {
      answer = resolve;
    });
    await page.route(/\/run\/parts/, async (route) => {
      await asked;
      await route.continue();
    });
    await page.goto(`${view.origin}/#/run/${FAILED}?view=timeline`);
    await page.getByText("Reading the run").waitFor();
    expect(await page.getByRole("heading", { level: 1 }).innerText()).not.toBe("");
    expect(await page.locator(".run-header .badge").first().innerText()).toContain("failed");
    expect(await page.getByText(/^0 of \d+ spans$/).count()).toBe(1);
    expect(await items().count()).toBe(0);
    answer();
    await items().first().waitFor();
    expect(await page.getByText("Reading the run").count()).toBe(0);
    await page.unroute(/\/run\/parts/);
  });
});

describe("the list", () => {
  it("filters by outcome, and keeps the filter in its address", async () => {
    await page.goto(`${view.origin}/#/`);
    await expect.poll(() => rows().count()).toBe(10);
    await page.locator("summary").filter({ hasText: "Outcome" }).click();
    await page.getByRole("checkbox", { name: /^failed/ }).check();
    await expect.poll(() => rows().count()).toBe(3);
    const address = page.url();
    expect(address).toContain("outcome=failed");
    await page.goto(`${view.origin}/#/`);
    await expect.poll(() => rows().count()).toBe(10);
    await page.goto(address);
    await expect.poll(() => rows().count()).toBe(3);
  });

  it("searches in the columns and in ids", async () => {
    await page.goto(`${view.origin}/#/`);
    const search = page.getByRole("searchbox");
    for (const [text, found] of [
      ["globex", 2],
      [FAILED, 1],
      [FAILED.replaceAll("-", ""), 1],
      ["no such text", 0],
      ["", 10],
    ] as const) {
      await search.fill(text);
      await expect.poll(() => rows().count(), { message: text }).toBe(found);
    }
  });

  it("sorts", async () => {
    await page.goto(`${view.origin}/#/`);
    await expect.poll(() => rows().count()).toBe(10);
    const agents = () => rows().locator(".cell-agent bdi").allInnerTexts();
    await page.getByRole("columnheader", { name: "Agent" }).getByRole("button").click();
    await expect.poll(agents).toEqual((await agents()).toSorted());
  });

  it("is used by keys alone: search, rows, the run, and back at the same row", async () => {
    await page.goto(`${view.origin}/#/`);
    await expect.poll(() => rows().count()).toBe(10);
    await page.locator("body").press("/");
    await expect(page.evaluate("document.activeElement.type")).resolves.toBe("search");
    await page.keyboard.type("acme");
    await expect.poll(() => rows().count()).toBe(8);
    await page.getByRole("grid", { name: "Runs" }).focus();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await expect.poll(() => page.url()).toContain("#/run/");
    await page.getByRole("tab", { name: "Timeline" }).waitFor();
    await page.goBack();
    await expect.poll(() => rows().count()).toBe(8);
  });
});

describe("a run", () => {
  it("shows its failure, and failures only", async () => {
    await page.goto(`${view.origin}/#/run/${FAILED}?view=timeline`);
    await expect.poll(() => items().count()).toBe(2);
    // The run failed because of the call: that is one failure.
    await expect.poll(() => spokenName(selected())).toMatch(/^tool call .* failed/);
    expect(await page.getByText("First failure").count()).toBe(0);
    const details = page.getByRole("region", { name: "Details of the span" });
    await details.getByText("Error, for the operator").waitFor();
    expect(await details.innerText()).toContain("expired service account");
    await details.getByText("Error, for the model").waitFor();
    await page.getByLabel("Failures only").check();
    for (const item of await items().all()) {
      expect(await spokenName(item)).toContain("failed");
    }
  });

  it("is a tree by keys: down, in, out, fold, the failure", async () => {
    await page.goto(`${view.origin}/#/run/${NESTED}?view=timeline`);
    await expect.poll(() => items().count()).toBe(5);
    const tree = page.getByRole("tree", { name: "Spans" });
    await tree.focus();
    await page.keyboard.press("Home");
    const active = async () => {
      const id = await tree.getAttribute("aria-activedescendant");
      return spokenName(page.locator(`[id="${id}"]`));
    };
    await expect.poll(active).toContain("run coordinator");
    await page.keyboard.press("ArrowDown");
    await expect.poll(active).toContain("tool call research_team");
    await page.keyboard.press("ArrowRight");
    await expect.poll(active).toContain("run react");
    await page.keyboard.press("ArrowLeft");
    await expect.poll(() => items().count()).toBe(4);
    await page.keyboard.press("ArrowLeft");
    await expect.poll(active).toContain("tool call research_team");
    await page.keyboard.press("ArrowLeft");
    await expect.poll(() => items().count()).toBe(3);
    await page.keyboard.press("ArrowRight");
    await expect.poll(() => items().count()).toBe(4);
    await page.keyboard.press("End");
    await expect.poll(active).toContain("tool call double");
    await page.keyboard.press("Enter");
    await expect.poll(() => spokenName(selected())).toContain("tool call double");
    await page.goto(`${view.origin}/#/run/${FAILED}?view=timeline`);
    await expect.poll(() => items().count()).toBe(2);
    await tree.focus();
    await page.keyboard.press("Home");
    await page.keyboard.press("f");
    await expect.poll(active).toMatch(/^tool call .* failed/);
  });

  it("zooms to the time of a span, and back, by key and button", async () => {
    await page.goto(`${view.origin}/#/run/${NESTED}?view=timeline`);
    await expect.poll(() => items().count()).toBe(5);
    const axis = () => page.locator(".axis .track").innerText();
    const bars = () => page.locator(".tree .bar").count();
    const window = page.locator(".lane-window");
    const whole = [await axis(), await bars()];
    expect(whole[0]).toMatch(/^0/);
    await page.getByRole("tree", { name: "Spans" }).focus();
    await page.keyboard.press("End");
    await page.keyboard.press("z");
    await expect.poll(axis).toMatch(/\+/);
    const zoom = page.getByRole("button", { name: "Zoom z" });
    expect(await zoom.getAttribute("aria-pressed")).toBe("true");
    expect(await window.count()).toBeGreaterThan(0);
    // Spans that are over by then have no bar.
    expect(await bars()).toBeLessThan(Number(whole[1]));
    await page.reload();
    await expect.poll(axis).toMatch(/\+/);
    await page.getByRole("treeitem", { name: "double" }).last().click();
    await zoom.click();
    await expect.poll(async () => [await axis(), await bars()]).toEqual(whole);
    expect(await window.count()).toBe(0);
  });

  it("copies the run id and the run as JSON", async () => {
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.goto(`${view.origin}/#/run/${NESTED}?view=timeline`);
    await page.getByRole("button", { name: "Copy run ID" }).click();
    const copied = () => page.evaluate<string>("navigator.clipboard.readText()");
    await expect.poll(copied).toBe(NESTED);
    await page.getByRole("button", { name: "Copy run as JSON" }).click();
    await expect.poll(copied).toMatch(/^\{/);
    const run = JSON.parse(await copied());
    expect([run.format, run.run.run_id, run.spans.length]).toEqual([
      "entelix-otel/view",
      NESTED,
      5,
    ]);
  });
});

const PLACES = [
  ["the list", "#/"],
  ["a run", `#/run/${NESTED}`],
  ["a failed run", `#/run/${FAILED}`],
  ["a timeline", `#/run/${NESTED}?view=timeline`],
  ["the graph", `#/run/${NESTED}?view=graph`],
  ["the cost", `#/run/${NESTED}?view=cost`],
  ["the rows", `#/run/${NESTED}?view=log`],
] as const;

describe.each(PLACES)("%s", (_, address) => {
  it.each([
    [360, "light"],
    [1_280, "dark"],
    [2_560, "light"],
    [360, "dark"],
  ] as const)("fits into %i px, %s, and axe finds nothing serious", async (width, scheme) => {
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ colorScheme: scheme });
    await page.goto(`${view.origin}/${address}`);
    await page.getByRole("heading", { level: 1 }).waitFor();
    await page.waitForFunction("!document.querySelector('[aria-busy=true]')");
    const wide = await page.evaluate<number>("document.documentElement.scrollWidth");
    expect(wide).toBeLessThanOrEqual(width);
    const colour = await page.evaluate<string>("getComputedStyle(document.body).color");
    const lightness = Math.max(...(colour.match(/[\d.]+/g) ?? []).slice(0, 3).map(Number));
    expect(lightness > 128, colour).toBe(scheme === "dark");
    expect(await seriousFindings(page)).toEqual([]);
  });
});

it("asked for nothing but its own data meanwhile", () => {
  expect([watched.outgoing, watched.errors]).toEqual([[], []]);
});
