import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startBrowser, watchedPage } from "./support/browser.ts";
import { ViewProcess } from "./support/view-process.ts";

let browser: Browser;
let view: ViewProcess;
beforeAll(async () => {
  [browser, view] = await Promise.all([startBrowser(), ViewProcess.start(["--listen", "0"])]);
});
afterAll(async () => {
  await browser?.close();
  await view?.stop();
});

/** A run without content, in OTLP/JSON. */
function requestOf(): string {
  const attributes = Object.entries({
    "gen_ai.operation.name": "invoke_agent",
    "gen_ai.agent.name": "support",
  }).map(([key, stringValue]) => ({ key, value: { stringValue } }));
  const span = {
    traceId: "01a1fbfa496871c58c192e5f98e57b52",
    spanId: "8c192e5f98e57b52",
    name: "invoke_agent support",
    startTimeUnixNano: "1700000000000000000",
    endTimeUnixNano: "1700000001000000000",
    attributes,
  };
  return JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans: [span] }] }] });
}

it("says what to run while no spans came, and which variable shows content that is missing", async () => {
  const { page } = await watchedPage(browser, `${view.origin}/`);
  await page.goto(view.url);
  const empty = page.getByText("Waits for spans at ");
  await empty.waitFor();
  const [url = ""] = /http:\S+:\d+/.exec(await empty.innerText()) ?? [];
  expect((await page.locator("main pre").innerText()).split("\n")).toEqual([
    `export OTEL_EXPORTER_OTLP_ENDPOINT=${url}`,
    "export OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true",
    "node --import entelix-otel/register app.mjs",
  ]);
  const link = page.getByRole("link", { name: "No spans?" });
  expect(await link.getAttribute("href")).toMatch(/\/docs\/no-spans\.md$/);

  const headers = { "content-type": "application/json" };
  const { status } = await fetch(`${url}/v1/traces`, {
    method: "POST",
    headers,
    body: requestOf(),
  });
  expect(status).toBe(200);
  await page.getByRole("grid", { name: "Runs" }).getByRole("link").first().click();
  await page.getByRole("tab", { name: "Conversation" }).click();
  expect(await page.getByText("the program did not capture content").innerText()).toContain(
    "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true",
  );
});
