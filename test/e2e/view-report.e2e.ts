import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { aDetail, aRun, aSpan, FakeRuns } from "../view/support/fake-runs.ts";
import { reportText } from "../view/support/report-text.ts";
import { startBrowser, watchedPage } from "./support/browser.ts";

let browser: Browser;
let folder: string;

beforeAll(async () => {
  browser = await startBrowser();
  folder = await mkdtemp(join(tmpdir(), "entelix-otel-report-"));
});
afterAll(async () => {
  await browser?.close();
  await rm(folder, { recursive: true, force: true });
});

const HOSTILE = `</script><script>alert(1)</script><!-- <img src="http://evil.example/a" onerror="alert(2)">`;

/** Writes a report with runs of these keys. @returns its address. */
async function written(name: string, runs: FakeRuns, keys: readonly string[]): Promise<string> {
  const file = join(folder, name);
  await writeFile(file, await reportText(runs, keys));
  return pathToFileURL(file).href;
}

describe("a report, opened as a file", () => {
  it("runs under its policy, and harms nobody by what its runs say", async () => {
    const runs = new FakeRuns([
      aDetail(aRun(HOSTILE, { agent: HOSTILE, outcome: "failed" }), {
        spans: [aSpan(HOSTILE, 0, 1, { kind: "run", attributes: { [HOSTILE]: HOSTILE } })],
      }),
    ]);
    const address = await written("hostile.html", runs, [HOSTILE]);
    const { errors, outgoing, own, page } = await watchedPage(browser, address);
    await page.goto(address);
    await page.getByText("alert(1)").first().waitFor();
    expect(await page.locator("script").count()).toBe(2);
    expect(await page.locator("img").count()).toBe(0);
    expect(own).toEqual([address]);
    expect([errors, outgoing]).toEqual([[], []]);
    await page.context().close();
  });

  it("lists a failed sub-run whose parent did not fail, and says whether it has content", async () => {
    const failed = { outcome: "failed", failure_kind: "internal" } as const;
    const runs = (content: boolean) =>
      new FakeRuns([
        aDetail(aRun("a", { ...failed, agent: "alone" }), { content }),
        aDetail(aRun("b", { ...failed, agent: "helper", parent_run_id: "gone" }), { content }),
        aDetail(aRun("c", { ...failed, agent: "hidden", parent_run_id: "a" }), { content }),
      ]);
    const { page } = await watchedPage(browser, "file:");
    await page.goto(await written("without.html", runs(false), ["a", "b", "c"]));
    const agents = page.locator("tbody .cell-agent bdi");
    await expect.poll(() => agents.allTextContents()).toEqual(["alone", "helper"]);
    const note = page.locator("main .note");
    await expect.poll(() => note.textContent()).toContain("without --capture-content");
    await page.goto(await written("with.html", runs(true), ["a", "b", "c"]));
    await expect.poll(() => note.textContent()).toContain("The report has content: messages");
    await page.getByRole("link", { name: "run b" }).click();
    await expect.poll(() => page.title()).toBe("helper, failed – entelix-otel report");
    await expect
      .poll(() => note.first().textContent())
      .toContain("The report has content: messages");
    await page.context().close();
  });

  it("says on paper how many audit rows are not there", async () => {
    const rows = Array.from({ length: 501 }, (_, ordinal) => ({
      tenant_id: "acme",
      thread_id: "t",
      ordinal,
      kind: "tool_call",
      run_id: "run",
      trace_id: null,
      span_id: null,
      event_id: null,
      hash: "h",
      prev: "p",
      digest: "d",
    }));
    const { page } = await watchedPage(browser, "file:");
    const spans = [aSpan("run", 0, 1, { kind: "run" })];
    const detail = aDetail(aRun("run"), { spans, rows, rows_from: "log" });
    await page.goto(await written("rows.html", new FakeRuns([detail]), ["run"]));
    await page.getByRole("tree", { name: "Spans" }).waitFor();
    await page.emulateMedia({ media: "print" });
    const log = page.getByRole("region", { name: "Audit rows of the run" });
    await expect.poll(() => log.getByRole("listitem").count()).toBe(500);
    await log.getByText("The first 500 of 501 rows are printed.").waitFor();
    await page.context().close();
  });
});
