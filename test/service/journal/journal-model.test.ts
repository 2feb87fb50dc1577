import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { EventJournal } from "../../../src/service/journal/event-journal.ts";
import { failingDisk } from "../../audit/storage/support/failing-disk.ts";
import { MemoryDisk, PowerLoss, seeded } from "../../audit/storage/support/memory-disk.ts";
import { IS_DEEP, runs } from "../../support/runs.ts";
import { all, line } from "./support/lines.ts";

/** Something that happens to a journal. */
type Step =
  | { readonly do: "append"; readonly calls: readonly (readonly number[])[] }
  | { readonly do: "checkpoint"; readonly share: number }
  | { readonly do: "reopen" }
  /** The power goes at the n-th access to the disk from here. */
  | { readonly do: "power"; readonly after: number }
  | { readonly do: "full"; readonly room: number }
  | { readonly do: "bad sync" };

const call = fc.array(fc.nat({ max: 300 }), { minLength: 1, maxLength: 5 });
const append: fc.Arbitrary<Step> = fc.record({
  do: fc.constant("append"),
  calls: fc.array(call, { minLength: 1, maxLength: 4 }),
});

function steps(withPower: boolean): fc.Arbitrary<Step[]> {
  const others: fc.WeightedArbitrary<Step>[] = [
    {
      weight: 3,
      arbitrary: fc.record({
        do: fc.constant("checkpoint"),
        share: fc.double({ min: 0, max: 1, noNaN: true }),
      }),
    },
    { weight: 1, arbitrary: fc.constant({ do: "reopen" }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant("full"), room: fc.nat({ max: 2000 }) }) },
    { weight: 1, arbitrary: fc.constant({ do: "bad sync" }) },
  ];
  const power: fc.WeightedArbitrary<Step> = {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant("power"), after: fc.integer({ min: 1, max: 12 }) }),
  };
  return fc.array(
    fc.oneof({ weight: 6, arbitrary: append }, ...others, ...(withPower ? [power] : [])),
    { minLength: 5, maxLength: 40 },
  );
}

/** A journal on a disk that fails in every way, beside what it must hold. */
class Trial {
  readonly #disk: MemoryDisk;
  readonly #random: () => number;
  readonly #durability: "batch" | "each";
  /** Text of each line whose append has resolved, by its offset. */
  readonly #stored = new Map<number, string>();
  /** Texts that were refused while the journal went on: never to be seen before a power loss. */
  readonly #refused = new Set<string>();
  /** Offsets of lines that opening has named as missing. */
  readonly #holes = new Set<number>();
  #faults = failingDisk(new MemoryDisk(() => 0).layer()).faults;
  #journal: EventJournal | undefined;
  #texts = 0;
  #position = 0;
  #asked = 0;
  losses = 0;
  refusals = 0;
  torn = 0;

  constructor(seed: number, durability: "batch" | "each") {
    this.#random = seeded(seed);
    this.#disk = new MemoryDisk(this.#random, { holes: true });
    this.#durability = durability;
  }

  async run(steps: readonly Step[]): Promise<void> {
    await this.#open();
    for (const step of steps) {
      try {
        await this.#step(step);
      } catch (error) {
        if (!(error instanceof PowerLoss)) throw error;
        await this.#powerIsBack();
      }
    }
    await this.#powerIsBack();
  }

  async #step(step: Step): Promise<void> {
    const journal = this.#journal;
    if (journal === undefined) throw new Error("no journal is open");
    switch (step.do) {
      case "append":
        await this.#append(journal, step.calls);
        await this.#check(journal);
        return;
      case "checkpoint": {
        const position = Math.floor(step.share * journal.next);
        this.#asked = Math.max(this.#asked, position);
        await this.#mayFail(journal.checkpoint(position));
        this.#position = Math.max(this.#position, journal.position);
        await this.#check(journal);
        return;
      }
      case "reopen":
        this.#faults.room = Number.POSITIVE_INFINITY;
        this.#faults.failingSyncs = 0;
        await journal.close();
        await this.#open();
        return;
      case "power":
        this.#disk.losePowerAfter(step.after);
        return;
      case "full":
        this.#faults.room =
          this.#faults.room === Number.POSITIVE_INFINITY ? step.room : Number.POSITIVE_INFINITY;
        return;
      case "bad sync":
        this.#faults.failingSyncs = 1;
        return;
      default:
        throw new TypeError(`no such step: ${String(step satisfies never)}`);
    }
  }

  async #append(journal: EventJournal, calls: readonly (readonly number[])[]): Promise<void> {
    const given = calls.map((sizes) => sizes.map((size) => this.#text(size)));
    const settled = await Promise.allSettled(
      given.map((texts) => journal.append(texts.map((text) => line(text)))),
    );
    let loss: unknown;
    for (const [index, each] of settled.entries()) {
      const texts = given[index] ?? [];
      if (each.status === "fulfilled") {
        expect(each.value.last - each.value.first).toBe(texts.length - 1);
        for (const [n, text] of texts.entries()) this.#stored.set(each.value.first + n, text);
      } else if (each.reason instanceof PowerLoss) {
        loss = each.reason;
      } else {
        expect(each.reason.code).toMatch(/^(ENOSPC|EIO)$/);
        for (const text of texts) this.#refused.add(text);
        this.refusals += 1;
      }
    }
    if (loss !== undefined) throw loss;
  }

  #text(size: number): string {
    this.#texts += 1;
    return `${this.#texts} ${"x".repeat(size)}`;
  }

  async #mayFail(work: Promise<void>): Promise<void> {
    try {
      await work;
    } catch (error) {
      if (error instanceof PowerLoss || !(error instanceof Error)) throw error;
      expect(error).toMatchObject({ code: expect.stringMatching(/^(ENOSPC|EIO)$/) });
    }
  }

  async #powerIsBack(): Promise<void> {
    // What was refused may have reached the disk all the same; it is there once at most.
    this.#refused.clear();
    for (;;) {
      this.losses += 1;
      this.#disk.restart();
      await this.#journal?.close();
      // It may go again while the journal is mended.
      if (this.#random() < 0.5) this.#disk.losePowerAfter(Math.ceil(this.#random() * 40));
      try {
        return await this.#open();
      } catch (error) {
        if (!(error instanceof PowerLoss)) throw error;
      }
    }
  }

  async #open(): Promise<void> {
    const { faults, layer } = failingDisk(this.#disk.layer());
    this.#faults = faults;
    const journal = await EventJournal.open("/log", {
      fileLayer: layer,
      segmentBytes: 1024,
      keep: 10,
      durability: this.#durability,
      onTorn: (torn) => {
        this.torn += torn.length;
        for (const { missing = 0, offset } of torn) {
          for (let n = 0; n < missing; n += 1) this.#holes.add(offset + n);
        }
      },
    });
    this.#journal = journal;
    for (const offset of this.#holes) if (offset >= journal.next) this.#holes.delete(offset);
    expect(journal.position).toBeGreaterThanOrEqual(this.#position);
    expect(journal.position).toBeLessThanOrEqual(this.#asked);
    this.#position = journal.position;
    await this.#check(journal);
  }

  async #check(journal: EventJournal): Promise<void> {
    expect(journal.first).toBeLessThanOrEqual(Math.max(0, journal.position - 10));
    const read = await all(journal.read(0));
    const { first, next } = journal;
    const offsets = Array.from({ length: next - first }, (_, n) => first + n);
    expect(read.map(({ offset }) => offset)).toEqual(
      offsets.filter((offset) => !this.#holes.has(offset)),
    );
    expect(new Set(read.map(({ text }) => text)).size).toBe(read.length);
    const seen = new Map(read.map(({ offset, text }) => [offset, text]));
    for (const [offset, text] of this.#stored) {
      if (offset < journal.first) this.#stored.delete(offset);
      else expect(seen.get(offset)).toBe(text);
    }
    for (const text of seen.values()) expect(this.#refused.has(text)).toBe(false);
    const from = journal.first + Math.floor((journal.next - journal.first) / 2);
    expect(await all(journal.read(from))).toEqual(read.filter(({ offset }) => offset >= from));
  }
}

describe.each(["batch", "each"] as const)("a journal of durability %s", (durability) => {
  it("holds what the model holds, through full disks, failing syncs and reopenings", async () => {
    let refusals = 0;
    await fc.assert(
      fc.asyncProperty(steps(false), fc.nat(), async (all, seed) => {
        const trial = new Trial(seed, durability);
        await trial.run(all);
        refusals += trial.refusals;
      }),
      { numRuns: runs(60) },
    );
    // How often something comes is sure only over all cases: a short run may draw none.
    if (IS_DEEP) expect(refusals).toBeGreaterThan(10);
  });

  it("loses and doubles nothing that was resolved when the power goes at any moment", async () => {
    let losses = 0;
    let torn = 0;
    await fc.assert(
      fc.asyncProperty(steps(true), fc.nat(), async (all, seed) => {
        const trial = new Trial(seed, durability);
        await trial.run(all);
        losses += trial.losses;
        torn += trial.torn;
      }),
      { numRuns: runs(120) },
    );
    if (!IS_DEEP) return;
    expect(losses).toBeGreaterThan(120);
    expect(torn).toBeGreaterThan(5);
  });
});
