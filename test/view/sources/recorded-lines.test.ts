import { describe, expect, it } from "vitest";
import { DecodedLine, parseLine, type RecordedEvent, RUNTIMES } from "../../../src/replay/door.ts";
import { type Trace, Traces } from "../../../src/view/runs/traces.ts";
import { RecordedLines } from "../../../src/view/sources/recorded-lines.ts";
import { Folder } from "../../cli/support/folder.ts";
import { completed, started } from "../../cli/support/recorded.ts";

const RUNS = 1_000;

function lineOf(text: string): DecodedLine<RecordedEvent> {
  const [{ dialect }] = RUNTIMES;
  const { value } = parseLine(text);
  const decoded = value && dialect.decode(value);
  if (decoded?.outcome !== "event") throw new Error(`expected an event, got ${text}`);
  return new DecodedLine(decoded, dialect, 1, text);
}

/** The thread of each run has two. */
function fieldsOf(run: number) {
  return { run_id: `run-${run}`, thread_id: `thread-${Math.floor(run / 2)}` };
}

describe("the lines of a recording with many more runs than the list has", () => {
  it("are held in memory for the runs of the list, and found for all others", () => {
    using folder = new Folder();
    const traces = new Traces();
    const traceOf = (run: number): Trace => traces.get(`trace-${run}`);
    let newest: readonly number[] = [];
    const listed = () => newest.map(traceOf);
    const options = { listed, mostStreams: 10, recentLines: 5 };
    const lines = new RecordedLines(folder.at("lines"), options);
    const all: string[] = [];
    const add = (text: string) => {
      all.push(text);
      lines.add(lineOf(text));
    };
    let most = 0;
    for (let run = 0; run < RUNS; run += 1) {
      newest = [...newest.slice(-4), run];
      add(started(fieldsOf(run)));
      lines.begins(traceOf(run));
      add(completed(fieldsOf(run)));
      most = Math.max(most, lines.streams);
    }
    expect(most).toBeLessThan(50);
    // The run was put away long ago, and goes on.
    add(completed({ ...fieldsOf(7), output: "late" }));
    const textsOf = (run: number) =>
      lines.linesOf(lines.groupsOf([traceOf(run)])).map(({ text }) => text);
    const first = all.slice(12, 16);
    expect(textsOf(6)).toEqual([...first, all.at(-1)]);
    expect(textsOf(7)).toEqual(textsOf(6));
    expect(textsOf(RUNS - 1)).toEqual(all.slice(-5, -1));
    expect([...lines.all(lines.count)].map(({ text }) => text)).toEqual(all);
    expect(lines.count).toBe(2 * RUNS + 1);
    lines.close();
  });

  it("are joined with those of a run that was put away", () => {
    using folder = new Folder();
    const traces = new Traces();
    const lines = new RecordedLines(folder.at("lines"), {
      listed: () => [],
      mostStreams: 2,
      recentLines: 0,
    });
    const add = (run: number) => {
      lines.add(lineOf(started({ run_id: `run-${run}` })));
      lines.begins(traces.get(`trace-${run}`));
    };
    for (let run = 0; run < 20; run += 1) add(run);
    lines.add(lineOf(started({ run_id: "child" })));
    lines.begins(traces.get("trace-3"));
    const found = lines.linesOf(lines.groupsOf([traces.get("trace-3")]));
    expect(found.map(({ number }) => number)).toEqual([3, 20]);
    lines.close();
  });
});
