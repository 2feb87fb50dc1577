import type { Browser, Locator } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { spokenName, startBrowser, type WatchedPage, watchedPage } from "./support/browser.ts";
import { ViewProcess } from "./support/view-process.ts";
import { type ViewSample, viewSample } from "./support/view-sample.ts";

const WORDS = new Map([
  ["invoke_agent", "run"],
  ["chat", "model call"],
  ["execute_tool", "tool call"],
]);

let browser: Browser;
let sample: ViewSample;
let view: ViewProcess;
let watched: WatchedPage;

beforeAll(async () => {
  [browser, sample] = await Promise.all([startBrowser(), viewSample()]);
  view = await ViewProcess.start(sample.places);
  watched = await watchedPage(browser, `${view.origin}/`);
  await watched.page.goto(view.url);
});
afterAll(async () => {
  await browser?.close();
  expect(await view?.stop()).toBe(0);
  await sample?.remove();
});

type Span = ViewSample["spans"][number];

const operationOf = ({ attributes }: Span) => String(attributes["gen_ai.operation.name"]);
const runSpans = () => sample.spans.filter((span) => operationOf(span) === "invoke_agent");
const milliseconds = (ns: string | null) => Number(BigInt(ns ?? 0) / 1_000_000n);

/** The spans of a run and of what is under it, depth first, each with its level. */
function outlineOf(runId: string): (readonly [span: Span, level: number])[] {
  const ids = new Set(sample.spans.map(({ span_id }) => span_id));
  const under = (parents: readonly Span[], level: number): (readonly [Span, number])[] =>
    parents
      .toSorted((a, b) => (BigInt(a.start_ns) < BigInt(b.start_ns) ? -1 : 1))
      .flatMap((span) => [
        [span, level] as const,
        ...under(
          sample.spans.filter(({ parent_span_id }) => parent_span_id === span.span_id),
          level + 1,
        ),
      ]);
  const own = runSpans().filter(({ run_id }) => run_id === runId);
  expect(own.every(({ parent_span_id: above }) => above === undefined || ids.has(above))).toBe(
    true,
  );
  return under(own, 1);
}

function nameOf({ attributes }: Span): string {
  const name = attributes["gen_ai.tool.name"] ?? attributes["gen_ai.request.model"];
  return String(name ?? attributes["gen_ai.agent.name"]);
}

/** A percentage of the style of a bar. */
async function shareOf(bar: Locator, property: string): Promise<number> {
  const style = (await bar.getAttribute("style")) ?? "";
  return Number(new RegExp(`${property}: ([\\d.]+)%`).exec(style)?.[1]);
}

describe("the page of view", () => {
  it("lists every run, with what its spans say of it", async () => {
    const { page } = watched;
    await page.getByLabel("Sub-runs too").check();
    const grid = page.getByRole("grid", { name: "Runs" });
    const runs = new Map(runSpans().map((span) => [String(span.run_id), span]));
    await grid.getByRole("button", { name: "1 pause" }).click();
    await expect.poll(() => grid.getByRole("row").count()).toBe(runs.size + 1);
    for (const [runId, span] of runs) {
      const row = grid.getByRole("row").filter({ hasText: runId });
      const cells = await row.getByRole("gridcell").allInnerTexts();
      const [, story, , tenant, outcome, kind] = cells;
      expect(await row.locator(".cell-agent bdi").innerText()).toBe(
        span.attributes["gen_ai.agent.name"],
      );
      expect(tenant).toBe(span.attributes["entelix.tenant_id"]);
      expect(outcome).toContain(span.attributes["entelix.run.outcome"]);
      if (span.failed) expect(kind).toBe(span.attributes["entelix.failure.kind"]);
      if (span.failed) expect(story).toBe(span.message);
      const shown = await row.locator("time").getAttribute("datetime");
      expect(Math.abs(Date.parse(String(shown)) - milliseconds(span.start_ns))).toBeLessThan(1);
    }
    await page.getByLabel("Sub-runs too").uncheck();
  });

  it("opens every run: its timeline has the spans, their kinds, parents and times", async () => {
    const { page } = watched;
    for (const { run_id } of runSpans()) {
      const runId = String(run_id);
      await page.goto(`${view.origin}/#/run/${runId}?view=timeline`);
      const tree = page.getByRole("tree", { name: "Spans" });
      const expected = outlineOf(runId);
      const items = tree.getByRole("treeitem");
      await expect.poll(() => items.count(), { message: runId }).toBe(expected.length);
      const begin = BigInt(expected[0]?.[0].start_ns ?? 0);
      const end = expected.reduce((last, [{ end_ns }]) => {
        return BigInt(end_ns ?? 0) > last ? BigInt(end_ns ?? 0) : last;
      }, begin);
      for (const [at, [span, level]] of expected.entries()) {
        const item = items.nth(at);
        const label = await spokenName(item);
        const word = WORDS.get(operationOf(span)) ?? "step";
        expect(label.startsWith(`${word} ${nameOf(span)} `), label).toBe(true);
        expect(label.includes(" failed"), label).toBe(span.failed);
        expect(await item.getAttribute("aria-level")).toBe(String(level));
        const bar = item.locator(".track .bar:not(.wait)");
        const [from, width] = [
          await shareOf(bar, "inset-inline-start"),
          await shareOf(bar, "width"),
        ];
        const share = (ns: bigint) => (Number(ns) / Number(end - begin)) * 100;
        expect(from).toBeCloseTo(share(BigInt(span.start_ns) - begin), 1);
        const length = BigInt(span.end_ns ?? 0) - BigInt(span.start_ns);
        expect(width).toBeCloseTo(share(length), 1);
      }
    }
  });

  it("has beside each span its attributes, and the rows of the log that name it", async () => {
    const { page } = watched;
    for (const runId of new Set(runSpans().map((span) => String(span.run_id)))) {
      await page.goto(`${view.origin}/#/run/${runId}?view=timeline`);
      const items = page.getByRole("tree", { name: "Spans" }).getByRole("treeitem");
      const expected = outlineOf(runId);
      await expect.poll(() => items.count()).toBe(expected.length);
      for (const [at, [span]] of expected.entries()) {
        await items.nth(at).click();
        const details = page.getByRole("region", { name: "Details of the span" });
        await details.getByRole("heading", { level: 2 }).getByText(nameOf(span)).waitFor();
        const attributes = Object.keys(span.attributes);
        await details.getByRole("tab", { name: `Attributes ${attributes.length}` }).click();
        const table = await details.getByRole("tabpanel").innerText();
        expect(attributes.filter((name) => !table.includes(name))).toEqual([]);
        const rows = sample.rows.filter(({ span_id }) => span_id === span.span_id);
        await details.getByRole("tab", { name: `Audit rows ${rows.length}` }).click();
        const entries = details.locator("ol.audit-rows > li");
        await expect.poll(() => entries.count()).toBe(rows.length);
        const shown = await entries.allInnerTexts();
        for (const [index, { event }] of rows.entries()) expect(shown[index]).toContain(event.kind);
      }
    }
  });

  it("has all rows of a run, each with its hash, and the verdict of the log", async () => {
    const { page } = watched;
    for (const runId of new Set(runSpans().map((span) => String(span.run_id)))) {
      await page.goto(`${view.origin}/#/run/${runId}?view=log`);
      const under = new Set(outlineOf(runId).map(([{ run_id }]) => run_id));
      const rows = sample.rows.filter(({ run_id }) => under.has(run_id ?? ""));
      await page
        .getByRole("tab", { name: `Audit rows ${rows.length}` })
        .first()
        .click();
      await page.getByText("Audit log: intact, closed").first().waitFor();
      const list = page.locator("main ol.audit-rows").first();
      await expect.poll(() => list.locator("> li").count()).toBe(rows.length);
      const hashes: string[] = [];
      for (const entry of await list.locator("> li").all()) {
        await entry.locator("summary").first().click();
        const fact = entry
          .locator("dl > *")
          .filter({ has: page.getByText("Hash", { exact: true }) });
        hashes.push((await fact.locator("dd").innerText()).trim());
      }
      expect(hashes.toSorted()).toEqual(rows.map(({ hash }) => hash).toSorted());
    }
  });

  it("leads from a run that paused to the one that resumed it, and back", async () => {
    const { page } = watched;
    const resumed = runSpans().find((span) => span.attributes["entelix.run.resumed_from"]);
    const paused = String(resumed?.attributes["entelix.run.resumed_from"]);
    await page.goto(`${view.origin}/#/run/${paused}`);
    const main = page.getByRole("main");
    await main.getByText("Resumed by").waitFor();
    await main.locator(`a[href="#/run/${resumed?.run_id}"]`).first().click();
    await main.getByText("Resumes", { exact: true }).waitFor();
    await main.locator(`a[href="#/run/${paused}"]`).first().click();
    await main.getByText("Resumed by").waitFor();
  });

  it("asks for nothing but its own data, and breaks no rule of its policy", () => {
    const { errors, outgoing, own } = watched;
    expect(outgoing).toEqual([]);
    expect(errors).toEqual([]);
    const paths = new Set(own.map((url) => new URL(url).pathname));
    expect([...paths].toSorted()).toEqual(["/", "/page.css", "/page.js", "/run/parts", "/runs"]);
  });
});
