import { once } from "node:events";
import { appendFileSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type IncomingHttpHeaders, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { line, recording } from "../cli/support/recorded.ts";
import { startBrowser, watchedPage } from "./support/browser.ts";
import { ViewProcess } from "./support/view-process.ts";
import { cli, viewSample } from "./support/view-sample.ts";

const HTML = `<img src="http://evil.example/a" onerror="alert(1)"></script><script>alert(2)</script>`;
const ANSI = "\u001b[31mred\u001b[0m\u0007";
const REVERSED = "\u202eexe.txt\u2066";
const LONG = "x".repeat(4_000);
/** Beyond what an id may be: in a text of the model's. */
const LONGEST = "y".repeat(100_000);
const RUN = "018f3c7a-0000-7000-8000-000000000002";

const event = (type: string, second: number, fields: Readonly<Record<string, unknown>>) =>
  line({ type, timestamp: `2026-04-29T12:00:${String(second).padStart(2, "0")}Z`, ...fields });

const call = (id: string, tool: string, second: number) => [
  event("tool_start", second, {
    tool_use_id: id,
    tool,
    tool_version: null,
    input: { [HTML]: tool },
  }),
  event("tool_error", second + 1, {
    tool_use_id: id,
    tool,
    tool_version: null,
    error: `${HTML}${ANSI}${REVERSED}${LONGEST}`,
    error_for_llm: HTML,
    envelope: { wire_code: "upstream_unauthorized", wire_class: "client", provider_status: 401 },
    kind: "auth",
    duration_ms: 1_000,
  }),
];

const HOSTILE = [
  event("started", 0, { agent: HTML, parent_run_id: null }),
  ...call("c1", ANSI, 1),
  ...call("c2", REVERSED, 3),
  ...call("c3", LONG, 5),
  event("failed", 9, {
    error: `${HTML}${ANSI}${REVERSED}${LONGEST}`,
    envelope: { wire_code: "upstream_unavailable", wire_class: "server", provider_status: 503 },
    kind: { type: "model_dispatch" },
  }),
];

let browser: Browser;
let folder: string;

beforeAll(async () => {
  browser = await startBrowser();
  folder = await mkdtemp(join(tmpdir(), "entelix-otel-hostile-"));
});
afterAll(async () => {
  await browser?.close();
  await rm(folder, { recursive: true, force: true });
});

describe("names and texts of strangers", () => {
  it.each(["view", "report"])("do nothing in %s", async (kind) => {
    const file = join(folder, `${kind}.ndjson`);
    await writeFile(file, `${HOSTILE.join("\n")}\n`);
    const view = kind === "view" ? await ViewProcess.start([file]) : undefined;
    const html = join(folder, "run.html");
    if (view === undefined) await cli("report", file, "--out", html, "--capture-content");
    const place = view === undefined ? pathToFileURL(html).href : `${view.origin}/`;
    const { errors, outgoing, own, page } = await watchedPage(browser, place);
    await page.goto(view?.url ?? place);
    await page.goto(`${place}#/`);
    const grid = page.getByRole("grid", { name: "Runs" });
    await grid.getByText("<img src").first().waitFor();
    await page.goto(`${place}#/run/${RUN}`);
    await page
      .getByText(/What the model received|Error, for the model/)
      .first()
      .waitFor();
    const talkWidth = await page.evaluate<number>("document.documentElement.scrollWidth");
    expect(talkWidth).toBeLessThanOrEqual(1_280);
    expect(await page.locator("img, main script").count()).toBe(0);
    await page.getByRole("tab", { name: "Timeline" }).click();
    const items = page.getByRole("tree", { name: "Spans" }).getByRole("treeitem");
    await expect.poll(() => items.count()).toBe(4);
    for (const item of await items.all()) {
      await item.click();
      const details = page.getByRole("region", { name: "Details of the span" });
      for (const tab of await details.getByRole("tab").all()) {
        await tab.click();
        // The width of the page stays that of the window, whatever the names are.
        const wide = await page.evaluate<number>("document.documentElement.scrollWidth");
        expect(wide).toBeLessThanOrEqual(1_280);
      }
    }
    const said = page.locator("[aria-live]");
    for (const key of ["Home", "ArrowDown", "End"]) {
      await page.getByRole("tree", { name: "Spans" }).press(key);
      await page.keyboard.press("z");
      await expect.poll(() => said.textContent()).toMatch(/^The time axis shows /);
      const message = await said.textContent();
      expect(message?.length).toBeLessThan(1_500);
      expect(message).not.toMatch(/[\p{Cc}\u202e\u2066]/u);
    }
    for (const name of ["Graph", "Cost and tokens"]) {
      await page.getByRole("tab", { name }).click();
      await page.locator("main td a").first().waitFor();
      // A button inside of a link would follow the link.
      expect(await page.locator("a button").count()).toBe(0);
      const wide = await page.evaluate<number>("document.documentElement.scrollWidth");
      expect(wide).toBeLessThanOrEqual(1_280);
    }
    const text = await page.locator("body").innerText();
    const raw = ["\u001b", "\u0007", "\u202e", "\u2066"];
    expect(raw.filter((character) => text.includes(character))).toEqual([]);
    expect(await page.locator("img").count()).toBe(0);
    expect(await page.locator("main script").count()).toBe(0);
    expect(outgoing).toEqual([]);
    expect(errors).toEqual([]);
    if (view === undefined) expect(own.map((url) => url.split("#")[0])).toEqual([place]);
    await page.context().close();
    await view?.stop();
  });
});

describe("damaged input", () => {
  it("is named with its line, and the rest is shown", async () => {
    const file = join(folder, "damaged.ndjson");
    const text = await readFile(recording("nested_subagent"), "utf8");
    await writeFile(file, text);
    appendFileSync(file, '{"type":"started", broken\n');
    const view = await ViewProcess.start([file]);
    const { errors, page } = await watchedPage(browser, `${view.origin}/`);
    await page.goto(view.url);
    const lines = text.trim().split("\n").length;
    await page
      .getByText(`damaged.ndjson:${lines + 1}`)
      .first()
      .waitFor();
    await page.getByText("expected a property name at column 20").first().waitFor();
    await page.getByRole("grid", { name: "Runs" }).getByText("coordinator").waitFor();
    expect(errors).toEqual([]);
    await page.context().close();
    await view.stop();
  });

  it("of a log gives its verdict, beside the rows", async () => {
    const sample = await viewSample([recording("nested_subagent")]);
    const [audit = ""] = sample.places;
    const [segment = ""] = (await readdir(audit)).filter((name) => name.endsWith(".ndjson"));
    const text = await readFile(join(audit, segment), "utf8");
    await writeFile(join(audit, segment), text.replace('"research_team"', '"research_teem"'));
    const view = await ViewProcess.start(sample.places);
    const { page } = await watchedPage(browser, `${view.origin}/`);
    await page.goto(`${view.url}#/run/01a1fbfa-4968-71c5-8c19-2e5f98e57b52`);
    await page
      .getByText(/Audit log: \d+ problem/)
      .first()
      .waitFor();
    await page
      .getByRole("tab", { name: /^Audit rows/ })
      .first()
      .click();
    await expect.poll(() => page.locator("main ol.audit-rows > li").count()).toBeGreaterThan(5);
    await page.context().close();
    await view.stop();
    await sample.remove();
  });
});

describe("who may see the page", () => {
  it("is one browser: the address works once, and nothing without its session", async () => {
    const view = await ViewProcess.start([recording("success")]);
    const first = await watchedPage(browser, `${view.origin}/`);
    await first.page.goto(view.url);
    await first.page.getByRole("heading", { name: "Runs" }).waitFor();
    // Out of the address bar, and so out of what is copied and stored.
    expect(first.page.url()).toBe(`${view.origin}/`);
    const second = await watchedPage(browser, `${view.origin}/`);
    const again = await second.page.goto(view.url);
    expect(again?.status()).toBe(403);
    // The page asks for its data after it was loaded, and is told then.
    await second.page.getByText("works once").first().waitFor();
    expect((await second.page.goto(`${view.origin}/runs`))?.status()).toBe(403);
    await second.page.context().close();
    await first.page.context().close();
    await view.stop();
  });

  it("is each tab of that browser: loaded again, opened from a link, by a used address, by going back", async () => {
    const view = await ViewProcess.start([recording("success")]);
    const { errors, page } = await watchedPage(browser, `${view.origin}/`);
    const runs = (of: Page) => of.getByRole("grid", { name: "Runs" }).getByText("react");
    await page.goto(view.url);
    await runs(page).waitFor();
    await page.reload();
    await runs(page).waitFor();
    const opened = page.context().waitForEvent("page");
    await page
      .getByRole("grid")
      .getByRole("link")
      .first()
      .click({ modifiers: ["Control"] });
    const talk = { name: "Conversation of the run" };
    await (await opened).getByRole("region", talk).waitFor();
    await page.getByRole("grid").getByRole("link").first().click();
    await page.getByRole("region", talk).waitFor();
    await page.goBack();
    await runs(page).waitFor();
    await page.goto("about:blank");
    await page.goBack();
    await runs(page).waitFor();
    expect(errors).toEqual([]);
    // Its answer is a 403, which the browser notes.
    const again = await page.context().newPage();
    await again.goto(view.url);
    await runs(again).waitFor();
    expect(again.url()).toBe(`${view.origin}/`);
    await page.context().close();
    await view.stop();
  });

  it("is no server on another port that the browser visits: it gets nothing that opens the page", async () => {
    const view = await ViewProcess.start([recording("success")]);
    const got: IncomingHttpHeaders[] = [];
    const other = createServer((asked, answer) => {
      got.push(asked.headers);
      answer.setHeader("content-type", "text/html").end("<title>other</title>");
    }).listen(0, "127.0.0.1");
    await once(other, "listening");
    const address = other.address();
    const origin = `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`;
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.goto(view.url);
    await page.getByRole("grid", { name: "Runs" }).waitFor();
    const cookies = await context.cookies();
    await page.goto(origin);
    const kept = await page.evaluate<number>("localStorage.length + sessionStorage.length");
    // What a page there can ask for with the browser's own rights.
    const asked = await page.evaluate<
      string[]
    >(`Promise.all([{}, { credentials: "include" }, { mode: "no-cors" }].map((how) =>
      fetch("${view.origin}/runs", how).then(({ status, type }) => type + " " + status, () => "refused")))`);
    expect({ cookies, kept, asked }).toEqual({
      cookies: [],
      kept: 0,
      asked: ["refused", "refused", "refused"],
    });
    const secrets = got.flatMap(({ authorization, cookie }) => authorization ?? cookie ?? []);
    expect(secrets).toEqual([]);
    const referrers = got.flatMap(({ referer }) => referer ?? []);
    expect(referrers.filter((each) => each.startsWith(view.origin))).toEqual([]);
    await context.close();
    await view.stop();
    await new Promise((closed) => other.close(closed));
  });

  it("is no page of another name that leads here", async () => {
    const view = await ViewProcess.start([recording("success")]);
    const { port } = new URL(view.url);
    const path = view.url.slice(view.origin.length);
    const status = await new Promise((resolve, reject) => {
      const headers = { host: `evil.example:${port}` };
      request({ host: "127.0.0.1", port, path, headers }, (answer) => {
        answer.resume();
        resolve(answer.statusCode);
      })
        .on("error", reject)
        .end();
    });
    expect(status).toBe(421);
    await view.stop();
  });
});
