import { emptyResource } from "@opentelemetry/resources";
import type { ReadableSpan } from "@opentelemetry/sdk-trace-node";
import { describe, expect, it } from "vitest";
import { MemorySessionLog, type SessionLog } from "../../../src/entries/audit.ts";
import { formatRfc3339 } from "../../../src/events/door.ts";
import { LogProcessor } from "../../../src/service/processor/log-processor.ts";
import type { LogProcessorOptions } from "../../../src/service/processor/log-processor-options.ts";

const BEGIN = 1_780_000_000;
const MEGABYTE = "x".repeat(1_000_000);
const THREAD = "the thread";

const run = (n: number) => `018f3c7a-0000-7000-8000-${String(n).padStart(12, "0")}`;

function line(offset: number, event: object) {
  const timestamp = formatRfc3339([BEGIN + offset, 0]);
  const text = JSON.stringify({
    timestamp,
    event_id: `e${offset}`,
    tenant_id: "acme",
    thread_id: THREAD,
    ...event,
  });
  const rest = { tenant: undefined, dialect: undefined, key: undefined, trusted: true };
  return { offset, text, arrivedMs: (BEGIN + offset) * 1000, ...rest };
}

const started = (n: number) => ({ type: "started", run_id: run(n), agent: "a" });
const complete = (n: number) => ({ type: "complete", run_id: run(n), state: {} });
const toolStart = (n: number, input: unknown) => ({
  type: "tool_start",
  run_id: run(n),
  tool_use_id: "t",
  tool: "fetch",
  input,
});

/** Stores that take what they are given once they are let go. */
class Held {
  readonly batches: ReadableSpan[][] = [];
  readonly memory: MemorySessionLog;
  readonly cursors: number[] = [];
  rejected = 0;
  #letGo = () => {};
  readonly #open: Promise<void>;

  constructor(memory = new MemorySessionLog()) {
    this.memory = memory;
    this.#open = new Promise((resolve) => {
      this.#letGo = resolve;
    });
  }

  letGo(): this {
    this.#letGo();
    return this;
  }

  processor(options: Partial<LogProcessorOptions> = {}): LogProcessor {
    return new LogProcessor({
      name: "log",
      from: 0,
      tenant: "default",
      service: { resource: emptyResource(), serviceName: "test" },
      spans: {
        store: async (spans) => {
          this.batches.push([...spans]);
          await this.#open;
          return { refused: 0 };
        },
        close: async () => {},
      },
      audit: this.#log(),
      // One row for each call, and no other.
      rows: "upstream",
      onSpans: { captureContent: false },
      window: { size: 0 },
      onRejected: async () => {
        await this.#open;
        this.rejected++;
      },
      onError: () => {},
      ...options,
    });
  }

  #log(): SessionLog {
    return {
      append: async (key, entries) => {
        await this.#open;
        return this.memory.append(key, entries);
      },
      loadSince: (key, cursor) => {
        this.cursors.push(cursor);
        return this.memory.loadSince(key, cursor);
      },
      archiveBefore: (key, watermark) => this.memory.archiveBefore(key, watermark),
    };
  }
}

/** Gives lines until the log processor wants its sender to wait. */
async function fill(processor: LogProcessor, most: number, event: (offset: number) => object) {
  for (let offset = 0; offset < most; offset++) {
    const busy = processor.take(line(offset, event(offset)));
    const waits = busy?.then(() => false) ?? false;
    if (busy !== undefined && (await Promise.race([waits, soon()])))
      return { busy, lines: offset + 1 };
  }
  throw new Error("it was never full");
}

/** Resolves with true when all that is not kept up has gone on. */
async function soon(): Promise<true> {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
  return true;
}

describe("what a log processor keeps while its stores are away", () => {
  it("is 64 MiB of rows", async () => {
    const held = new Held();
    const processor = held.processor();
    const { busy, lines } = await fill(processor, 100, (offset) =>
      offset === 0 ? started(1) : toolStart(1, MEGABYTE),
    );
    // 68 rows of a megabyte are the first that are more.
    expect(lines).toBe(69);
    expect(processor.figures.inFlight).toBe(68);
    held.letGo();
    await busy;
    await processor.take(line(lines, complete(1)));
    await processor.idle(Date.now() + 10_000);
    expect(await processor.settle()).toBe(lines + 1);
    expect(processor.figures).toMatchObject({ inFlight: 0, rowsStored: 68 });
  });

  it("counts what a row takes in memory, and not how few characters say it", async () => {
    const held = new Held();
    const objects = Array.from({ length: 100_000 }, () => ({}));
    const { lines } = await fill(held.processor(), 100, (offset) =>
      offset === 0 ? started(1) : toolStart(1, objects),
    );
    expect(lines).toBe(11);
  });

  it("is 64 MiB of spans, that go in requests of 8 MiB at most", async () => {
    const held = new Held();
    const processor = held.processor({ audit: undefined });
    const envelope = { wire_code: "x".repeat(100_000), wire_class: "server" };
    const failed = (n: number) => ({ type: "failed", run_id: run(n), error: "", envelope });
    const { busy, lines } = await fill(processor, 3_000, (offset) =>
      offset % 2 === 0 ? started(offset) : failed(offset - 1),
    );
    // 671 of a hundred thousand bytes are more; the status has a thousand of them too.
    expect(lines / 2).toBeGreaterThan(600);
    expect(lines / 2).toBeLessThan(671);
    held.letGo();
    await busy;
    await processor.idle(Date.now() + 10_000);
    expect(await processor.settle()).toBe(lines);
    expect(held.batches.flat()).toHaveLength(lines / 2);
    const sizes = held.batches.map(({ length }) => length);
    expect(Math.max(...sizes)).toBeLessThan(84);
    expect(sizes.length).toBe(Math.ceil(lines / 2 / Math.max(...sizes)));
  });

  it("is 64 MiB of rejected lines", async () => {
    const held = new Held();
    const processor = held.processor();
    const { busy, lines } = await fill(processor, 100, () => ({ type: "started", pad: MEGABYTE }));
    expect(lines).toBe(68);
    held.letGo();
    await busy;
    expect(await processor.settle()).toBe(68);
    expect(held.rejected).toBe(68);
  });

  it("is 32 MiB of lines that wait to be put in order, in which they then are", async () => {
    const processor = new Held().letGo().processor({ window: { size: 128 } });
    await processor.take(line(0, started(1)));
    let most = 0;
    for (let offset = 1; offset < 40; offset++) {
      await processor.take(line(offset, toolStart(1, MEGABYTE)));
      most = Math.max(most, processor.figures.waiting);
    }
    // The text and what it says: two megabytes a line. At five seconds they would be played anyway.
    expect(most).toBeLessThan(17);
    expect(processor.figures).toMatchObject({ late: 0, rejected: 0 });
  });
});

describe("the place of a row that is stored already", () => {
  const key = { tenant_id: "acme", thread_id: THREAD };

  /**
   * A run whose only row has `behind` rows of others behind it, ended by another life of the log processor.
   */
  async function endAfterRestart(behind: number, memory: MemorySessionLog) {
    const before = new Held(memory)
      .letGo()
      .processor({ spans: { store: never, close: async () => {} } });
    await before.take(line(0, started(1)));
    await before.take(line(1, toolStart(1, "first")));
    await before.idle(Date.now() + 10_000);
    await before.settle();
    expect(before.stored).toBe(2);
    const [row] = await memory.loadSince(key, 0);
    await memory.append(
      key,
      Array.from({ length: behind }, (_, n) => ({
        event: { kind: "cancelled", reason: "", timestamp: "2026-01-01T00:00:00Z" },
        event_id: `other ${n}`,
      })),
    );
    const held = new Held(memory).letGo();
    const processor = held.processor({ from: before.settled, stored: before.stored });
    await processor.take(line(0, started(1)));
    await processor.take(line(1, toolStart(1, "first")));
    await processor.take(line(2, complete(1)));
    await processor.idle(Date.now() + 10_000);
    await processor.settle();
    const span = held.batches.flat().find(({ name }) => name === "invoke_agent a");
    expect(row?.event_id).toBe("e1");
    expect(span?.attributes).toMatchObject({
      "entelix.audit.ordinal": row?.ordinal,
      "entelix.audit.hash": row?.hash,
    });
    return held.cursors;
  }

  it("is found among the last rows of its thread, though the log has forgotten its id", async () => {
    const memory = new MemorySessionLog({ eventIds: 1 });
    expect(await endAfterRestart(255, memory)).toEqual([0]);
    expect(await memory.loadSince(key, 0)).toHaveLength(256);
  });

  it("is nowhere where the log has refused the row for good", async () => {
    const held = new Held().letGo();
    const audit: SessionLog = {
      append: () => Promise.reject(new TypeError("thread_id: expected another")),
      loadSince: () => Promise.reject(new TypeError("thread_id: expected another")),
      archiveBefore: async () => 0,
    };
    const processor = held.processor({ audit, from: 0, stored: 2 });
    await processor.take(line(0, started(1)));
    await processor.take(line(1, toolStart(1, "first")));
    await processor.take(line(2, complete(1)));
    await processor.idle(Date.now() + 10_000);
    expect(await processor.settle()).toBe(3);
    expect(processor.figures).toMatchObject({ rowsRefused: 1, rowsStored: 0, inFlight: 0 });
    expect(held.batches.flat().map(({ name }) => name)).toContain("invoke_agent a");
  });

  it("is found though a search in another thread gets no answer", async () => {
    const memory = new MemorySessionLog();
    const found = { tenant_id: "acme", thread_id: "free" };
    const event = { kind: "cancelled", reason: "", timestamp: "2026-01-01T00:00:00Z" };
    await memory.append(found, [{ event, event_id: "e3" }]);
    const held = new Held(memory).letGo();
    const audit: SessionLog = {
      append: (to, entries) => (to.thread_id === THREAD ? never() : memory.append(to, entries)),
      loadSince: (to, cursor) => memory.loadSince(to, cursor),
      archiveBefore: async () => 0,
    };
    const processor = held.processor({ audit, from: 0, stored: 4 });
    const free = { thread_id: found.thread_id };
    await processor.take(line(0, started(1)));
    await processor.take(line(1, toolStart(1, "first")));
    await processor.take(line(2, { ...started(2), ...free }));
    await processor.take(line(3, { ...toolStart(2, "first"), ...free }));
    await processor.take(line(4, complete(1)));
    await processor.take(line(5, { ...complete(2), ...free }));
    await processor.idle(Date.now() + 10_000);
    processor.settle().catch(() => {});
    await expect
      .poll(() => held.batches.flat().map(({ attributes }) => attributes["entelix.audit.ordinal"]))
      .toContain(1);
    await processor.close(0);
  });

  it("further back is what the log answers, and the thread is not read", async () => {
    const memory = new MemorySessionLog();
    expect(await endAfterRestart(3_000, memory)).toEqual([2_745]);
    expect(await memory.loadSince(key, 0)).toHaveLength(3_001);
  });
});

function never(): Promise<never> {
  return new Promise(() => {});
}
