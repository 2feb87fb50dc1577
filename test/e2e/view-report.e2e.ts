import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readPageFiles } from "../../src/cli/view/page-files.ts";
import { ReportHtml } from "../../src/view/report/report-html.ts";
import { aDetail, aRun, aSpan, FakeRuns } from "../view/support/fake-runs.ts";
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

describe("a report, opened as a file", () => {
  it("runs under its policy, and harms nobody by what its runs say", async () => {
    const runs = new FakeRuns([
      aDetail(aRun(HOSTILE, { agent: HOSTILE, outcome: "failed" }), {
        spans: [aSpan(HOSTILE, 0, 1, { kind: "run", attributes: { [HOSTILE]: HOSTILE } })],
      }),
    ]);
    const html = new ReportHtml(await readPageFiles());
    const detail = await runs.detail(HOSTILE);
    const file = join(folder, "hostile.html");
    const pieces = [
      html.start(),
      ...(detail === undefined ? [] : html.run(detail, true)),
      ...html.end(runs.list([HOSTILE]), 0),
    ];
    await writeFile(file, pieces.join(""));
    const address = pathToFileURL(file).href;
    const { errors, outgoing, own, page } = await watchedPage(browser, address);
    await page.goto(address);
    await page.getByText("alert(1)").first().waitFor();
    expect(await page.locator("script").count()).toBe(2);
    expect(await page.locator("img").count()).toBe(0);
    expect(own).toEqual([address]);
    expect([errors, outgoing]).toEqual([[], []]);
    await page.context().close();
  });
});
