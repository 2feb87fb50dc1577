import { emptyResource } from "@opentelemetry/resources";
import type { ReadableSpan } from "@opentelemetry/sdk-trace-node";
import { describe, expect, it, vi } from "vitest";
import type { SpanStore } from "../../../src/bridge/door.ts";
import { MemorySessionLog } from "../../../src/entries/audit.ts";
import { formatRfc3339 } from "../../../src/events/door.ts";
import { RUNTIMES } from "../../../src/replay/door.ts";
import { decodeLogLine } from "../../../src/service/processor/decode-log-line.ts";
import { LogProcessor } from "../../../src/service/processor/log-processor.ts";
import type {
  LogProcessorOptions,
  ProcessorLine,
} from "../../../src/service/processor/log-processor-options.ts";
import { waitFor } from "../../support/wait-for.ts";

const BEGIN = 1_780_000_000;

const run = (n: number) => `018f3c7a-0000-7000-8000-${String(n).padStart(12, "0")}`;

function line(offset: number, second: number, event: object, more: Partial<ProcessorLine> = {}) {
  const timestamp = formatRfc3339([BEGIN + second, 0]);
  const text = JSON.stringify({ timestamp, event_id: `e${offset}`, tenant_id: "acme", ...event });
  const arrivedMs = (BEGIN + second) * 1000;
  const rest = { tenant: undefined, dialect: undefined, key: undefined, trusted: true };
  return { offset, text, arrivedMs, ...rest, ...more };
}

const started = (n: number) => ({
  type: "started",
  run_id: run(n),
  agent: `agent ${n}`,
  parent_run_id: null,
});
const complete = (n: number) => ({ type: "complete", run_id: run(n), state: {}, usage: null });
const toolStart = (n: number, id: string) => ({
  type: "tool_start",
  run_id: run(n),
  tool_use_id: id,
  tool: "fetch",
  tool_version: null,
  input: {},
});

/** A store that takes what it is given when it is told to. */
class HeldStore implements SpanStore {
  readonly names: string[] = [];
  calls = 0;
  open = true;
  #waiting: (() => void)[] = [];

  async store(spans: readonly ReadableSpan[]) {
    this.calls++;
    if (!this.open) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.names.push(...spans.map(({ name }) => name));
    return { refused: 0 };
  }

  letGo(): void {
    this.open = true;
    for (const resolve of this.#waiting) resolve();
    this.#waiting = [];
  }

  async close() {}
}

function processor(options: Partial<LogProcessorOptions> = {}) {
  const errors: string[] = [];
  const rejected: unknown[] = [];
  const made = new LogProcessor({
    name: "log",
    from: 0,
    tenant: "default",
    service: { resource: emptyResource(), serviceName: "test" },
    spans: new HeldStore(),
    audit: undefined,
    onSpans: { captureContent: false },
    window: { size: 0 },
    onRejected: ({ offset }, issues) => void rejected.push([offset, issues]),
    onError: (error, where) => void errors.push(`${where}: ${String(error)}`),
    delays: { firstMs: 1, mostMs: 2 },
    ...options,
  });
  return { errors, processor: made, rejected };
}

/** The same line, decoded before it had an offset, as the lines of requests are. Its text is not read again. */
function decodedBefore(given: ProcessorLine): ProcessorLine {
  const { offset: _, ...line } = given;
  const dialects = RUNTIMES.map(({ dialect }) => dialect);
  return { ...given, decoded: decodeLogLine(line, dialects), text: "not read" };
}

describe("a line that was decoded before", () => {
  it("is played at its offset, without reading its text", async () => {
    const spans = new HeldStore();
    const { processor: it, rejected } = processor({ spans, from: 10 });
    const unknown = { type: "brand_new", run_id: run(2) };
    await it.take(decodedBefore(line(12, 0, started(1))));
    await it.take(decodedBefore(line(13, 1, started(2))));
    await it.take(decodedBefore(line(17, 2, complete(1))));
    await it.take(decodedBefore(line(18, 3, unknown, { dialect: "entelix" })));
    await it.idle(Date.now() + LATER);
    expect(await it.settle()).toBe(13);
    expect([spans.names, rejected]).toEqual([["invoke_agent agent 1"], []]);
    expect(it.figures).toMatchObject({ events: 3, unknown: 1 });
    const found = it.openRuns((BEGIN + 3) * 1000).map(({ idleMs }) => idleMs);
    expect(found).toEqual([0]);
  });
});

/** Behind the longest wait of the reorder buffer, and the time that delivery may take. */
const LATER = 10_000;

describe("the commit position", () => {
  it("is the first line of the runs that are open, else the end", async () => {
    const spans = new HeldStore();
    const { processor: it } = processor({ spans, from: 10 });
    expect(it.position).toBe(10);
    await it.take(line(12, 0, started(1)));
    await it.take(line(13, 1, started(2)));
    await it.take(line(17, 2, complete(1)));
    await it.idle(Date.now() + LATER);
    expect(it.position).toBe(13);
    expect(await it.settle()).toBe(13);
    expect(it.stored).toBe(18);
    expect(spans.names).toEqual(["invoke_agent agent 1"]);
    await it.take(line(18, 3, complete(2)));
    await it.idle(Date.now() + LATER);
    expect(await it.settle()).toBe(19);
    expect(it.settled).toBe(19);
  });

  it("does not pass what waits to be put in order", async () => {
    const { processor: it } = processor({ window: { size: 4 } });
    await it.take(line(0, 25, started(1)));
    await it.take(line(1, 1, started(2)));
    await it.take(line(2, 26, complete(1)));
    await it.take(line(3, 2, complete(2)));
    expect(await it.settle()).toBe(0);
    await it.take(line(4, 7, started(3)));
    await it.take(line(5, 8, complete(3)));
    await it.take(line(6, 9, started(4)));
    await it.take(line(7, 10, complete(4)));
    // Run 2 was released; run 1 begins with the lowest line that waits.
    expect(it.figures).toMatchObject({ events: 2, waiting: 6, openRuns: 0 });
    expect(await it.settle()).toBe(0);
    await it.idle(Date.now() + LATER);
    expect(await it.settle()).toBe(8);
  });

  it("does not pass a span that is not stored, and lines are taken meanwhile", async () => {
    const spans = new HeldStore();
    spans.open = false;
    const { processor: it } = processor({ spans });
    await it.take(line(0, 0, started(1)));
    await it.take(line(1, 1, complete(1)));
    await it.idle(Date.now() + LATER);
    let settled: number | undefined;
    const settling = it.settle().then((position) => {
      settled = position;
    });
    await it.take(line(2, 2, started(2)));
    await it.take(line(3, 3, complete(2)));
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(settled).toBeUndefined();
    expect(it.settled).toBe(0);
    spans.letGo();
    await settling;
    // As of when it was asked.
    expect(settled).toBe(2);
    expect(await it.settle()).toBe(4);
  });

  it("does not pass a rejected line that nobody has kept", async () => {
    const asked: number[] = [];
    const { errors, processor: it } = processor({
      onRejected: async ({ offset }) => {
        asked.push(offset);
        if (asked.length < 3) throw new Error("away");
      },
    });
    await it.take(line(0, 0, { type: "started" }));
    expect(await it.settle()).toBe(1);
    expect(asked).toEqual([0, 0, 0]);
    expect(errors).toEqual(["log: rejected: Error: away"]);
    expect(it.figures.rejected).toBe(1);
  });

  it("does not pass a record of several lines before its last", async () => {
    const { processor: it } = processor();
    await it.take(line(7, 0, started(1), { more: true }));
    await it.take(line(7, 0, { ...complete(1), event_id: "e7b" }, { more: true }));
    await it.idle(Date.now() + LATER);
    expect(await it.settle()).toBe(7);
    await it.take(line(7, 0, { ...started(2), event_id: "e7c" }));
    await it.take(line(8, 0, complete(2)));
    await it.idle(Date.now() + LATER);
    expect(await it.settle()).toBe(9);
  });

  it("of a run that goes on does not pass its first line", async () => {
    const { processor: it } = processor({ limits: { maxAgeMs: 60_000 } });
    await it.take(line(0, 0, started(9)));
    await it.take(line(1, 0, started(1)));
    await it.take(
      line(2, 1, { type: "interrupted", run_id: run(1), kind: { type: "custom" }, payload: null }),
    );
    await it.take(line(3, 2, started(2)));
    await it.take(line(4, 3, started(1)));
    await it.take(line(5, 4, complete(9)));
    await it.idle(Date.now() + LATER);
    expect(await it.settle()).toBe(1);
    expect(it.figures).toMatchObject({ rejected: 0, duplicates: 0, openRuns: 2 });
  });
});

describe("a log processor", () => {
  it("stores nothing of lines before `from`, and all of those behind it", async () => {
    const spans = new HeldStore();
    const audit = new MemorySessionLog();
    const { processor: it, rejected } = processor({ spans, audit, from: 5 });
    await it.take(line(0, 0, started(1)));
    await it.take(line(1, 1, toolStart(1, "a")));
    await it.take(line(2, 2, { type: "started" }));
    await it.take(line(4, 3, { ...complete(7), run_id: run(7) }));
    // Its first line is before: it was over, and stored, before the log processor was made.
    await it.take(line(5, 4, toolStart(1, "b")));
    await it.take(line(6, 5, complete(1)));
    await it.take(line(7, 6, started(2)));
    await it.take(line(8, 7, toolStart(2, "c")));
    await it.take(line(9, 8, complete(2)));
    await it.take(line(10, 9, { type: "started" }));
    await it.idle(Date.now() + LATER);
    expect(await it.settle()).toBe(11);
    expect(spans.names).toEqual(["execute_tool fetch", "invoke_agent agent 2"]);
    expect(await audit.loadSince({ tenant_id: "acme", thread_id: run(1) }, 0)).toEqual([]);
    const rows = await audit.loadSince({ tenant_id: "acme", thread_id: run(2) }, 0);
    expect(rows.map(({ event_id }) => event_id)).toEqual(["e7/start", "e8", "e9/end"]);
    expect(rejected).toHaveLength(1);
    expect(it.figures).toMatchObject({ lines: 10, alreadyExported: 4, rejected: 2, rowsStored: 3 });
  });

  it("makes its sender wait while its stores take nothing, and no longer", async () => {
    const spans = new HeldStore();
    spans.open = false;
    const { processor: it } = processor({ spans });
    let offset = 0;
    let waiting: Promise<void> | undefined;
    while (waiting === undefined && offset < 20_000) {
      const n = offset >> 1;
      const busy = it.take(line(offset, offset, offset % 2 === 0 ? started(n) : complete(n)));
      if (it.figures.inFlight === 4096) waiting = busy;
      else await busy;
      offset++;
    }
    // Four requests of 512 on their way, and as many spans that wait.
    expect(it.figures.inFlight).toBe(4096);
    expect(spans.calls).toBe(4);
    let goesOn = false;
    const goingOn = waiting?.then(() => {
      goesOn = true;
    });
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(goesOn).toBe(false);
    spans.letGo();
    await goingOn;
    expect(goesOn).toBe(true);
    expect(await it.settle()).toBe(offset);
    expect(spans.names).toHaveLength(offset >> 1);
  });

  it("stores the rows of a log that is away for a while, and then the span that waits for them", async () => {
    const spans = new HeldStore();
    const memory = new MemorySessionLog();
    let away = 4;
    const { errors, processor: it } = processor({
      spans,
      audit: {
        append: async (key, entries) => {
          if (away-- > 0) throw new Error("disk full");
          return memory.append(key, entries);
        },
        loadSince: (key, cursor) => memory.loadSince(key, cursor),
        archiveBefore: (key, watermark) => memory.archiveBefore(key, watermark),
      },
    });
    await it.take(line(0, 0, started(1)));
    await it.take(line(1, 1, toolStart(1, "a")));
    await it.take(line(2, 2, complete(1)));
    await it.idle(Date.now() + LATER);
    expect(await it.settle()).toBe(3);
    expect(errors).toEqual(["log: audit: Error: disk full"]);
    expect(spans.names).toEqual(["execute_tool fetch", "invoke_agent agent 1"]);
    expect(it.figures).toMatchObject({ rowsStored: 3, rowsRefused: 0, inFlight: 0 });
  });

  it.each([
    ["the row", new TypeError("event_id: expected another"), /TypeError: event_id/],
    ["its data", Object.assign(new Error("too long"), { code: "54000" }), /Error: too long/],
    ["a constraint", Object.assign(new Error("violated"), { code: "23514" }), /Error: violated/],
  ])(
    "passes over a row that the log refuses for good because of %s, and says so",
    async (_, error, said) => {
      const spans = new HeldStore();
      const { errors, processor: it } = processor({
        spans,
        audit: {
          append: () => Promise.reject(error),
          loadSince: async () => [],
          archiveBefore: async () => 0,
        },
      });
      await it.take(line(0, 0, started(1)));
      await it.take(line(1, 1, toolStart(1, "a")));
      await it.take(line(2, 2, complete(1)));
      await it.idle(Date.now() + LATER);
      expect(await it.settle()).toBe(3);
      expect(errors).toHaveLength(3);
      expect(errors[0]).toMatch(/^log: audit append: /);
      expect(errors[0]).toMatch(said);
      expect(it.figures).toMatchObject({ rowsStored: 0, rowsRefused: 3 });
    },
  );

  it("knows the dialect of a line by the one before with its key", async () => {
    const { processor: it, rejected } = processor();
    const plain = { type: "of_tomorrow" };
    await it.take(line(0, 0, plain, { key: "a" }));
    await it.take(line(1, 0, started(1), { key: "a" }));
    await it.take(line(2, 0, plain, { key: "a" }));
    await it.take(line(3, 0, plain, { key: "b" }));
    await it.take(line(4, 0, plain));
    expect(rejected.map((entry) => Array.isArray(entry) && entry[0])).toEqual([0, 3, 4]);
    expect(it.figures.unknown).toBe(1);
    // Another tenant's sender may have the same key.
    await it.take(line(5, 0, plain, { key: "a", tenant: "acme" }));
    expect(rejected).toHaveLength(4);
    expect(it.figures.unknown).toBe(1);
  });

  it("is stalled while one of its stores takes nothing, however well the others work", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    try {
      const spans = new HeldStore();
      const audit = new MemorySessionLog();
      const { processor: it } = processor({ spans, audit, rows: "upstream" });
      const row = async (n: number) => {
        await it.take(line(n, n, toolStart(2, `call-${n}`)));
        vi.setSystemTime(Date.now() + 1_000);
        await it.idle(Date.now());
        await waitFor(() => expect(it.figures.rowsStored).toBe(n - 1));
      };
      await it.take(line(0, 0, started(1)));
      await it.take(line(1, 1, complete(1)));
      await it.take(line(1, 1, started(2)));
      spans.open = false;
      const settling = it.settle();
      for (let n = 2; n <= 8; n++) await row(n);
      expect(it.figures).toMatchObject({ stalled: false, spansStored: 0, inFlight: 1 });
      for (let n = 9; n <= 14; n++) await row(n);
      expect(it.figures).toMatchObject({ stalled: true, spansStored: 0, inFlight: 1 });
      spans.letGo();
      await settling;
      expect(it.figures).toMatchObject({ stalled: false, spansStored: 1 });
    } finally {
      vi.useRealTimers();
    }
  });

  it("gives up runs that are silent for long, though no line comes", async () => {
    const spans = new HeldStore();
    const { processor: it } = processor({ spans, limits: { maxAgeMs: 60_000 } });
    await it.take(line(0, 0, started(1)));
    await it.idle(Date.now() + 30_000);
    expect(it.figures.openRuns).toBe(1);
    await it.idle(Date.now() + 70_000);
    expect(it.figures.openRuns).toBe(0);
    expect(await it.settle()).toBe(1);
    expect(spans.names).toEqual(["invoke_agent agent 1"]);
  });

  it("does not give up a run whose next line waits to be put in order", async () => {
    const spans = new HeldStore();
    const { processor: it } = processor({
      spans,
      window: { size: 2 },
      limits: { maxAgeMs: 4_000 },
    });
    await it.take(line(0, 0, started(1)));
    await it.take(line(1, 1, toolStart(1, "a")));
    await it.take(line(2, 2, complete(1)));
    expect(it.figures).toMatchObject({ events: 1, waiting: 2 });
    // As old as a run may be, but not yet as long as a line may wait.
    await it.idle(Date.now() + 4_500);
    expect(it.figures).toMatchObject({ events: 1, waiting: 2, openRuns: 1 });
    await it.idle(Date.now() + LATER);
    expect(it.figures).toMatchObject({ events: 3, waiting: 0, openRuns: 0, late: 0 });
    expect(spans.names).toEqual([]);
    expect(await it.settle()).toBe(3);
    expect(spans.names).toEqual(["execute_tool fetch", "invoke_agent agent 1"]);
  });

  it("does not let a clock that is far ahead age the runs of others, or keep them out of order", async () => {
    const { processor: it } = processor({ window: { size: 2 }, limits: { maxAgeMs: 60_000 } });
    await it.take(line(0, 0, started(1)));
    const ahead = { arrivedMs: BEGIN * 1000 };
    await it.take(line(1, 30 * 86_400, { ...started(2), tenant_id: "globex" }, ahead));
    await it.take(line(2, 2, toolStart(1, "b")));
    await it.take(line(3, 1, toolStart(1, "a")));
    await it.take(line(4, 3, complete(1)));
    await it.idle(Date.now() + LATER);
    expect(it.figures).toMatchObject({ late: 0, openRuns: 1, events: 5 });
  });

  it("hands over: what is on its way has its time, open runs stay open, nothing is taken any more", async () => {
    const spans = new HeldStore();
    spans.open = false;
    const { processor: it } = processor({ spans });
    await it.take(line(0, 0, started(1)));
    await it.take(line(1, 1, complete(1)));
    await it.take(line(2, 2, started(2)));
    await it.idle(Date.now() + LATER);
    const closing = it.close(5_000);
    expect(it.take(line(3, 3, complete(2)))).toBeUndefined();
    spans.letGo();
    await closing;
    expect(it.settled).toBe(2);
    expect(spans.names).toEqual(["invoke_agent agent 1"]);
    await expect(it.settle()).rejects.toThrow("log: the log processor is closed");
  });

  it("leaves what is not stored when the time is over, and wakes who waits", async () => {
    const spans = new HeldStore();
    spans.open = false;
    const { errors, processor: it } = processor({ spans });
    await it.take(line(0, 0, started(1)));
    await it.take(line(1, 1, complete(1)));
    await it.idle(Date.now() + LATER);
    const settling = it.settle();
    await Promise.all([
      expect(settling).rejects.toThrow("log: the log processor is closed"),
      it.close(5),
    ]);
    expect(it.settled).toBe(0);
    expect(errors).toEqual([]);
  });

  it("says which option does not fit", () => {
    expect(() => processor({ from: -1 })).toThrow("from: expected a whole number from 0, got -1");
    expect(() => processor({ window: { size: 0.5 } })).toThrow(RangeError);
  });
});
