import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { Bridge } from "../../../src/bridge/bridge.ts";
import {
  type AuditRow,
  MemorySessionLog,
  NdjsonSessionLog,
  type SessionLog,
  type ThreadKey,
  verifyLog,
} from "../../../src/entries/audit.ts";
import { entelixDialect, readEvents } from "../../../src/entries/replay.ts";
import { runAgent } from "../../../src/entries/runtime.ts";
import { FanOutSink, RecorderSink } from "../../../src/entries/sinks.ts";
import { collectSpans } from "../../support/spans.ts";

const folder = mkdtempSync(join(tmpdir(), "large-values-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const KEY: ThreadKey = { tenant_id: "acme", thread_id: "t1" };
const MB = 1_000_000;
/** Each moves hundreds of megabytes: on a machine that does other work, too, that takes its time. */
const PATIENCE = { timeout: 300_000 };

/** The rows of a run whose tool returns a value, and its recording. */
async function rowsOf(log: SessionLog, name: string, value: unknown) {
  const recording = join(folder, `${name}.ndjson`);
  const errors: unknown[] = [];
  const bridge = new Bridge({
    audit: log,
    tracerProvider: collectSpans().provider,
    metrics: false,
    onError: (error) => errors.push(error),
  });
  const recorder = new RecorderSink({ path: recording, source: bridge });
  const sink = new FanOutSink([bridge, recorder]);
  const options = { sink, agent: "a", tenant: "acme", threadId: "t1" };
  const answer = await runAgent(options, async (run) => {
    const given = await run.tool("fetch", { input: { url: "u" } }, () => value);
    return given === value ? "same" : "other";
  });
  expect([answer, errors]).toEqual(["same", []]);
  const counts = { rows: bridge.diagnostics().auditCuts, lines: recorder.diagnostics().cut };
  await sink.shutdown();
  return { rows: await log.loadSince(KEY, 0), recording, counts };
}

async function replayed(recording: string): Promise<readonly AuditRow[]> {
  const log = new MemorySessionLog();
  const { provider } = collectSpans();
  const bridge = new Bridge({ audit: log, mode: "replay", tracerProvider: provider });
  const report = await readEvents(recording, {
    dialects: [entelixDialect],
    onEvent: ({ envelope, event }) => bridge.send(event, envelope),
  });
  expect(report.rejected).toBe(0);
  await bridge.shutdown();
  return log.loadSince(KEY, 0);
}

const KINDS = ["entelix.run_started", "tool_call", "tool_result", "entelix.run_ended"];

function expectCut(rows: readonly AuditRow[]) {
  expect(rows.map(({ event }) => event.kind)).toEqual(KINDS);
  expect(rows[2]?.event).toMatchObject({ name: "fetch", is_error: false, cut: ["content"] });
  expect(rows[2]?.event_text.length).toBeGreaterThan(MB - 1);
}

describe("a tool that returns 40 MB", () => {
  it("leaves its row in a log on disk, and its run returns", PATIENCE, async () => {
    const directory = join(folder, "log");
    const log = await NdjsonSessionLog.open(directory);
    const { counts, recording, rows } = await rowsOf(log, "disk", "x".repeat(40 * MB));
    await log.close();
    expectCut(rows);
    expect(counts).toEqual({ rows: 1, lines: 1 });
    expect(await verifyLog(directory)).toMatchObject({ ok: true, rows: 4 });
    expect(await replayed(recording)).toEqual(rows);
  });

  it("leaves its row in a log in memory: an object", PATIENCE, async () => {
    const value = { id: 7, pages: Array.from({ length: 40 }, () => "y".repeat(MB)) };
    const { recording, rows } = await rowsOf(new MemorySessionLog(), "memory", value);
    expectCut(rows);
    expect(rows[2]?.event).toMatchObject({ content: { id: 7 } });
    expect(await replayed(recording)).toEqual(rows);
  });

  it("leaves its row if its JSON is longer than a text can be", PATIENCE, async () => {
    const half = "z".repeat(300 * MB);
    const { recording, rows } = await rowsOf(new MemorySessionLog(), "longest", [half, half]);
    expectCut(rows);
    expect(await replayed(recording)).toEqual(rows);
  });

  it("does not keep ten at once from their rows", PATIENCE, async () => {
    const log = await NdjsonSessionLog.open(join(folder, "ten"));
    const bridge = new Bridge({ audit: log, tracerProvider: collectSpans().provider });
    const run = { run_id: "r1", tenant_id: "acme" };
    const output = "x".repeat(30 * MB);
    const sent = Array.from({ length: 10 }, (_, at) =>
      bridge.send(
        { type: "tool_complete", ...run, tool_use_id: `c${at}`, tool: "t", duration_ms: 1, output },
        { thread_id: "t1" },
      ),
    );
    await Promise.all(sent);
    await bridge.send({ type: "complete", ...run, state: null });
    expect(bridge.diagnostics()).toMatchObject({ auditFailures: 0, auditCuts: 10 });
    await bridge.shutdown();
    await log.close();
    expect(await verifyLog(join(folder, "ten"))).toMatchObject({ ok: true, rows: 11 });
  });
});

describe("a recording", () => {
  it("has lines that readers take, whatever the events hold", PATIENCE, async () => {
    const path = join(folder, "lines.ndjson");
    const recorder = new RecorderSink({ path });
    const huge = "x".repeat(20 * MB);
    const model = { run_id: "r1", tenant_id: "acme", model_call_id: "m" };
    await recorder.send({ type: "started", run_id: "r1", tenant_id: "acme", agent: "a" });
    await recorder.send(
      { type: "model_start", ...model, input: [huge], system_instructions: huge, tools: huge },
      { event_id: "e1", details: { input: huge, exception: { type: "E", stacktrace: huge } } },
    );
    await recorder.send({ type: "complete", run_id: "r1", tenant_id: "acme", state: huge });
    const many = Object.fromEntries(Array.from({ length: 10_000 }, (_, at) => [`f${at}`, huge]));
    Reflect.apply(recorder.send, recorder, [
      { type: "newer", run_id: "r1", tenant_id: "acme", ...many },
    ]);
    expect(recorder.diagnostics()).toMatchObject({ recorded: 3, refused: 1, cut: 2 });
    await recorder.shutdown();
    const cut: unknown[] = [];
    const report = await readEvents(path, {
      dialects: [entelixDialect],
      onEvent: ({ envelope }) => void cut.push(envelope.details?.recorder?.cut),
    });
    expect(report).toMatchObject({ lines: 3, rejected: 0, events: 3 });
    expect(cut).toEqual([
      undefined,
      ["details.exception.stacktrace", "details.input", "input", "system_instructions", "tools"],
      ["state"],
    ]);
  });
});
