import { execFile } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { tmpdir } from "node:os";
import { extname, join, normalize } from "node:path";
import { promisify } from "node:util";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startBrowser, watchedPage } from "./support/browser.ts";
import { shipped } from "./support/stack.ts";

/** The most pixels that a page is high in a window of 1,440. */
const HIGHEST = 12_000;

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html",
  ".js": "text/javascript",
  ".css": "text/css",
  ".png": "image/png",
  ".svg": "image/svg+xml",
};

let site: string;
let server: Server | undefined;
let browser: Browser;
let page: Page;
let errors: readonly string[];
let origin: string;
const missing: string[] = [];

/** The files of the site. What is not there is noted. */
function listen(folder: string): Promise<Server> {
  const files = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? "/", "http://site");
    const path = join(
      folder,
      normalize(pathname.endsWith("/") ? `${pathname}index.html` : pathname),
    );
    if (!existsSync(path)) {
      missing.push(pathname);
      response.writeHead(404).end();
      return;
    }
    response.writeHead(200, { "content-type": TYPES[extname(path)] ?? "application/octet-stream" });
    response.end(readFileSync(path));
  });
  return new Promise((resolve) => files.listen(0, "127.0.0.1", () => resolve(files)));
}

beforeAll(async () => {
  site = await mkdtemp(join(tmpdir(), "entelix-otel-site-"));
  const build = [shipped("scripts/docs-site.mjs"), "--outDir", site];
  await promisify(execFile)(process.execPath, build, { cwd: shipped(".") });
  server = await listen(site);
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("expected a port");
  origin = `http://127.0.0.1:${address.port}`;
  browser = await startBrowser();
  const viewport = { width: 1_440, height: 900 };
  ({ page, errors } = await watchedPage(browser, origin, { viewport }));
});
afterAll(async () => {
  await browser?.close();
  server?.close();
  if (site !== undefined) await rm(site, { recursive: true, force: true });
});

/** Heights of the document, and code whose lines do not fit. Text, as the pages have no types here. */
const MEASURE = `({
  height: document.documentElement.scrollHeight,
  cut: [...document.querySelectorAll("pre")].filter((pre) => pre.scrollWidth > pre.clientWidth + 1).length,
  wide: document.documentElement.scrollWidth > innerWidth,
})`;

describe("the site of the documentation", () => {
  it("has pages of bounded height, without hidden code", async () => {
    const files = readdirSync(site, { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".html") && name !== "404.html")
      .toSorted();
    expect(files.length).toBeGreaterThan(80);
    const found: string[] = [];
    for (const file of files) {
      await page.goto(`${origin}/${file}`);
      const { cut, height, wide } = Object(await page.evaluate(MEASURE));
      if (height > HIGHEST || cut > 0 || wide)
        found.push(`${file}: ${height} px, ${cut} cut, ${wide}`);
    }
    expect(found).toEqual([]);
    expect({ errors, missing }).toEqual({ errors: [], missing: [] });
  }, 600_000);

  it("begins with a page of its own, whose picture follows the theme", async () => {
    await page.goto(`${origin}/`);
    expect(await page.locator("h1").first().innerText()).toContain("See why your agent failed");
    const shown = () => page.locator(".for-light:visible, .for-dark:visible").getAttribute("class");
    expect(await shown()).toBe("for-light");
    await page.evaluate("document.documentElement.classList.add('dark')");
    expect(await shown()).toBe("for-dark");
  });

  it.each([
    ["why is my trace empty", "No spans?"],
    ["no spans", "No spans?"],
    ["honeycomb header", "Your backend"],
  ])("answers the search %j by the page %j", async (text, title) => {
    await page.goto(`${origin}/docs/`);
    const box = page.locator(".VPLocalSearchBox input");
    // The page takes the keys once its script has run.
    await expect
      .poll(async () => {
        if ((await box.count()) === 0) await page.keyboard.press("Control+k");
        return box.count();
      })
      .toBe(1);
    await box.fill(text);
    const first = page.locator(".VPLocalSearchBox .result").first();
    await first.waitFor();
    await expect.poll(() => first.innerText()).toContain(title);
  });
});
