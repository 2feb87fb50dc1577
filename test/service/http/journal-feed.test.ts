import { describe, expect, it } from "vitest";
import {
  type FedJournal,
  type FedProcessor,
  JournalFeed,
} from "../../../src/service/http/journal-feed.ts";
import type { LogLine } from "../../../src/service/journal/log-line.ts";

/** Lines with their offset as text; more can be added. */
class Lines implements FedJournal {
  first = 0;
  next = 0;
  position = 0;
  /** Offset of the first line that was asked for. */
  from = -1;
  readonly checkpoints: (readonly [number, number])[] = [];
  failure: Error | undefined;
  #wake = () => {};

  constructor(position: number, next: number) {
    this.position = position;
    this.next = next;
  }

  add(count: number): void {
    this.next += count;
    this.#wake();
  }

  fail(error: Error): void {
    this.failure = error;
    this.#wake();
  }

  async *follow(from: number, signal: AbortSignal): AsyncGenerator<readonly LogLine[]> {
    this.from = from;
    signal.addEventListener("abort", () => this.#wake());
    for (let at = from; !signal.aborted; ) {
      if (this.failure !== undefined) throw this.failure;
      const batch = [at, at + 1, at + 2].filter((offset) => offset < this.next).map(lineAt);
      at += batch.length;
      if (batch.length > 0) yield batch;
      else {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    }
  }

  async checkpoint(position: number, stored: number): Promise<void> {
    this.checkpoints.push([position, stored]);
    this.position = position;
  }
}

function lineAt(offset: number): LogLine {
  const unbound = { tenant: undefined, dialect: undefined, key: undefined };
  return { ...unbound, offset, text: String(offset), trusted: false, arrivedMs: 0 };
}

/** A processor that stores at once what it took, unless it is held. */
class Taking implements FedProcessor {
  readonly taken: number[] = [];
  idled = 0;
  settled = 0;
  stored = 0;
  closedWithin: number | undefined;
  held: Promise<void> | undefined;

  take({ offset }: LogLine): Promise<void> | undefined {
    this.taken.push(offset);
    return this.held;
  }

  async idle(): Promise<void> {
    this.idled += 1;
  }

  async settle(): Promise<number> {
    if (this.closedWithin !== undefined) throw new Error("closed");
    this.stored = (this.taken.at(-1) ?? -1) + 1;
    this.settled = Math.max(0, this.stored - 1);
    return this.settled;
  }

  async close(graceMs: number): Promise<void> {
    await this.settle();
    this.closedWithin = graceMs;
  }
}

function playerOf(journal: Lines, processor: Taking, lookback = 2) {
  const settled: number[] = [];
  const errors: unknown[] = [];
  const feed = new JournalFeed({
    journal,
    processor,
    lookback,
    onSettled: (position) => void settled.push(position),
    onError: (error) => void errors.push(error),
  });
  return { feed, settled, errors };
}

async function until(ready: () => boolean): Promise<void> {
  while (!ready()) await new Promise((resolve) => setTimeout(resolve, 5));
}

describe("the journal's feed", () => {
  it("gives the processor all lines from some before the position, and those that come", async () => {
    const journal = new Lines(5, 8);
    const processor = new Taking();
    const { feed, settled } = playerOf(journal, processor);
    await until(() => processor.taken.length === 5);
    expect(journal.from).toBe(3);
    journal.add(4);
    await until(() => processor.taken.length === 9);
    expect(processor.taken).toEqual([3, 4, 5, 6, 7, 8, 9, 10, 11]);
    await until(() => settled.length > 0 && processor.idled > 0);
    expect(journal.checkpoints.at(-1)).toEqual([11, 12]);
    expect(settled.at(-1)).toBe(11);
    await feed.stop(1_000);
    await feed.ended;
  });

  it("begins no earlier than the journal", async () => {
    const journal = new Lines(5, 6);
    journal.first = 4;
    const processor = new Taking();
    const { feed } = playerOf(journal, processor, 100);
    await feed.stop(1_000);
    expect(processor.taken).toEqual([4, 5]);
  });

  it("plays and settles what is there when it is stopped", async () => {
    const journal = new Lines(0, 100);
    const processor = new Taking();
    const { feed, settled } = playerOf(journal, processor);
    await feed.stop(10_000);
    expect(processor.taken.length).toBe(100);
    expect(processor.closedWithin).toBeGreaterThan(0);
    expect(journal.checkpoints.at(-1)).toEqual([99, 100]);
    expect(settled.at(-1)).toBe(99);
    await feed.ended;
  });

  it("leaves what takes too long for the next start", async () => {
    const journal = new Lines(0, 100);
    const processor = new Taking();
    let go = () => {};
    processor.held = new Promise((resolve) => {
      go = resolve;
    });
    const close = processor.close.bind(processor);
    processor.close = async (graceMs) => {
      await close(graceMs);
      go();
    };
    const { feed } = playerOf(journal, processor);
    await feed.stop(100);
    expect(processor.taken).toEqual([0]);
    expect(journal.checkpoints.at(-1)).toEqual([0, 1]);
  });

  it("fails when the journal can't be read", async () => {
    const journal = new Lines(0, 1);
    const processor = new Taking();
    const { feed } = playerOf(journal, processor);
    await until(() => processor.taken.length === 1);
    journal.fail(new Error("damaged"));
    await expect(feed.ended).rejects.toThrow("damaged");
    await feed.stop(1_000);
    expect(journal.checkpoints.at(-1)).toEqual([0, 1]);
  });

  it("goes on when a checkpoint could not be written", async () => {
    const journal = new Lines(0, 1);
    const processor = new Taking();
    let failures = 0;
    const write = journal.checkpoint.bind(journal);
    journal.checkpoint = async (position, stored) => {
      failures += 1;
      if (failures === 1) throw new Error("ENOSPC");
      await write(position, stored);
    };
    const { feed, errors, settled } = playerOf(journal, processor);
    await until(() => settled.length > 0);
    expect(errors).toEqual([new Error("ENOSPC")]);
    await feed.stop(1_000);
  });
});
