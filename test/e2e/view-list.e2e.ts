import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Browser, Locator, Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { aDetail, aRun, at, FakeRuns } from "../view/support/fake-runs.ts";
import { reportText } from "../view/support/report-text.ts";
import type { RunDetail } from "../view/support/view-documents.ts";
import { seriousFindings, startBrowser, type WatchedPage, watchedPage } from "./support/browser.ts";

/** A shop's runs: one that a person decided, one that waits, a failure, and calls of a cron job. */
const SHOP: readonly RunDetail[] = [
  aDetail(
    aRun("asked", {
      start_ns: at(0),
      end_ns: at(2),
      outcome: "interrupted",
      resumed: true,
      agent: "support",
      question: "Give me my money back!",
      asked: 'refund {"euros":41.9}',
      thread_id: "t1",
      user: "u-7",
      tools: ["look_up"],
      working_ms: 2000,
      input_tokens: 100,
      output_tokens: 10,
      cost_usd: "0.10",
    }),
    { related: [{ relation: "resumed_by", run_id: "decided", key: "decided" }] },
  ),
  aDetail(
    aRun("decided", {
      start_ns: at(3),
      end_ns: at(6),
      agent: "support",
      resumed_from: "asked",
      answer: "You get 20 EUR.",
      thread_id: "t1",
      tools: ["refund"],
      tool_inputs: '{"euros":20}',
      decisions: [
        {
          call_id: "c",
          tool: "refund",
          outcome: "edited",
          at_ms: 1,
          by: "user",
          person: "ann@acme.test",
          wait_ms: 1000,
        },
      ],
      working_ms: 3000,
      waiting_ms: 1000,
      input_tokens: 50,
      output_tokens: 5,
      cost_usd: "0.05",
    }),
    {
      related: [
        { relation: "resumes", run_id: "asked", key: "asked" },
        { relation: "child", run_id: "helper", key: "helper", agent: "helper" },
      ],
    },
  ),
  aDetail(
    aRun("thanks", {
      start_ns: at(20),
      outcome: "failed",
      agent: "support",
      question: "Thanks! And order 20?",
      error: "503 The model is overloaded",
      failure_kind: "model_dispatch",
      thread_id: "t1",
      tags: ["web"],
      model: "gpt-5-mini",
      working_ms: 500,
    }),
  ),
  aDetail(
    aRun("waits", {
      start_ns: at(30),
      outcome: "interrupted",
      agent: "support",
      question: "Cancel order 18",
      asked: "cancel",
      thread_id: "t2",
      working_ms: 100,
    }),
  ),
];

/** 40 calls of a cron job, of which 3 failed. */
const CRON = Array.from({ length: 40 }, (_, n) =>
  aDetail(
    aRun(`cron ${n}`, {
      start_ns: at(100 + n),
      agent: "cron",
      outcome: n % 15 === 7 ? "failed" : "complete",
      ...(n % 15 === 7 ? { failure_kind: "internal" } : {}),
      working_ms: n + 1,
    }),
  ),
);

let browser: Browser;
let folder: string;
let watched: WatchedPage;
let page: Page;
let shop: string;
let all: string;

beforeAll(async () => {
  browser = await startBrowser();
  folder = await mkdtemp(join(tmpdir(), "entelix-otel-view-list-"));
  const written = async (name: string, details: readonly RunDetail[]) => {
    const file = join(folder, name);
    const keys = details.map(({ run }) => run.key);
    await writeFile(file, await reportText(new FakeRuns(details), keys));
    return pathToFileURL(file).href;
  };
  shop = await written("shop.html", SHOP);
  all = await written("all.html", [...SHOP, ...CRON]);
  watched = await watchedPage(browser, "file:", {
    bypassCSP: true,
    viewport: { width: 1440, height: 900 },
  });
  page = watched.page;
});
beforeEach(async () => {
  // A page of its own each time: the list remembers what was open.
  await page.goto("about:blank");
});
afterAll(async () => {
  await browser?.close();
  if (folder !== undefined) await rm(folder, { recursive: true, force: true });
});

const rows = () => page.locator(".grid tbody tr");
/** The first line of each row: question or agent. */
const names = () =>
  rows().evaluateAll((all: { querySelector(s: string): { textContent: string } }[]) =>
    all.map((row) => row.querySelector(".line-name > :last-child").textContent.split(", run ")[0]),
  );
const numbers = async () => {
  const list = page.getByRole("list", { name: "Numbers of these runs" });
  return (await list.getByRole("listitem").allInnerTexts()).map((text) =>
    text.replace(/\s+/g, " ").trim(),
  );
};
const focused = () => page.evaluate<string>("document.activeElement.dataset.at");
const row = (text: string): Locator => rows().filter({ hasText: text });

describe("a paused run and the one that continues it", () => {
  it("are one row that waits for nobody, with the paused one folded below it", async () => {
    await page.goto(`${shop}#/`);
    await expect
      .poll(names)
      .toEqual(["Cancel order 18", "Thanks! And order 20?", "Give me my money back!"]);
    const story = row("Give me my money back!");
    expect(await story.innerText()).toContain(
      "ann@acme.test edited refund after 1.0 s. You get 20",
    );
    expect(await story.locator(".cell-outcome").innerText()).toContain("complete");
    expect(await story.locator(".cell-working").innerText()).toBe("5.0 s");
    expect(await story.locator(".cell-waiting").innerText()).toBe("1.0 s");
    expect(await story.locator(".cell-cost").innerText()).toBe("$0.15");
    await story.getByRole("button", { name: "1 pause" }).click();
    expect(await rows().count()).toBe(4);
    expect(await rows().nth(3).innerText()).toContain('Waited for a person: refund {"euros":41.9}');
    await page.getByRole("link", { name: "run asked" }).click();
    await expect.poll(() => page.url()).toContain("#/run/asked");
    await page.goBack();
    await expect.poll(() => rows().count()).toBe(4);
  });

  it("fold and unfold by keys, and Enter opens them", async () => {
    await page.goto(`${shop}#/`);
    await expect.poll(() => rows().count()).toBe(3);
    await rows().nth(2).focus();
    await page.keyboard.press("ArrowRight");
    await expect.poll(() => rows().count()).toBe(4);
    await page.keyboard.press("ArrowDown");
    await expect.poll(focused).toBe("3");
    await page.keyboard.press("ArrowLeft");
    await expect.poll(focused).toBe("2");
    await page.keyboard.press("ArrowLeft");
    await expect.poll(() => rows().count()).toBe(3);
    await page.keyboard.press("Enter");
    await expect.poll(() => page.url()).toContain("#/run/decided");
  });

  it("have links to each other in a report, and none to a run that is not in it", async () => {
    await page.goto(`${shop}#/run/decided`);
    const main = page.getByRole("main");
    await main.getByText("helper (not in the list)").waitFor();
    expect(await main.locator('a[href="#/run/helper"]').count()).toBe(0);
    await main.locator('a[href="#/run/asked"]').first().click();
    await main.locator('a[href="#/run/decided"]').first().waitFor();
  });
});

describe("conversations", () => {
  it("group runs by a switch in the address, open, and lead to their runs", async () => {
    await page.goto(`${shop}#/`);
    await page.getByLabel("Group by conversation").check();
    await expect.poll(() => page.url()).toContain("group=conversation");
    await expect.poll(names).toEqual(["Cancel order 18", "Thanks! And order 20?"]);
    const conversation = rows().nth(1);
    expect(await conversation.innerText()).toContain("1 failed. ");
    expect(await conversation.locator(".cell-working").innerText()).toBe("5.5 s");
    await conversation.click();
    await expect.poll(() => rows().count()).toBe(4);
    await rows().nth(3).focus();
    await page.keyboard.press("ArrowRight");
    await expect.poll(() => rows().count()).toBe(5);
    expect(await names()).toEqual([
      "Cancel order 18",
      "Thanks! And order 20?",
      "Thanks! And order 20?",
      "Give me my money back!",
      "Give me my money back!",
    ]);
    await rows().nth(1).focus();
    await page.keyboard.press("Enter");
    await expect.poll(() => rows().count()).toBe(2);
  });
});

describe("the numbers", () => {
  it("are words where runs are few, and filter", async () => {
    await page.goto(`${shop}#/`);
    await expect
      .poll(numbers)
      .toEqual([
        "Failed 1 of 3 runs",
        "Waits for a person 1",
        "Duration 100 ms to 5.0 s",
        "Tokens 150 in, 15 out",
        "Cost $0.15",
      ]);
    expect(await page.locator(".bars").count()).toBe(0);
    await page.getByRole("button", { name: "Waits for a person" }).click();
    await expect.poll(names).toEqual(["Cancel order 18"]);
    expect(page.url()).toContain("waiting=1");
    await page.getByRole("button", { name: "Clear filters" }).click();
    await page.getByRole("button", { name: /^Failed/ }).click();
    await expect.poll(names).toEqual(["Thanks! And order 20?"]);
    expect(page.url()).toContain("outcome=failed");
  });

  it("have shares, percentiles and bars where runs are many: a bar filters by its time", async () => {
    await page.goto(`${all}#/`);
    await expect
      .poll(async () => (await numbers()).slice(0, 3))
      .toEqual(["Failed 4, 9.3%", "Waits for a person 1", "Duration p50 22 ms, p95 100 ms"]);
    const chart = page.getByRole("region", { name: "Runs over time" });
    const box = await chart.locator(".bars").boundingBox();
    expect(box?.height).toBeLessThanOrEqual(64);
    await chart.getByRole("button", { name: "internal 3" }).click();
    await expect.poll(() => rows().count()).toBe(3);
    await page.goBack().catch(() => {});
    await page.goto("about:blank");
    await page.goto(`${all}#/`);
    const bars = chart.locator("button.failure-bar");
    const label = await bars.first().getAttribute("aria-label");
    expect(label).toContain("1 run, none failed");
    await bars.first().click();
    await expect.poll(() => rows().count()).toBe(1);
    expect(page.url()).toMatch(/from=.*to=/);
  });
});

describe("filters and search", () => {
  it("has further filters in one menu, only those that some run has values for", async () => {
    await page.goto(`${shop}#/`);
    await page.locator("summary").filter({ hasText: "More filters" }).click();
    const panel = page.locator(".menu[open] .menu-panel");
    expect(await panel.locator("summary").allInnerTexts()).toEqual([
      "Conversation",
      "User",
      "Tag",
      "Model",
      "Tool",
    ]);
    await panel.locator("summary").filter({ hasText: "Tool" }).click();
    await page.getByRole("checkbox", { name: /^refund/ }).check();
    await expect.poll(names).toEqual(["Give me my money back!"]);
    expect(page.url()).toContain("tool=refund");
    expect(await page.locator(".menu.is-set > summary").innerText()).toBe("Tool: refund");
    await page.keyboard.press("Escape");
    expect(await page.locator(".menu[open]").count()).toBe(0);
  });

  it("finds texts, IDs, tags, tools, models and inputs of tools", async () => {
    await page.goto(`${shop}#/`);
    const search = page.getByRole("searchbox");
    for (const [text, found] of [
      ["money", "Give me my money back!"],
      ["20 eur", "Give me my money back!"],
      ["euros", "Give me my money back!"],
      ["u-7", "Give me my money back!"],
      ["ann@acme.test", "Give me my money back!"],
      ["overloaded", "Thanks! And order 20?"],
      ["web", "Thanks! And order 20?"],
      ["gpt-5", "Thanks! And order 20?"],
      ["t2", "Cancel order 18"],
    ] as const) {
      await search.fill(text);
      await expect.poll(names, { message: text }).toEqual([found]);
    }
  });
});

it("sorts by the key Enter on a column, and opens no run", async () => {
  await page.goto(`${shop}#/`);
  await page.getByRole("columnheader", { name: "Duration" }).getByRole("button").focus();
  await page.keyboard.press("Enter");
  await expect.poll(() => page.url()).toContain("sort=-working");
  expect(page.url()).not.toContain("#/run/");
});

describe.each([
  ["the list", () => `${all}#/`],
  ["conversations", () => `${shop}#/?group=conversation`],
] as const)("%s", (_, address) => {
  it.each([
    [360, "light"],
    [1_440, "dark"],
    [2_400, "light"],
    [400, "dark"],
  ] as const)("fits into %i px, %s, and axe finds nothing serious", async (width, scheme) => {
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ colorScheme: scheme });
    await page.goto(address());
    await rows().first().waitFor();
    for (const fold of await page.locator(".row-fold").all()) await fold.click();
    const wide = await page.evaluate<number>("document.documentElement.scrollWidth");
    expect(wide).toBeLessThanOrEqual(width);
    expect(await seriousFindings(page)).toEqual([]);
  });
});

it("asked for nothing, and broke no rule of its policy", () => {
  expect([watched.outgoing, watched.errors]).toEqual([[], []]);
});
