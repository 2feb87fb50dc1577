import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { AgentEvent } from "../../src/index.ts";
import { RunEvents } from "../support/run-events.ts";
import { seriousFindings, spokenName, startBrowser, watchedPage } from "./support/browser.ts";
import { ViewProcess } from "./support/view-process.ts";

const EDITED = new RunEvents("018f3c7a-0000-7000-8000-0000000000b1");
const FAILED = new RunEvents("018f3c7a-0000-7000-8000-0000000000b2");
const ONCE = new RunEvents("018f3c7a-0000-7000-8000-0000000000b3");
const WIDE = new RunEvents("018f3c7a-0000-7000-8000-0000000000b4");
const MANY = new RunEvents("018f3c7a-0000-7000-8000-0000000000b5");
const NAME = "HumanInTheLoopMiddleware.after_model";
const FAILURES = 1500;

/** An event, so many seconds after the first one. */
const line = (second: number, event: AgentEvent, details?: object) =>
  JSON.stringify({
    timestamp: new Date(Date.UTC(2026, 3, 29, 12) + second * 1000).toISOString(),
    ...event,
    ...(details === undefined ? {} : { details }),
  });

const decision = {
  outcome: "edited",
  by: "user",
  person: "ann@acme.test",
  wait_ms: 1200,
  proposed_input: { order: 17, euros: 41.9 },
};
const usage = { input_tokens: 400, output_tokens: 30 };

const LINES = [
  // The nodes of a graph around a model call and a call that a person edited.
  line(0, EDITED.started("support")),
  line(1, EDITED.stepStart("s1", { step: "model_request" })),
  line(1.2, EDITED.modelStart("m1"), { step_id: "s1" }),
  line(1.8, EDITED.modelComplete("m1", { usage, cost_usd: "0.0012" })),
  line(2, EDITED.stepComplete("s1", { step: "model_request" })),
  line(3, EDITED.stepStart("s2", { step: NAME })),
  line(3, EDITED.stepComplete("s2", { step: NAME })),
  line(4, EDITED.stepStart("s3", { step: "tools" })),
  line(5, EDITED.approved("c1", "refund"), { decision }),
  line(5, EDITED.toolStart("c1", "refund", { order: 17, euros: 20 }), { step_id: "s3" }),
  line(6, EDITED.toolComplete("c1", "refund")),
  line(6, EDITED.stepComplete("s3", { step: "tools" })),
  line(7, EDITED.complete()),
  // Three failures.
  line(0, FAILED.started()),
  ...["search", "send_mail"].flatMap((tool, at) => [
    line(2 * at + 1, FAILED.toolStart(tool, tool)),
    line(2 * at + 2, FAILED.toolError(tool, { tool })),
  ]),
  line(8, FAILED.modelStart("m1")),
  line(9, FAILED.modelError("m1")),
  line(9, FAILED.failed()),
  // One failure, which the step and the run failed with.
  line(0, ONCE.started()),
  line(1, ONCE.stepStart("s1", { step: "tools" })),
  line(1, ONCE.toolStart("c1"), { step_id: "s1" }),
  line(2, ONCE.toolError("c1")),
  line(2, ONCE.stepError("s1", { step: "tools" })),
  line(2, ONCE.failed()),
  line(0, WIDE.started("W".repeat(19))),
  line(1, WIDE.toolStart("c1", "W".repeat(60))),
  line(2, WIDE.toolComplete("c1", "W".repeat(60))),
  line(3, WIDE.complete()),
  line(0, MANY.started()),
  ...Array.from({ length: FAILURES }, (_, at) => [
    line(2 * at, MANY.toolStart(`c${at}`, `t${at}`)),
    line(2 * at + 1, MANY.toolError(`c${at}`, { tool: `t${at}` })),
  ]).flat(),
  line(2 * FAILURES, MANY.complete()),
];

let folder: string;
let browser: Browser;
let view: ViewProcess;
let page: Page;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "entelix-otel-view-timeline-"));
  const file = join(folder, "runs.ndjson");
  await writeFile(file, `${LINES.join("\n")}\n`);
  [browser, view] = await Promise.all([startBrowser(), ViewProcess.start([file])]);
  const viewport = { width: 1440, height: 900 };
  ({ page } = await watchedPage(browser, `${view.origin}/`, { bypassCSP: true, viewport }));
  await page.goto(view.url);
});
afterAll(async () => {
  await browser?.close();
  await view?.stop();
  if (folder !== undefined) await rm(folder, { recursive: true, force: true });
});

const items = () => page.getByRole("tree", { name: "Spans" }).getByRole("treeitem");
const details = () => page.getByRole("region", { name: "Details of the span" });
const open = async ({ run_id }: RunEvents) => {
  await page.goto(`${view.origin}/#/run/${run_id}?view=timeline`);
  await items().first().waitFor();
};
const names = async () => {
  const rows = await items().all();
  return Promise.all(
    rows.map(async (row) => (await row.locator("bdi").first().innerText()).trim()),
  );
};

describe("the steps of a framework", () => {
  const steps = () => page.getByRole("checkbox", { name: "Steps" });
  const all = ["support", "model_request", "small-1", NAME, "tools", "refund"];

  it("are hidden, shown by a switch, and remembered", async () => {
    await open(EDITED);
    await expect.poll(names).toEqual(["support", "small-1", "refund"]);
    await page.getByText("Steps 3 hidden").waitFor();
    expect(await items().nth(2).getAttribute("aria-level")).toBe("2");
    expect(await items().nth(2).getAttribute("aria-setsize")).toBe("2");
    await steps().check();
    await expect.poll(names).toEqual(all);
    await page.reload();
    await expect.poll(names).toEqual(all);
    await steps().uncheck();
    await expect.poll(names).toEqual(["support", "small-1", "refund"]);
  });

  it("have a row while one is selected, and keys go on from there", async () => {
    await open(EDITED);
    await steps().check();
    await page.getByRole("treeitem", { name: "tools" }).click();
    const address = page.url();
    await steps().uncheck();
    await expect.poll(names).toEqual(["support", "small-1", "tools", "refund"]);
    await page.goto(`${view.origin}/#/`);
    await page.goto(address);
    await expect.poll(names).toEqual(["support", "small-1", "tools", "refund"]);
    expect(await items().nth(3).getAttribute("aria-level")).toBe("3");
    await page.getByRole("tree", { name: "Spans" }).focus();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await expect.poll(names).toEqual(["support", "small-1", "refund"]);
    await details().getByRole("heading", { level: 2 }).getByText("refund").waitFor();
  });

  it("have names that are not cut where there is room", async () => {
    await open(EDITED);
    await steps().check();
    const cut = () =>
      page.evaluate<string[]>(
        "[...document.querySelectorAll('.row-name > bdi')]" +
          ".filter((name) => name.scrollWidth > name.clientWidth).map((name) => name.title)",
      );
    await expect.poll(names).toEqual(all);
    await expect.poll(cut).toEqual([]);
    const name = page.getByRole("treeitem", { name: NAME }).locator("bdi");
    expect(await name.getAttribute("title")).toBe(NAME);
    await steps().uncheck();
  });
});

describe("a row", () => {
  it("says who decided, after how long, and what a call cost", async () => {
    await open(EDITED);
    const [run = "", model = "", tool = ""] = await Promise.all(
      (await items().all()).map(spokenName),
    );
    expect(run).toContain("cost $0.0012");
    expect(model).toContain("cost $0.0012");
    expect(tool).toContain("edited by ann@acme.test after 1.2 s");
    expect(await items().nth(1).locator(".usage").innerText()).toBe("$0.0012");
  });
});

describe("the head of a run", () => {
  it("says what a person changed, and leads to the call", async () => {
    await open(EDITED);
    const head = page.locator(".run-header");
    await head.getByText(": euros 41.9 → 20").waitFor();
    await head.getByRole("link", { name: "ann@acme.test edited refund after 1.2 s" }).click();
    await details().getByRole("heading", { level: 2 }).getByText("refund").waitFor();
  });

  it("has the focus after a run is opened, and the row after the way back", async () => {
    await page.goto(`${view.origin}/#/`);
    const focused = () => page.evaluate<string>("document.activeElement.tagName");
    await page.getByRole("grid", { name: "Runs" }).getByRole("link").first().click();
    await expect.poll(focused).toBe("H1");
    await page.goBack();
    await expect.poll(focused).toBe("TR");
  });

  it("begins with the error below the title on a narrow screen", async () => {
    await page.setViewportSize({ width: 400, height: 900 });
    await open(ONCE);
    const box = await page.getByText("vendor down").first().boundingBox();
    expect(box?.y).toBeLessThan(200);
    await page.setViewportSize({ width: 1440, height: 900 });
  });
});

describe("failures", () => {
  const marks = async () => {
    const path = await page.locator(".lane-failure path").getAttribute("d");
    return path?.match(/M/g)?.length;
  };

  it("have a mark each, and the first one is named where there are others", async () => {
    await open(FAILED);
    expect(await marks()).toBe(3);
    await page.locator(".lane-failure text").getByText("first failure").waitFor();
    await page.getByText("First of 3 failures.").waitFor();
    await page.getByRole("tree", { name: "Spans" }).focus();
    await page.keyboard.press("End");
    await page.keyboard.press("f");
    const selected = page.locator('[role="treeitem"][aria-selected="true"]');
    await expect.poll(() => spokenName(selected)).toContain("search First failure");
  });

  it("are one where only parents failed because of it", async () => {
    await open(ONCE);
    expect(await marks()).toBe(1);
    await page.getByText("rows, 1 failure").waitFor();
    await items().first().click();
    await page.getByText("It failed because of").getByRole("button", { name: "fetch" }).click();
    await details().getByRole("heading", { level: 2 }).getByText("fetch").waitFor();
    await items().first().click();
    await page.getByRole("button", { name: "Failure f", exact: true }).click();
    await details().getByRole("heading", { level: 2 }).getByText("fetch").waitFor();
    expect(await page.getByText("first failure").count()).toBe(0);
    // The step failed because of the call, so it has no row.
    await expect.poll(names).toEqual(["react", "fetch"]);
  });

  it("of a large run are one element", async () => {
    await open(MANY);
    await page.getByText("1,500 failures").first().waitFor();
    expect(await page.locator(".lane-failure > *").count()).toBe(2);
    const width = await page.evaluate<number>("document.querySelector('.lane svg').clientWidth");
    expect(await marks()).toBeLessThanOrEqual(width / 3 + 1);
  });
});

describe("the graph", () => {
  it("keeps wide letters inside of their boxes, and stands in the middle", async () => {
    await open(WIDE);
    await page.getByRole("tab", { name: "Graph" }).click();
    const parts = page.locator(".graph .part");
    await parts.first().waitFor();
    for (const part of await parts.all()) {
      const box = await part.locator("rect").boundingBox();
      for (const text of await part.locator("text").all()) {
        const own = await text.boundingBox();
        expect(own?.width).toBeLessThanOrEqual(box?.width ?? 0);
      }
    }
    const [area, picture] = [
      await page.locator(".graph").boundingBox(),
      await page.locator(".graph svg").boundingBox(),
    ];
    const middle = (box: typeof area) => (box?.x ?? 0) + (box?.width ?? 0) / 2;
    expect(Math.abs(middle(area) - middle(picture))).toBeLessThan(2);
  });
});

it.each([
  [400, "light"],
  [1440, "dark"],
] as const)("axe finds nothing serious at %i px, %s", async (width, colorScheme) => {
  await page.setViewportSize({ width, height: 900 });
  await page.emulateMedia({ colorScheme });
  for (const run of [EDITED, FAILED]) {
    await open(run);
    expect(await seriousFindings(page)).toEqual([]);
  }
});
