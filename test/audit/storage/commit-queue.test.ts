import { setImmediate as turn } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { type CommitBatch, CommitQueue } from "../../../src/audit/storage/commit-queue.ts";

/** Texts, at most three in one write; a write that has `bad` in it fails. */
class Texts implements CommitBatch<string> {
  readonly #log: string[];
  readonly #settled: (text: string, failure: Error | undefined) => void;
  readonly #texts: string[] = [];

  constructor(log: string[], settled: (text: string, failure: Error | undefined) => void) {
    this.#log = log;
    this.#settled = settled;
  }

  get bytes(): number {
    return this.#texts.join("").length;
  }

  hasRoomFor(): boolean {
    return this.#texts.length < 3;
  }

  add(text: string): void {
    this.#texts.push(text);
  }

  async write(): Promise<void> {
    await turn();
    this.#log.push(this.#texts.join(" "));
    if (this.#texts.includes("bad")) throw new Error("no room");
  }

  settle(failure: Error | undefined): void {
    for (const text of this.#texts) this.#settled(text, failure);
  }
}

function outcome(written: Promise<void>): Promise<string> {
  return written.then(
    () => "stored",
    (error: unknown) => String(error),
  );
}

describe("CommitQueue", () => {
  it("writes together what waits together, as far as a batch has room", async () => {
    const log: string[] = [];
    const settled: string[] = [];
    const newBatch = () => new Texts(log, (text) => settled.push(text));
    const queue = new CommitQueue({ newBatch, failBehind: false });
    expect(queue.idle).toBe(true);
    const commits = ["a", "b", "c", "d", "e"].map((text) => queue.push(text));
    expect(queue.bytes).toBe(5);
    expect(queue.idle).toBe(false);
    expect(commits[0]).toBe(commits[2]);
    await commits[2]?.written;
    expect(settled).toEqual(["a", "b", "c"]);
    expect(queue.bytes).toBe(2);
    await queue.drained();
    expect(log).toEqual(["a b c", "d e"]);
    expect(queue.bytes).toBe(0);
    expect(queue.idle).toBe(true);
  });

  it("goes on behind a failed write where calls do not build on each other", async () => {
    const log: string[] = [];
    const newBatch = () => new Texts(log, () => {});
    const queue = new CommitQueue({ newBatch, failBehind: false });
    const outcomes = ["a", "bad", "c", "d"].map((text) => outcome(queue.push(text).written));
    expect(await Promise.all(outcomes)).toEqual([
      "Error: no room",
      "Error: no room",
      "Error: no room",
      "stored",
    ]);
    expect(queue.bytes).toBe(0);
  });

  it("fails what waits behind a failed write, and stores what is tried again at once", async () => {
    const log: string[] = [];
    const steps: string[] = [];
    const again: Promise<string>[] = [];
    const queue: CommitQueue<string> = new CommitQueue({
      newBatch: () =>
        new Texts(log, (text, failure) => {
          steps.push(`${text}: ${failure?.message ?? "stored"}`);
          if (failure !== undefined && text !== "bad") {
            again.push(outcome(queue.push(`${text}2`).written));
          }
        }),
      failBehind: true,
      onFailure: () => steps.push("failure"),
    });
    const outcomes = ["a", "bad", "c", "d"].map((text) => outcome(queue.push(text).written));
    expect(await Promise.all(outcomes)).toEqual(Array(4).fill("Error: no room"));
    await queue.drained();
    expect(await Promise.all(again)).toEqual(["stored", "stored", "stored"]);
    expect(steps.slice(0, 5)).toEqual([
      "failure",
      "a: no room",
      "bad: no room",
      "c: no room",
      "d: no room",
    ]);
    expect(log).toEqual(["a bad c", "a2 c2 d2"]);
    expect(queue.bytes).toBe(0);
  });
});
