import { Writable } from "node:stream";
import { describe, expect, it } from "vitest";
import { OutputWriter } from "../../../src/cli/door.ts";
import { MOST_BYTES, MOST_RUNS, writeReport } from "../../../src/view/commands/write-report.ts";
import type { ReportDocument } from "../../../src/view/format.ts";
import { aDetail, aRun, aSpan, at, FakeRuns } from "../support/fake-runs.ts";

const PAGE = { script: "draw()", style: "" };
const GOES_ON = new AbortController().signal;

/** What was written, in memory. */
class Written {
  readonly #pieces: Buffer[] = [];
  readonly writer = new OutputWriter(
    "--out",
    new Writable({
      write: (chunk: Buffer, _encoding, done) => {
        this.#pieces.push(chunk);
        setImmediate(done);
      },
    }),
    true,
  );

  get bytes(): Buffer {
    return Buffer.concat(this.#pieces);
  }

  document(): ReportDocument {
    const [, json = ""] = /id="report">(.*?)<\/script>/s.exec(this.bytes.toString()) ?? [];
    return JSON.parse(json);
  }
}

const failed = (key: string, text = "") =>
  aDetail(aRun(key, { outcome: "failed", start_ns: at(Number(key)) }), {
    spans: [aSpan(key, 0, 1, { attributes: { text } })],
  });

describe("writing a report", () => {
  it("writes the same runs as a page and as a trace", async () => {
    const runs = new FakeRuns([failed("2"), failed("1"), aDetail(aRun("3"))]);
    const [html, trace] = [new Written(), new Written()];
    const asked = { keys: runs.failedKeys(), limited: true, signal: GOES_ON };
    const counts = await writeReport(runs, asked, PAGE, {
      html: html.writer,
      trace: trace.writer,
    });
    expect(counts).toEqual({ runs: 2, others: 0, leftOut: 0 });
    const { details, list, left_out } = html.document();
    expect(Object.keys(details).sort()).toEqual(["1", "2"]);
    expect(list.runs.map(({ key }) => key).sort()).toEqual(["1", "2"]);
    expect(left_out).toBe(0);
    const { otherData, traceEvents } = JSON.parse(trace.bytes.toString());
    // The first run of both begins the time, whatever their order.
    expect(otherData).toEqual({ begin_unix_ns: at(1) });
    expect(traceEvents.filter(({ ph }: { ph: string }) => ph === "X")).toHaveLength(2);
  });

  it("has so many runs at most, the first ones, and counts the others", async () => {
    const all = Array.from({ length: MOST_RUNS + 5 }, (_, index) => failed(String(index)));
    const runs = new FakeRuns(all);
    const html = new Written();
    const asked = { keys: runs.failedKeys(), limited: true, signal: GOES_ON };
    const counts = await writeReport(runs, asked, PAGE, { html: html.writer, trace: undefined });
    expect(counts).toEqual({ runs: MOST_RUNS, others: 0, leftOut: 5 });
    expect(html.document().left_out).toBe(5);
    expect(Object.hasOwn(html.document().details, String(MOST_RUNS))).toBe(false);
    expect(runs.asked).toHaveLength(MOST_RUNS);
  });

  it("has so many bytes at most: a run that does not fit is left out, not those behind it", async () => {
    // Two bytes each in UTF-8.
    const long = "é".repeat(MOST_BYTES / 10);
    const runs = new FakeRuns([
      ...Array.from({ length: 6 }, (_, index) => failed(String(index), long)),
      failed("6", "short"),
    ]);
    const html = new Written();
    const asked = { keys: runs.failedKeys(), limited: true, signal: GOES_ON };
    const counts = await writeReport(runs, asked, PAGE, { html: html.writer, trace: undefined });
    expect(counts).toEqual({ runs: 5, others: 0, leftOut: 2 });
    expect(Object.keys(html.document().details)).toEqual(["0", "1", "2", "3", "6"]);
    expect(html.bytes.length).toBeLessThanOrEqual(MOST_BYTES);
  });

  it("has the runs before and after a pause, from the first of which the times count", async () => {
    const story = (key: string, relation: "resumes" | "resumed_by", other: string) =>
      aDetail(aRun(key, { start_ns: at(Number(key)) }), {
        related: [{ relation, run_id: other, key: other }],
      });
    const runs = new FakeRuns([
      story("1", "resumed_by", "2"),
      story("2", "resumes", "1"),
      aDetail(aRun("3"), { related: [{ relation: "child", run_id: "1", key: "1" }] }),
    ]);
    const [html, trace] = [new Written(), new Written()];
    const asked = { keys: ["2"], limited: false, signal: GOES_ON };
    const outputs = { html: html.writer, trace: trace.writer };
    expect(await writeReport(runs, asked, PAGE, outputs)).toEqual({
      runs: 1,
      others: 1,
      leftOut: 0,
    });
    expect(Object.keys(html.document().details)).toEqual(["1", "2"]);
    expect(html.document().list.runs.map(({ key }) => key)).toEqual(["1", "2"]);
    expect(JSON.parse(trace.bytes.toString()).otherData).toEqual({ begin_unix_ns: at(1) });
    expect(runs.asked).toEqual(["2", "1"]);
  });

  it("counts a run that does not fit once, also if it is before or after another one", async () => {
    const long = "x".repeat(MOST_BYTES);
    const related = [{ relation: "resumed_by", run_id: "2", key: "2" }] as const;
    const runs = new FakeRuns([{ ...failed("1"), related }, failed("2", long)]);
    const html = new Written();
    const asked = { keys: ["1", "2"], limited: true, signal: GOES_ON };
    const counts = await writeReport(runs, asked, PAGE, { html: html.writer, trace: undefined });
    expect(counts).toEqual({ runs: 1, others: 0, leftOut: 1 });
  });

  it("has a run that was asked for, however long it is", async () => {
    const runs = new FakeRuns([failed("1", "x".repeat(MOST_BYTES))]);
    const html = new Written();
    const asked = { keys: ["1"], limited: false, signal: GOES_ON };
    const counts = await writeReport(runs, asked, PAGE, { html: html.writer, trace: undefined });
    expect(counts).toEqual({ runs: 1, others: 0, leftOut: 0 });
    expect(html.bytes.length).toBeGreaterThan(MOST_BYTES);
  });

  it("is a page without runs where none failed", async () => {
    const html = new Written();
    const asked = { keys: [], limited: true, signal: GOES_ON };
    await writeReport(new FakeRuns([]), asked, PAGE, { html: html.writer, trace: undefined });
    expect(html.document()).toMatchObject({ details: {}, list: { runs: [] }, left_out: 0 });
  });

  it("ends early when it is asked to", async () => {
    const asked = { keys: ["1"], limited: true, signal: AbortSignal.abort() };
    const runs = new FakeRuns([failed("1")]);
    const none = { html: undefined, trace: undefined };
    expect(await writeReport(runs, asked, PAGE, none)).toBeUndefined();
    expect(runs.asked).toEqual([]);
  });
});
