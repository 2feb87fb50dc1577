import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { answerOf, asks, resultOf, said, userText } from "../view/support/exchange-spans.ts";
import { aDetail, aRun, aSpan, at, FakeRuns } from "../view/support/fake-runs.ts";
import { reportText } from "../view/support/report-text.ts";
import type { RunDetail, ViewSpan } from "../view/support/view-documents.ts";
import { seriousFindings, startBrowser, watchedPage } from "./support/browser.ts";

let browser: Browser;
let folder: string;

beforeAll(async () => {
  browser = await startBrowser();
  folder = await mkdtemp(join(tmpdir(), "entelix-otel-conversation-"));
});
afterAll(async () => {
  await browser?.close();
  await rm(folder, { recursive: true, force: true });
});

/** Opens the run of a report. axe needs a page without its policy. */
async function opened(detail: RunDetail, options: BrowserContextOptions = {}) {
  const file = join(folder, `${Math.random()}.html`);
  await writeFile(file, await reportText(new FakeRuns([detail]), ["run"]));
  const address = pathToFileURL(file).href;
  const watched = await watchedPage(browser, address, { bypassCSP: true, ...options });
  await watched.page.goto(address);
  await watched.page.getByRole("heading", { level: 1 }).waitFor();
  return { ...watched, address };
}

const SYSTEM = said("system", "You are the support agent of a shop.");
const QUESTION = userText("I was charged twice for order 17.");
const LOOK_UP = asks("c1", "look_up_order", { order: 17 });
const REFUND = asks("c2", "refund", { order: 17, euros: 41.9 });
const FOUND = resultOf("c1", "delivered twice");
const REFUNDED = resultOf("c2", "refunded");
const ANSWER = answerOf(
  "# Done\n\nYou get **20 EUR** back:\n\n| order | euros |\n|---|---|\n| 17 | 20 |\n\n" +
    "![logo](https://evil.example/a.png) [site](https://shop.example/) [bad](javascript:alert(1)) <b>x</b>",
);

function modelCall(
  id: string,
  from: number,
  input: readonly unknown[],
  output: readonly unknown[] | undefined,
): ViewSpan {
  const failed = output === undefined;
  return aSpan(id, from, from + 0.5, {
    parent_span_id: "root",
    kind: "model",
    name: "chat gpt-5-mini",
    failed,
    ...(failed ? { message: "429 slow down" } : {}),
    attributes: {
      "gen_ai.request.model": "gpt-5-mini",
      "gen_ai.input.messages": JSON.stringify(input),
      ...(failed ? {} : { "gen_ai.output.messages": JSON.stringify(output) }),
    },
  });
}

function toolCall(id: string, from: number, fields: Partial<ViewSpan>): ViewSpan {
  return aSpan(id, from, from + 0.5, { parent_span_id: "root", ...fields });
}

const SPANS: readonly ViewSpan[] = [
  aSpan("root", 0, 10, {
    kind: "run",
    name: "invoke_agent support",
    attributes: {
      "gen_ai.agent.name": "support",
      "gen_ai.input.messages": JSON.stringify([QUESTION]),
      "gen_ai.output.messages": JSON.stringify([ANSWER]),
      "entelix.run.state": '{"orders":1}',
    },
  }),
  modelCall("m0", 0.2, [SYSTEM, QUESTION], undefined),
  modelCall("m1", 1, [SYSTEM, QUESTION], [{ ...LOOK_UP, finish_reason: "unknown" }]),
  toolCall("t1", 2, {
    attributes: {
      "gen_ai.tool.name": "look_up_order",
      "gen_ai.tool.call.id": "c1",
      "gen_ai.tool.call.arguments": '{"order":17}',
      "gen_ai.tool.call.result": "delivered twice",
    },
  }),
  modelCall(
    "m2",
    3,
    [SYSTEM, QUESTION, LOOK_UP, FOUND],
    [{ ...REFUND, finish_reason: "tool_calls" }],
  ),
  toolCall("t2", 5, {
    attributes: {
      "gen_ai.tool.name": "refund",
      "gen_ai.tool.call.id": "c2",
      "gen_ai.tool.call.arguments": '{"order":17,"euros":20}',
      "entelix.approval.proposed_input": '{"order":17,"euros":41.9}',
      "entelix.approval.outcome": "edited",
      "entelix.approval.by": "user",
      "entelix.approval.person": "ann@acme.test",
      "entelix.approval.wait_ms": 1200,
      "gen_ai.tool.call.result": "refunded",
    },
  }),
  aSpan("sub", 6, 7, {
    parent_span_id: "root",
    run_id: "sub",
    kind: "run",
    name: "invoke_agent mailer",
    attributes: {
      "gen_ai.agent.name": "mailer",
      "gen_ai.input.messages": JSON.stringify([userText("Write a mail.")]),
    },
  }),
  toolCall("t3", 6.2, {
    parent_span_id: "sub",
    run_id: "sub",
    failed: true,
    message: "mail gateway answered 429",
    attributes: { "gen_ai.tool.name": "send_mail", "entelix.tool.model_text": "Try later." },
  }),
  modelCall("m3", 8, [SYSTEM, QUESTION, LOOK_UP, FOUND, REFUND, REFUNDED], [ANSWER]),
];

const DETAIL = aDetail(aRun("run", { agent: "support", end_ns: at(10) }), {
  spans: SPANS,
  content: true,
});

const talk = (page: Page) => page.getByRole("region", { name: "Conversation of the run" });

describe("the conversation of a run", () => {
  it("is the first tab, and has every text once and in order", async () => {
    const { errors, outgoing, page } = await opened(DETAIL, { bypassCSP: false });
    const tabs = page.getByRole("tablist", { name: "Parts of the run" }).getByRole("tab");
    expect(await tabs.first().innerText()).toBe("Conversation");
    expect(await tabs.first().getAttribute("aria-selected")).toBe("true");
    const text = await talk(page).innerText();
    const shown = [
      "System text",
      "I was charged twice for order 17.",
      "1 failed attempt 429 slow down",
      "look_up_order",
      "delivered twice",
      "ann@acme.test edited refund after 1.2 s: euros 41.9 → 20",
      "refund",
      "Agent mailer 1 message, 1 tool call, 1 failed",
      "Done",
      "State of the agent at the end",
    ];
    const positions = shown.map((one) => text.indexOf(one));
    expect(positions.filter((position) => position < 0)).toEqual([]);
    expect(positions).toEqual(positions.toSorted((one, other) => one - other));
    expect(text.split("I was charged twice").length).toBe(2);
    expect(text).not.toContain("Finish reason");
    await page.locator("summary").filter({ hasText: "Agent mailer" }).click();
    const error = talk(page).getByText("Error, for the operator");
    await error.waitFor();
    await talk(page).getByText("Try later.").waitFor();
    expect([errors, outgoing]).toEqual([[], []]);
    await page.context().close();
  });

  it("draws Markdown without HTML, images and addresses of scripts, or the raw text", async () => {
    const { errors, outgoing, page } = await opened(DETAIL);
    const answer = talk(page).locator(".markdown").last();
    expect(await answer.locator("strong").innerText()).toBe("20 EUR");
    expect(await answer.locator("td").allInnerTexts()).toEqual(["17", "20"]);
    expect(await answer.locator("img, b").count()).toBe(0);
    const links = await answer.locator("a").all();
    expect(await Promise.all(links.map((link) => link.getAttribute("href")))).toEqual([
      "https://evil.example/a.png",
      "https://shop.example/",
    ]);
    for (const link of links) {
      expect(await link.getAttribute("rel")).toBe("noopener noreferrer");
      expect(await link.getAttribute("target")).toBe("_blank");
    }
    expect(await answer.innerText()).toContain("<b>x</b>");
    const raw = page.getByLabel("Raw text");
    await raw.focus();
    await page.keyboard.press("Space");
    await talk(page).getByText("You get **20 EUR** back").waitFor();
    // Chosen for all runs of this browser.
    await page.reload();
    await talk(page).getByText("You get **20 EUR** back").waitFor();
    expect(await raw.isChecked()).toBe(true);
    expect([errors, outgoing]).toEqual([[], []]);
    await page.context().close();
  });

  it("leads to the timeline: by the tabs' keys, and from each item to its span", async () => {
    const { address, page } = await opened(DETAIL);
    const link = talk(page).getByRole("link", { name: "refund in the timeline" });
    await link.click();
    await expect.poll(() => page.url()).toContain("view=timeline");
    const details = page.getByRole("region", { name: "Details of the span" });
    await details.getByRole("heading", { name: "refund" }).waitFor();
    await page.getByRole("tab", { name: "Timeline" }).press("ArrowLeft");
    await talk(page).waitFor();
    expect(page.url()).toContain("view=conversation");
    // Links from before there was a conversation.
    await page.goto(`${address}#/run/run?span=t1`);
    await details.getByRole("heading", { name: "look_up_order" }).waitFor();
    await page.goto(`${address}#/run/run?view=timeline`);
    await page.getByRole("tree", { name: "Spans" }).waitFor();
    await page.context().close();
  });

  it("says that content is off, and how to turn it on; without anything said, the timeline is first", async () => {
    const bare = SPANS.map((span) => {
      const { "gen_ai.tool.name": tool, "gen_ai.tool.call.id": id } = span.attributes;
      const attributes = { ...(tool === undefined ? {} : { "gen_ai.tool.name": tool }) };
      return {
        ...span,
        attributes: { ...attributes, ...(id === undefined ? {} : { "gen_ai.tool.call.id": id }) },
      };
    });
    const without = await opened({ ...DETAIL, spans: bare, content: false });
    const note = talk(without.page).locator(".note").first();
    expect(await note.innerText()).toContain("were left out");
    expect(await note.getByRole("link").getAttribute("href")).toMatch(/docs\/privacy\.md$/);
    await talk(without.page).getByText("look_up_order").first().waitFor();
    await without.page.context().close();
    const silent = await opened({ ...DETAIL, spans: bare.filter(({ kind }) => kind === "run") });
    await silent.page.getByRole("tree", { name: "Spans" }).waitFor();
    await silent.page.context().close();
  });

  it("of 2,000 messages has its start and its end, and the rest by a button", async () => {
    const history: unknown[] = [];
    const spans = Array.from({ length: 1_000 }, (_, turn) => {
      history.push(userText(`question ${turn}.`));
      const call = modelCall(`m${turn}`, turn, history, [answerOf(`answer ${turn}.`)]);
      history.push(said("assistant", `answer ${turn}.`));
      return call;
    });
    const { page } = await opened({ ...DETAIL, spans });
    await talk(page).getByText("answer 999.").waitFor();
    const items = talk(page).locator(".talk-item");
    expect(await items.count()).toBe(150);
    await page.getByRole("button", { name: "Show 200 more of 1,850" }).click();
    await expect.poll(() => items.count()).toBe(350);
    await page.context().close();
  });

  it("of agents in each other opens the first of them, and no more by itself", async () => {
    const spans = Array.from({ length: 2_000 }, (_, at) =>
      aSpan(`s${at}`, at, 4_000 - at, {
        ...(at === 0 ? {} : { parent_span_id: `s${at - 1}` }),
        run_id: at === 0 ? "run" : `run ${at}`,
        kind: "run",
        name: `invoke_agent a${at}`,
        attributes: { "gen_ai.agent.name": `a${at}` },
      }),
    );
    const last = toolCall("t", 2_000, { parent_span_id: "s1999", run_id: "run 1999" });
    const { errors, page } = await opened({ ...DETAIL, spans: [...spans, last] });
    await talk(page).locator("summary").filter({ hasText: "Agent a4" }).waitFor();
    expect(await talk(page).locator("details[open]").count()).toBe(3);
    expect(errors).toEqual([]);
    await page.context().close();
  });

  it("is not held up by hostile Markdown", async () => {
    const texts = [
      ">".repeat(10_000),
      "*".repeat(100_000),
      "a **b** ".repeat(650_000),
      "[".repeat(40_000),
    ];
    const spans = texts.map((text, at) =>
      modelCall(`m${at}`, at, [userText(text)], [answerOf("ok")]),
    );
    const { errors, page } = await opened({ ...DETAIL, spans });
    await page.getByRole("button", { name: "Show all 5,200,000 characters" }).waitFor();
    expect(errors).toEqual([]);
    await page.context().close();
  });

  it.each([
    [400, "light"],
    [400, "dark"],
    [1_440, "light"],
    [1_440, "dark"],
  ] as const)("fits into %i px, %s, and axe finds nothing serious", async (width, colorScheme) => {
    const { page } = await opened(DETAIL, { colorScheme, viewport: { width, height: 900 } });
    for (const summary of await talk(page).locator("summary").all()) await summary.click();
    const wide = await page.evaluate<number>("document.documentElement.scrollWidth");
    expect(wide).toBeLessThanOrEqual(width);
    expect(await seriousFindings(page)).toEqual([]);
    await page.context().close();
  });
});
