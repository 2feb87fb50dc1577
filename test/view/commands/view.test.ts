import { spawn } from "node:child_process";
import { appendFileSync, chmodSync, copyFileSync, readdirSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import type { RunDetail, RunList } from "../../../src/view/format.ts";
import { command } from "../../cli/support/any-process.ts";
import { MAIN } from "../../cli/support/command.ts";
import { Folder } from "../../cli/support/folder.ts";
import { readSpans } from "../../cli/support/otlp-lines.ts";
import { RAW_CONTROL, recording } from "../../cli/support/recorded.ts";
import {
  ALL_RECORDINGS,
  asViewed,
  viewedList,
  viewedRun,
  visitor,
} from "../support/view-documents.ts";

const KINDS = new Map([
  ["invoke_agent", "run"],
  ["execute_tool", "tool"],
  ["chat", "model"],
]);

/** A run of the recording `nested_subagent`. */
const NESTED = "01a1fbfa-4968-71c5-8c19-2e5f98e57b52";

/** What replay and audit show say of all recordings. */
async function replayed(folder: Folder) {
  const [spans, audit] = [folder.at("spans.ndjson"), folder.at("audit")];
  const args = ["replay", ...ALL_RECORDINGS, "--capture-content", "--out", spans, "--audit", audit];
  expect((await command(args)).code).toBe(0);
  const { stdout } = await command(["audit", "show", audit, "--json"]);
  const rows: { run_id: string | null; event: { kind: string; timestamp: string } }[] = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  return { spans, audit, rows };
}

describe("view --json", () => {
  it("has the spans and rows of every recording, as replay and audit show have them", async () => {
    using folder = new Folder();
    const { audit, rows, spans } = await replayed(folder);
    const expected = readSpans(spans).map(asViewed);
    for (const places of [ALL_RECORDINGS, [spans, audit], [audit, spans]]) {
      const { runs } = await viewedList(places);
      const runSpans = expected.filter(
        (span) => span.attributes["gen_ai.operation.name"] === "invoke_agent",
      );
      expect(runs.map(({ run_id }) => run_id).sort()).toEqual(
        [...new Set(runSpans.map(({ run_id }) => run_id))].sort(),
      );
      const details = await Promise.all(runs.map(({ run_id }) => viewedRun(places, run_id)));
      for (const detail of details) {
        const { run } = detail;
        const own = detail.spans.filter(({ run_id }) => run_id === run.run_id);
        const without = own.map(({ kind, ...span }) => {
          expect(kind).toBe(KINDS.get(String(span.attributes["gen_ai.operation.name"])) ?? "step");
          return span;
        });
        const wanted = expected.filter(({ run_id }) => run_id === run.run_id);
        expect(bySpanId(without)).toEqual(bySpanId(wanted));
        expect(run.spans).toBe(wanted.length);
        const ofRun = rows.filter(({ run_id }) => run_id === run.run_id);
        expect(run.rows).toBe(ofRun.length);
        const shown = detail.rows.filter(({ run_id }) => run_id === run.run_id);
        expect(shown.map(({ kind, timestamp, ...row }) => row)).toEqual(
          ofRun.map((row) => expect.objectContaining(withoutText(row))),
        );
        expect(shown.map(({ kind }) => kind)).toEqual(ofRun.map(({ event }) => event.kind));
      }
      const roots = details.filter(({ run }) => run.parent_run_id === undefined);
      const all = roots.flatMap((detail) => detail.spans.map(({ span_id }) => span_id));
      expect(all.sort()).toEqual(expected.map(({ span_id }) => span_id).sort());
    }
  }, 120_000);

  it("says where the rows are from, and what the log's verdict is", async () => {
    using folder = new Folder();
    const { audit } = await replayed(folder);
    const logged = await viewedRun([audit], NESTED);
    expect([logged.rows_from, logged.verdict?.state, logged.verdict?.text]).toEqual([
      "log",
      "intact",
      "intact, closed",
    ]);
    const recorded = await viewedRun([recording("nested_subagent")], NESTED);
    expect([recorded.rows_from, recorded.verdict]).toEqual(["replay", undefined]);
  });

  it("says what is wrong with an input, and has the rest", async () => {
    using folder = new Folder();
    const file = folder.at("damaged.ndjson");
    copyFileSync(recording("nested_subagent"), file);
    appendFileSync(file, '{"type":"started"\n');
    const { code, stdout } = await command(["view", file, "--json"]);
    expect(code).toBe(2);
    const list: RunList = JSON.parse(stdout);
    expect(list.runs).toHaveLength(2);
    const [source] = list.sources;
    expect(source?.problem_count).toBe(1);
    const [problem] = source?.problems ?? [];
    const lines = (await readFile(recording("nested_subagent"), "utf8")).trim().split("\n").length;
    expect([problem?.place, problem?.line]).toEqual([file, lines + 1]);
  });

  it("shows a damaged log, and what is wrong with it", async () => {
    using folder = new Folder();
    const { audit } = await replayed(folder);
    const [segment = ""] = readdirSync(audit).filter((name) => name.endsWith(".ndjson"));
    const text = await readFile(`${audit}/${segment}`, "utf8");
    writeFileSync(`${audit}/${segment}`, text.replace('"research_team"', '"research_teem"'));
    const detail = await viewedRun([audit], NESTED);
    expect(detail.verdict?.state).toBe("damaged");
    expect(detail.verdict?.problem_count).toBeGreaterThan(0);
    expect(detail.rows.length).toBeGreaterThan(3);
  });
});

const bySpanId = <T extends { readonly span_id: string }>(spans: readonly T[]) =>
  spans.toSorted((a, b) => (a.span_id < b.span_id ? -1 : 1));

/** A row without what is only in the text of its event. */
function withoutText({ event, ...row }: { readonly event: unknown }): object {
  expect(event).toBeDefined();
  const { event_text, ...facts }: Readonly<Record<string, unknown>> = row;
  return facts;
}

describe("view", () => {
  it("serves the page until it is asked to end, and leaves no files", async () => {
    using folder = new Folder();
    const env = { TMPDIR: folder.path };
    let answered: Promise<readonly [RunList, RunDetail]> | undefined;
    const { code, stderr, stdout } = await command(["view", recording("nested_subagent")], {
      env,
      onStdout: (text, kill) => {
        const [, url] = /Open in a browser: (\S+)\n/.exec(text) ?? [];
        if (url === undefined || answered !== undefined) return;
        answered = asked(url).finally(() => kill("SIGTERM"));
      },
    });
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toMatch(/^Open in a browser: http:\/\/127\.0\.0\.1:\d+\/\?token=[\w-]{43}\n/);
    const [list, detail] = (await answered) ?? [];
    expect(list?.runs).toHaveLength(2);
    expect(detail?.run.agent).toBe("coordinator");
    expect(readdirSync(folder.path)).toEqual([]);
  });

  it("leaves no files where its terminal is closed", async () => {
    using folder = new Folder();
    const { signal } = await command(["view", recording("success")], {
      env: { TMPDIR: folder.path },
      onStdout: (text, kill) => {
        if (text.includes("Ctrl-C")) kill("SIGHUP");
      },
    });
    expect([signal, readdirSync(folder.path)]).toEqual(["SIGHUP", []]);
  });

  it("opens the browser at the run that was asked for", async () => {
    using folder = new Folder();
    writeFileSync(folder.at("xdg-open"), `#!/bin/sh\nprintf %s "$1" > ${folder.at("opened")}\n`);
    chmodSync(folder.at("xdg-open"), 0o755);
    const env = { PATH: `${folder.path}:${process.env.PATH}` };
    const args = ["view", recording("nested_subagent"), "--run", NESTED, "--open"];
    const { code, stderr } = await command(args, {
      env,
      onStdout: (text, kill) => {
        if (text.includes("Ctrl-C")) setTimeout(() => kill("SIGINT"), 1_000);
      },
    });
    expect([code, stderr]).toEqual([0, ""]);
    expect(await readFile(folder.at("opened"), "utf8")).toMatch(
      new RegExp(`^http://127\\.0\\.0\\.1:\\d+/\\?token=[\\w-]{43}#/run/${NESTED}$`),
    );
  });

  it("goes on where no browser can be opened, and says so", async () => {
    const { code, stderr } = await command(["view", recording("success"), "--open"], {
      env: { PATH: "/nowhere" },
      onStdout: (text, kill) => {
        if (text.includes("Ctrl-C")) setTimeout(() => kill("SIGTERM"), 1_000);
      },
    });
    expect([code, stderr]).toEqual([0, "No browser could be opened: open the address yourself.\n"]);
  });

  it("shows a run while it is running", async () => {
    using folder = new Folder();
    const file = folder.at("growing.ndjson");
    const lines = (await readFile(recording("nested_subagent"), "utf8")).trim().split("\n");
    writeFileSync(file, `${lines.slice(0, 3).join("\n")}\n`);
    const child = spawn(process.execPath, [MAIN, "view", file], { stdio: "pipe" });
    try {
      const url = await new Promise<string>((resolve) => {
        let said = "";
        child.stdout.on("data", (chunk: Buffer) => {
          said += chunk.toString();
          const [, found] = /Open in a browser: (\S+)\n/.exec(said) ?? [];
          if (found !== undefined) resolve(found);
        });
      });
      const get = await visitor(url);
      const outcome = async () => {
        const list: RunList = await get("/runs");
        return list.runs.find(({ run_id }) => run_id === NESTED)?.outcome;
      };
      await expect.poll(outcome, { timeout: 20_000 }).toBe("open");
      appendFileSync(file, `${lines.slice(3).join("\n")}\n`);
      await expect.poll(outcome, { timeout: 20_000 }).toBe("complete");
    } finally {
      child.kill();
    }
  });

  it.each([
    [[], "expected a source: a recording"],
    [["/nowhere/a.ndjson"], "/nowhere/a.ndjson: no such file"],
    [["a", "--json", "--open"], "--json: expected no --open, --port or --listen"],
    [["--json", "--listen"], "--json: expected no --open, --port or --listen"],
    [["--listen", "--save"], "--save: expected FILE after it"],
    [["a", "--save", "s.ndjson"], "--save: expected --listen with it"],
    [["--listen=4318x"], "--listen: expected [HOST:]PORT, such as 127.0.0.1:4318, got 4318x"],
    [["--listen=127.0.0.1:65536"], "--listen: expected [HOST:]PORT"],
    [["a", "--port", "0"], "--port: expected a whole number from 1 to 65535"],
    [["--jaeger", "nowhere"], "--jaeger: expected an address"],
    [[recording("success"), "--dialect", "entelx"], "Did you mean entelix?"],
    [
      [recording("success"), "--run", "\u001b[31m", "--json"],
      "--run: expected a run of the sources, got \\x1b[31m",
    ],
    [["postgres://reader:s3cret@db/agents"], "expected a URL without a password"],
    [["postgres://db/agents?password=s3cret"], "expected a URL without a password"],
    [["https://example.com/s3cret"], "got a URL (https://…)"],
  ])("says what is wrong with %j", async (args, said) => {
    const { code, stderr, stdout } = await command(["view", ...args]);
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toContain(said);
    expect(stderr).not.toContain("s3cret");
    expect(stderr).not.toMatch(RAW_CONTROL);
  });
});

async function asked(url: string): Promise<readonly [RunList, RunDetail]> {
  const get = await visitor(url);
  let list: RunList = await get("/runs");
  while (list.runs.length < 2) list = await get("/runs");
  return [list, await get<RunDetail>(`/run?key=${NESTED}`)];
}
