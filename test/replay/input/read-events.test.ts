import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, describe, expect, it } from "vitest";
import { parseExact } from "../../../src/entries/events.ts";
import type { AgentEvent } from "../../../src/index.ts";
import { type Dialect, EVENT_RANK, type JsonObject } from "../../../src/replay/dialects/dialect.ts";
import { entelixDialect } from "../../../src/replay/dialects/entelix/entelix-dialect.ts";
import { graphDialect } from "../../../src/replay/dialects/graph/graph-dialect.ts";
import type { GraphLine } from "../../../src/replay/dialects/graph/graph-line.ts";
import { formatIssue } from "../../../src/replay/input/decode-line.ts";
import {
  type ReadEventsOptions,
  readEvents,
  SourceReadError,
} from "../../../src/replay/input/read-events.ts";
import { readLines } from "../../support/golden.ts";

const folder = mkdtempSync(join(tmpdir(), "read-events-"));
afterAll(() => rmSync(folder, { recursive: true }));

function started(second: number, more: JsonObject = {}): string {
  const time = `2026-04-29T12:00:${String(second).padStart(2, "0")}Z`;
  const run = { run_id: `r${second}`, tenant_id: "acme", agent: "react" };
  return JSON.stringify({ timestamp: time, type: "started", ...run, ...more });
}

/** A second vocabulary, for the tests of telling them apart. */
interface Ping {
  readonly type: "ping";
  readonly n: number;
}
const pingDialect: Dialect<Ping> = {
  name: "ping",
  looksLike: (value) => value.type === "ping",
  decode(value) {
    const { type, n } = value;
    if (type !== "ping") return { outcome: "unknown", unknown: String(type), value };
    if (typeof n !== "number") {
      return { outcome: "rejected", issues: [{ field: "n", expected: "a number" }] };
    }
    return {
      outcome: "event",
      event: { type, n },
      envelope: { timestamp: [n, 0] },
      rank: EVENT_RANK.note,
      unknownValues: [],
    };
  },
  streamKey: () => ({ stream: "ping" }),
  streamName: () => "ping",
};

async function read<E>(
  text: string | Buffer,
  dialects: ReadEventsOptions<E>["dialects"],
  more: Partial<ReadEventsOptions<E>> = {},
) {
  const events: E[] = [];
  const lines: number[] = [];
  const issues: string[] = [];
  const unknown: string[] = [];
  const rejected: Buffer[] = [];
  async function* source() {
    yield Buffer.from(text);
  }
  const report = await readEvents<E>(source(), {
    dialects,
    name: "in.ndjson",
    onEvent: ({ event, line }) => {
      events.push(event);
      lines.push(line);
    },
    onIssue: (issue) => issues.push(formatIssue(issue)),
    onUnknown: (event) => {
      unknown.push(`${event.line} ${event.unknown} ${event.text}`);
    },
    onRejected: ({ bytes }) => {
      rejected.push(bytes);
    },
    ...more,
  });
  const rejects = Buffer.concat(rejected).toString("latin1");
  return { report, events, lines, issues, unknown, rejects };
}

describe("readEvents", () => {
  it("delivers the events of a file in the order of their times", async () => {
    const path = join(folder, "events.ndjson");
    const names = ["two_tenants_same_run_id", "retried_tool_call"];
    const lines = names.flatMap((name) => readLines(`streams/${name}.ndjson`));
    writeFileSync(path, gzipSync(lines.toReversed().join("\r\n")));
    const seen: { event: AgentEvent; text: string }[] = [];
    const report = await readEvents(path, {
      dialects: [entelixDialect],
      onEvent: ({ event, text }) => void seen.push({ event, text }),
    });
    const times = seen.map(({ text }) => /"timestamp":"([^"]*)Z"/.exec(text)?.[1] ?? "");
    expect(times).toEqual(times.toSorted());
    expect(seen.map(({ text }) => text).toSorted()).toEqual(lines.toSorted());
    for (const { event, text } of seen) expect(event).toEqual(parseExact(text));
    expect(report).toEqual({
      lines: lines.length,
      events: lines.length,
      unknown: 0,
      rejected: 0,
      skipped: 0,
      repeated: 0,
      late: 0,
      forgottenStreams: 0,
      splitTies: 0,
      dialect: "entelix",
      issues: new Map(),
      unknownTypes: new Map(),
      unknownValues: new Map(),
    });
  });

  it("leaves out a line that came right before, where its sequence says that it is the same", async () => {
    const line = (more: object) => JSON.stringify({ ...JSON.parse(started(1)), ...more });
    const twice = (text: string) => [text, text];
    const out = await read(
      Buffer.from(
        [
          ...twice(line({ sequence: 1 })),
          ...twice(line({ sequence: 2, timestamp: "2026-04-29T12:00:05Z" })),
          line({ sequence: 1 }),
          // An id is told by the lifecycle, and without any sequence there may be two.
          ...twice(line({ sequence: 3, event_id: "e", timestamp: "2026-04-29T12:00:06Z" })),
          ...twice(line({ timestamp: "2026-04-29T12:00:07Z" })),
        ].join("\n"),
      ),
      [entelixDialect],
    );
    expect(out.lines).toEqual([1, 3, 6, 7, 8, 9]);
    expect(out.report).toMatchObject({ lines: 9, events: 9, repeated: 3 });
  });

  it("names what is wrong with each line, keeps its bytes, and goes on", async () => {
    const bad = [
      '{"type":"started",',
      started(1, { tenant_id: "", agent: null }),
      "1",
      '{"timestamp":"2026-04-29T12:00:00Z"}',
      "\xff",
      started(2, { filler: "x".repeat(300) }),
    ];
    const bytes = Buffer.from(`${started(3)}\n\n${bad.join("\r\n")}\r\n${started(4)}`, "latin1");
    const out = await read(bytes, [entelixDialect], { maxLineBytes: 200 });
    expect(out.issues).toEqual([
      "in.ndjson:3: json: expected a property name at column 19",
      "in.ndjson:4: tenant_id: expected non-empty text",
      "in.ndjson:4: agent: expected text",
      "in.ndjson:5: line: expected a JSON object",
      'in.ndjson:6: type: expected an event type such as "started"',
      "in.ndjson:7: line: expected valid UTF-8",
      "in.ndjson:8: line: expected at most 200 bytes",
    ]);
    expect(out.rejects).toBe(`${bad.join("\r\n")}\r\n`);
    expect(out.lines).toEqual([1, 9]);
    expect(out.report).toMatchObject({ lines: 8, events: 2, rejected: 6, unknown: 0 });
    expect(Object.fromEntries(out.report.issues)).toEqual({
      json: 1,
      tenant_id: 1,
      agent: 1,
      line: 3,
      type: 1,
    });
  });

  it("counts unknown types and values, and passes the events on", async () => {
    const odd = '{"type":"brand_new","n":9007199254740993}';
    const kind = { type: "failed", error: "", envelope: { wire_code: "c", wire_class: "server" } };
    const failed = started(2, { ...kind, kind: { type: "gremlins" } });
    const out = await read(`${odd}\n${failed}\n${odd}`, [entelixDialect]);
    expect(out.unknown).toEqual([`1 brand_new ${odd}`, `3 brand_new ${odd}`]);
    expect(out.events).toMatchObject([{ type: "failed", kind: { type: "unclassified" } }]);
    expect(out.report).toMatchObject({ lines: 3, events: 1, unknown: 2, rejected: 0 });
    expect(Object.fromEntries(out.report.unknownTypes)).toEqual({ brand_new: 2 });
    expect(Object.fromEntries(out.report.unknownValues)).toEqual({ "kind.type=gremlins": 1 });
  });

  it("bounds the names it counts", async () => {
    const lines = Array.from({ length: 150 }, (_, n) => `{"type":"t${n}${"x".repeat(200)}"}`);
    const { report } = await read(lines.join("\n"), [entelixDialect]);
    expect(report.unknown).toBe(150);
    expect(report.unknownTypes.size).toBe(101);
    expect(report.unknownTypes.get("_other")).toBe(50);
    expect([...report.unknownTypes.keys()][0]).toHaveLength(100);
  });

  it("tells the dialect by the first lines, and refuses lines of another one", async () => {
    const dialects = [entelixDialect, pingDialect] as const;
    const text = ['{"type":"odd"}', '{"type":"ping","n":1}', started(1), '{"type":"ping"}'];
    const out = await read<AgentEvent | Ping>(text.join("\n"), [...dialects]);
    expect(out.events).toEqual([{ type: "ping", n: 1 }]);
    expect(out.unknown).toEqual(['1 odd {"type":"odd"}']);
    expect(out.issues).toEqual([
      "in.ndjson:3: type: expected an event of ping, as before in this source, not of entelix",
      "in.ndjson:4: n: expected a number",
    ]);
    expect(out.report.dialect).toBe("ping");
  });

  it("says so of another dialect's line too where its own dialect can't name an event in it", async () => {
    const dialects = [graphDialect, entelixDialect] as const;
    const message = '{"kind":"user_message","content":[],"timestamp":"2026-04-29T12:00:00Z"}';
    const text = [message, started(1), '{"kind":7}', '{"odd":1}'];
    const out = await read<GraphLine | AgentEvent>(text.join("\n"), [...dialects]);
    expect(out.report).toMatchObject({ dialect: "graph", rejected: 3 });
    expect(out.issues).toEqual([
      "in.ndjson:2: type: expected an event of graph, as before in this source, not of entelix",
      "in.ndjson:3: kind: expected the name of the event",
      "in.ndjson:4: kind: expected the name of the event",
    ]);
  });

  it("rejects lines that tell no dialect, and goes on looking", async () => {
    const odd = Array.from({ length: 40 }, (_, n) => `{"odd":${n}}`);
    const text = [...odd, '{"type":"ping","n":1}'].join("\n");
    const none = await read<AgentEvent | Ping>(odd.join("\n"), [entelixDialect, pingDialect]);
    expect(none.report).toMatchObject({ lines: 40, rejected: 40, dialect: undefined });
    expect(none.issues[0]).toBe("in.ndjson:1: type: expected an event of entelix or ping");
    expect(none.rejects).toBe(odd.join("\n"));
    const later = await read<AgentEvent | Ping>(text, [entelixDialect, pingDialect]);
    expect(later.report).toMatchObject({
      lines: 41,
      events: 1,
      rejected: 32,
      unknown: 8,
      dialect: "ping",
    });
  });

  it("waits for each event's promise before the next", async () => {
    const order: string[] = [];
    const text = [started(1), started(2), started(3)].join("\n");
    await read<AgentEvent>(text, [entelixDialect], {
      onEvent: async ({ event }) => {
        order.push(`in ${event.run_id}`);
        await new Promise((resolve) => setImmediate(resolve));
        order.push(`out ${event.run_id}`);
      },
    });
    expect(order).toEqual(["in r1", "out r1", "in r2", "out r2", "in r3", "out r3"]);
  });

  it("passes on what a callback throws", async () => {
    const reading = read(`${started(1)}\n`, [entelixDialect], {
      onEvent: () => {
        throw new Error("sink is gone");
      },
    });
    await expect(reading).rejects.toThrow(/^sink is gone$/);
  });

  it("delivers what it read before its source failed, and says which source", async () => {
    const seen: number[] = [];
    async function* failing() {
      yield Buffer.from(`${started(2)}\n${started(1)}\n{"type":"started"}\n`);
      throw new Error("disk on fire");
    }
    const reading = readEvents(failing(), {
      dialects: [entelixDialect],
      onEvent: ({ line }) => void seen.push(line),
    });
    await expect(reading).rejects.toThrow("input: cannot be read to its end: disk on fire");
    const error: unknown = await reading.catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(SourceReadError);
    expect(error).toMatchObject({
      report: { lines: 3, events: 2, rejected: 1, dialect: "entelix" },
    });
    expect(seen).toEqual([2, 1]);
    const missing = join(folder, "missing.ndjson");
    await expect(
      readEvents(missing, { onEvent: () => {}, dialects: [entelixDialect] }),
    ).rejects.toThrow(`${missing}: cannot be read to its end: ENOENT`);
    await expect(
      readEvents(missing, { onEvent: () => {}, dialects: [entelixDialect], maxLineBytes: 0 }),
    ).rejects.toThrow(RangeError);
  });
});
