import { appendFileSync, renameSync, truncateSync, writeFileSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { AgentEvent } from "../../src/index.ts";
import { recording } from "../cli/support/recorded.ts";
import type { RunDetail, RunList } from "../view/support/view-documents.ts";
import { visitor } from "../view/support/view-documents.ts";
import { startBrowser, watchedPage } from "./support/browser.ts";
import { freshRun, happening } from "./support/events.ts";
import { ServeProcess } from "./support/serve-process.ts";
import { sendUntilTaken } from "./support/serve-sender.ts";
import { until, untilHolds } from "./support/until.ts";
import { ViewProcess } from "./support/view-process.ts";

/** Of the recordings `pause` and `resume`. */
const PAUSED = "01a1fbfa-4a5c-71d6-b1ec-8cec415f8c46";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "entelix-otel-view-follow-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** What a viewer asks: the runs as `outcome agent`, and the spans of one as `name end`. */
async function viewer(url: string) {
  const get = await visitor(url);
  const list = () => get<RunList>("/runs");
  return {
    list,
    outcomes: async () => (await list()).runs.map(({ agent, outcome }) => `${outcome} ${agent}`),
    spans: async (runId: string) => {
      const { spans } = await get<RunDetail>(`/run?key=${runId}`);
      return spans.map(({ end_ns, name }) => `${name} ${end_ns === null ? "open" : "ended"}`);
    },
    detail: (runId: string) => get<RunDetail>(`/run?key=${runId}`),
  };
}

/** A run is told event by event: after each one it is shown as it is then. */
async function followsRun(
  { detail, outcomes, spans }: Awaited<ReturnType<typeof viewer>>,
  tell: (event: AgentEvent) => Promise<void>,
) {
  const run = freshRun();
  const [agent, tool] = ["invoke_agent react", "execute_tool fetch"];
  const steps: [AgentEvent, string, string[]][] = [
    [run.started(), "open react", [`${agent} open`]],
    [run.toolStart("tu-1"), "open react", [`${agent} open`, `${tool} open`]],
    [run.toolComplete("tu-1"), "open react", [`${agent} open`, `${tool} ended`]],
    [run.complete(), "complete react", [`${agent} ended`, `${tool} ended`]],
  ];
  for (const [event, outcome, shown] of steps) {
    await tell(event);
    await untilHolds(`${event.type}: ${outcome}`, async () => {
      expect(await outcomes()).toEqual([outcome]);
      expect((await spans(run.run_id)).toSorted()).toEqual(shown.toSorted());
    });
  }
  return detail(run.run_id);
}

describe("view of what is being written", () => {
  it("follows a recording event by event", async () => {
    const file = join(folder, "growing.ndjson");
    writeFileSync(file, "");
    const view = await ViewProcess.start([file]);
    const detail = await followsRun(await viewer(view.url), async (event) =>
      appendFileSync(file, `${happening(event)}\n`),
    );
    expect([detail.rows_from, detail.rows.length]).toEqual(["replay", 4]);
    expect(await view.stop()).toBe(0);
  });

  it("follows a recording that never is quiet", async () => {
    const file = join(folder, "busy.ndjson");
    const run = freshRun();
    writeFileSync(file, `${happening(freshRun().started("before"))}\n`);
    const view = await ViewProcess.start([file]);
    const { outcomes } = await viewer(view.url);
    await untilHolds("the first", async () => expect(await outcomes()).toEqual(["open before"]));
    appendFileSync(file, `${happening(run.started())}\n`);
    let calls = 0;
    // Far fewer events than are held to put them in order.
    await until(
      "the run is shown while events come and come",
      async () => {
        calls += 1;
        if (calls > 100) throw new Error("too many events");
        appendFileSync(file, `${happening(run.toolStart(`tu-${calls}`))}\n`);
        return (await outcomes()).includes("open react") ? true : undefined;
      },
      { everyMs: 200 },
    );
    expect(await view.stop()).toBe(0);
  });

  it("follows the audit log of a service", async () => {
    const audit = join(folder, "audit");
    await using serve = await ServeProcess.start({ args: ["--audit", audit] });
    const view = await ViewProcess.start([audit]);
    const viewed = await viewer(view.url);
    const detail = await followsRun(viewed, (event) =>
      sendUntilTaken(serve.url, [happening(event)]),
    );
    expect([detail.rows_from, detail.rows.length, detail.verdict?.state]).toEqual([
      "log",
      4,
      "open",
    ]);
    const { list } = viewed;
    await serve.stop();
    // It is verified again, though no row has come.
    await untilHolds(
      "that it is closed",
      async () => {
        const { text } = (await list()).sources[0]?.verdict ?? {};
        expect(text).toBe("intact, closed");
      },
      { timeoutMs: 90_000 },
    );
    expect(await view.stop()).toBe(0);
  });

  it.each([
    ["replaced", "another file has its name now"],
    ["cut", "it is shorter now"],
  ])("reads a recording again that is %s", async (how, why) => {
    const file = join(folder, `${how}.ndjson`);
    const [before, after] = [freshRun(), freshRun()];
    const text = [before.started("before"), before.toolStart("tu-1"), before.complete()];
    writeFileSync(file, text.map((event) => `${happening(event)}\n`).join(""));
    const view = await ViewProcess.start([file]);
    const { list, outcomes, spans } = await viewer(view.url);
    await untilHolds("as before", async () =>
      expect(await outcomes()).toEqual(["complete before"]),
    );
    const line = `${happening(after.started("after"))}\n`;
    if (how === "cut") {
      truncateSync(file);
      appendFileSync(file, line);
    } else {
      writeFileSync(`${file}.new`, line);
      renameSync(`${file}.new`, file);
    }
    await untilHolds("as it is now", async () => expect(await outcomes()).toEqual(["open after"]));
    expect(await spans(after.run_id)).toEqual(["invoke_agent after open"]);
    expect((await list()).sources).toMatchObject([
      { problems: [{ place: file, problem: `${why}: it was read again from its start` }] },
    ]);
    appendFileSync(file, `${happening(after.complete())}\n`);
    await untilHolds("it goes on", async () => {
      expect(await outcomes()).toEqual(["complete after"]);
    });
    expect(await view.stop()).toBe(0);
  });
});

describe("the page of a run that goes on", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await startBrowser();
  });
  afterAll(() => browser?.close());

  it("shows what is new without being loaded again", async () => {
    const file = join(folder, "page.ndjson");
    const run = freshRun();
    const append = (...events: AgentEvent[]) =>
      appendFileSync(file, events.map((event) => `${happening(event)}\n`).join(""));
    append(run.started(), run.toolStart("tu-1"));
    const view = await ViewProcess.start([file]);
    const { errors, page } = await watchedPage(browser, `${view.origin}/`);
    await page.goto(`${view.url}#/run/${run.run_id}?view=timeline`);
    const [header, items] = [
      page.getByRole("main").locator("header").first(),
      page.getByRole("tree", { name: "Spans" }).getByRole("treeitem"),
    ];
    await expect.poll(() => items.count()).toBe(2);
    await header.getByText("open", { exact: true }).waitFor();
    // Stays as it is where the page is not loaded again.
    await page.evaluate("window.seen = true");
    append(run.toolComplete("tu-1"), run.toolStart("tu-2", "search"));
    await expect.poll(() => items.count()).toBe(3);
    append(run.toolComplete("tu-2", "search"), run.interrupted());
    await header.getByText("interrupted", { exact: true }).waitFor();
    await sleep(1_000);
    append(run.started(), run.toolStart("tu-3", "book"));
    await header.getByText("open", { exact: true }).waitFor();
    append(run.toolComplete("tu-3", "book"), run.complete());
    await header.getByText("complete", { exact: true }).waitFor();
    await page.goto(`${view.origin}/#/`);
    await page.getByRole("grid", { name: "Runs" }).getByText("complete").waitFor();
    expect(await page.evaluate("window.seen")).toBe(true);
    expect(errors).toEqual([]);
    await page.context().close();
    expect(await view.stop()).toBe(0);
  });

  it("lists runs of new files in the folder, and those of a replaced file no more", async () => {
    const runs = join(folder, "runs");
    await mkdir(runs);
    const write = (name: string, agent: string) => {
      const started = `${happening(freshRun().started(agent))}\n`;
      // In place at once: what is half written is followed, and that is tested above.
      writeFileSync(join(folder, name), started);
      renameSync(join(folder, name), join(runs, name));
    };
    write("a.ndjson", "first");
    const view = await ViewProcess.start([runs]);
    const { errors, page } = await watchedPage(browser, `${view.origin}/`);
    await page.goto(view.url);
    const grid = page.getByRole("grid", { name: "Runs" });
    const listed = async () => {
      const text = await grid.innerText();
      return ["first", "second", "third"].filter((agent) => text.includes(agent));
    };
    await expect.poll(listed).toEqual(["first"]);
    write("b.ndjson", "second");
    await expect.poll(listed).toEqual(["first", "second"]);
    write("a.ndjson", "third");
    await expect.poll(listed).toEqual(["second", "third"]);
    expect(errors).toEqual([]);
    await page.context().close();
    expect(await view.stop()).toBe(0);
  });

  it("leads to the run that resumes it, once there is one", async () => {
    const file = join(folder, "paused.ndjson");
    writeFileSync(file, await readFile(recording("pause")));
    const view = await ViewProcess.start([file]);
    const { errors, page } = await watchedPage(browser, `${view.origin}/`);
    await page.goto(`${view.url}#/run/${PAUSED}`);
    const main = page.getByRole("main");
    await main.getByText("interrupted", { exact: true }).first().waitFor();
    expect(await main.getByText("Resumed by").count()).toBe(0);
    appendFileSync(file, await readFile(recording("resume")));
    await main.getByText("Resumed by").waitFor();
    expect(errors).toEqual([]);
    await page.context().close();
    expect(await view.stop()).toBe(0);
  });
});
