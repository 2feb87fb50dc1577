import { describe, expect, it } from "vitest";
import { AGENT_EVENT_TYPES, type JsonValue, parseExact } from "../../../src/entries/events.ts";
import type { JsonObject } from "../../../src/entries/replay.ts";
import { entelixDialect } from "../../../src/entries/replay.ts";
import { isJsonObject } from "../../../src/replay/door.ts";
import { readLines } from "../../support/golden.ts";
import { bench, flat } from "../../support/run-events.ts";
import { type ExpectedNode, expectTrees, readExpected } from "./expected-tree.ts";

interface Recording {
  readonly name: string;
  /** Flat lines: event and timestamp in one object. */
  readonly lines: readonly JsonObject[];
}

function recordings(file: string): Recording[] {
  return readLines(`golden/${file}`).map((text) => {
    const recording = parseExact(text);
    if (!isJsonObject(recording) || !Array.isArray(recording.events)) throw new TypeError(file);
    const lines = recording.events.map((entry: JsonValue) => {
      if (!isJsonObject(entry) || !isJsonObject(entry.event) || entry.at === undefined) {
        throw new TypeError(`${file}: an entry without event or time`);
      }
      return { ...entry.event, timestamp: entry.at };
    });
    return { name: `${file}#${String(recording.id)}`, lines };
  });
}

function stream(name: string): Recording {
  const lines = readLines(`streams/${name}.ndjson`).map((text) => {
    const line = parseExact(text);
    if (!isJsonObject(line)) throw new TypeError(name);
    return line;
  });
  return { name, lines };
}

function play(recording: Recording) {
  const run = bench();
  for (const line of recording.lines) {
    const decoded = entelixDialect.decode(line);
    if (decoded.outcome !== "event") throw new TypeError(`${recording.name}: ${decoded.outcome}`);
    run.sink.send(decoded.event, decoded.envelope);
  }
  return run;
}

type Line = Recording["lines"][number];

/** When the calls of one run began and ended, in the order of their begin. */
function callTimes(lines: readonly Line[]): { from: Line; to: Line }[] {
  const calls: { from: Line; to: Line }[] = [];
  for (const line of lines) {
    if (line.type === "tool_call_denied" || line.type === "tool_start") {
      calls.push({ from: line, to: line });
    } else if (line.type === "tool_complete" || line.type === "tool_error") {
      const open = calls.find(
        (call) => call.from === call.to && call.from.tool_use_id === line.tool_use_id,
      );
      if (open !== undefined) open.to = line;
    }
  }
  return calls;
}

/** Each span starts at the event that opened it and ends at the one that closed it. */
function expectEventTimes(recording: Recording, nodes: ReturnType<typeof flat>): void {
  for (const run of nodes.filter((node) => node.span.startsWith("invoke_agent"))) {
    const lines = recording.lines.filter((line) => line.run_id === run.run);
    const from = lines.find((line) => line.type === "started");
    expect([run.start, run.end]).toEqual([from?.timestamp, lines.at(-1)?.timestamp]);
    const calls = nodes.filter(
      (node) => node.run === run.run && node.span.startsWith("execute_tool"),
    );
    expect(calls.map((node) => [node.start, node.end])).toEqual(
      callTimes(lines).map((call) => [call.from.timestamp, call.to.timestamp]),
    );
  }
}

function expectedOf(all: Map<string, ExpectedNode[]>, name: string): ExpectedNode[] {
  const expected = all.get(name);
  if (expected === undefined) throw new Error(`no tree was drawn for ${name}`);
  return expected;
}

async function expectPlayed(recording: Recording, expected: ExpectedNode[]): Promise<void> {
  const run = play(recording);
  await run.sink.shutdown();
  const trees = run.trees();
  expectTrees(trees, expected);
  expect([...run.ended.values()]).toEqual(flat(trees).map(() => 1));
  expect([...run.started.keys()].sort()).toEqual([...run.ended.keys()].sort());
  expect(run.reports).toEqual([]);
}

const drawn = readExpected("entelix_trees.json");
const real = [
  ...recordings("entelix_lifecycles.jsonl"),
  ...recordings("entelix_lifecycles_older_0_5.jsonl"),
];

describe("the trees of real entelix runs", () => {
  it("were drawn for every recording", () => {
    expect([...drawn.keys()].sort()).toEqual(real.map((recording) => recording.name).sort());
  });

  for (const recording of real) {
    it(`${recording.name} gives the tree that was drawn by hand`, async () => {
      await expectPlayed(recording, expectedOf(drawn, recording.name));
    });

    it(`${recording.name} has the times of its events, to the nanosecond`, async () => {
      const run = play(recording);
      await run.sink.shutdown();
      expectEventTimes(recording, flat(run.trees()));
      expect(run.diagnostics().adjustments.clamped).toBe(0);
    });
  }

  it("hold every event type between them", () => {
    const types = real.flatMap((recording) => recording.lines.map((line) => line.type));
    expect(new Set(types)).toEqual(new Set(AGENT_EVENT_TYPES));
  });
});

describe("the trees of streams of our own", () => {
  const streams = readExpected("stream_trees.json");

  for (const [name, expected] of streams) {
    it(`${name} gives the tree that was drawn by hand`, async () => {
      await expectPlayed(stream(name), expected);
    });
  }
});
