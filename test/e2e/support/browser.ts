import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import {
  type Browser,
  type BrowserContextOptions,
  chromium,
  type Locator,
  type Page,
} from "playwright-core";
import { installedProgram } from "./installed-program.ts";

/** Without what a browser asks its maker for. */
const ARGS = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** Debian's Chromium, without a window. */
export async function startBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: await installedProgram("chromium"), args: ARGS });
}

/** A page, and all that it did which a page of ours must not do. */
export interface WatchedPage {
  readonly page: Page;
  /** Requests to anywhere but the page's own server: refused, and noted. */
  readonly outgoing: readonly string[];
  /** Requests that were let through. */
  readonly own: readonly string[];
  /** Errors of scripts and of the security policy, and dialogs that a script of a stranger's would open. */
  readonly errors: readonly string[];
}

/** @param place how every address begins that it may ask: its server's, or the file's own. */
export async function watchedPage(
  browser: Browser,
  place: string,
  options: BrowserContextOptions = {},
): Promise<WatchedPage> {
  const context = await browser.newContext(options);
  const outgoing: string[] = [];
  const own: string[] = [];
  const errors: string[] = [];
  await context.route("**/*", (route) => {
    const url = route.request().url();
    if (url.startsWith(place)) {
      own.push(url);
      return route.continue();
    }
    outgoing.push(url);
    return route.abort();
  });
  const page = await context.newPage();
  page.on("pageerror", (error) => errors.push(String(error)));
  page.on("console", (message) => {
    if (message.type() === "error") errors.push(message.text());
  });
  page.on("dialog", (dialog) => {
    errors.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  return { page, outgoing, own, errors };
}

/** What a screen reader says of an element. */
export async function spokenName(element: Locator): Promise<string> {
  const [, name = ""] = /^- '?[a-z]+ "(.*?)"/.exec(await element.ariaSnapshot()) ?? [];
  return name;
}

/** What axe finds on a page that is serious or worse, as `rule: where`. The context must bypass the policy. */
export async function seriousFindings(page: Page): Promise<string[]> {
  const path = createRequire(import.meta.url).resolve("axe-core/axe.min.js");
  await page.evaluate(await readFile(path, "utf8"));
  const found: unknown = await page.evaluate("axe.run(document)");
  return violations(found)
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 200)).join("; ")}`);
}

interface Violation {
  readonly id: string;
  readonly impact: string;
  readonly nodes: readonly { readonly html: string }[];
}

function violations(found: unknown): readonly Violation[] {
  if (typeof found !== "object" || found === null || !("violations" in found)) {
    throw new TypeError("expected the answer of axe");
  }
  const { violations } = found;
  if (!Array.isArray(violations)) throw new TypeError("expected violations");
  return violations;
}
