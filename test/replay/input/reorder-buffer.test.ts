import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Instant } from "../../../src/entries/events.ts";
import { EVENT_RANK, type EventRank } from "../../../src/replay/dialects/dialect.ts";
import { mergeTies } from "../../../src/replay/input/merge-ties.ts";
import type { OrderItem } from "../../../src/replay/input/order-item.ts";
import { ReorderBuffer } from "../../../src/replay/input/reorder-buffer.ts";

interface Item extends OrderItem {
  readonly text: string;
}

const { runOpens, callOpens, callCloses, runCloses, note } = EVENT_RANK;

function item(at: number, rank: EventRank, stream: string, more: Partial<ItemFields> = {}): Item {
  const { sequence, eventId, parent } = more;
  const instant: Instant = [at, 0];
  return {
    at: instant,
    rank,
    sequence,
    eventId,
    text: more.text ?? [at, stream, sequence ?? `r${rank}`, eventId ?? ""].join(" "),
    streamKey: () => (parent === undefined ? { stream } : { stream, parent }),
    streamName: () => stream,
  };
}

interface ItemFields {
  sequence: number | bigint;
  eventId: string;
  parent: string;
  text: string;
}

const texts = (items: readonly Item[]) => items.map(({ text }) => text);
const noParents = () => undefined;

/** Everything that comes out of a buffer, for one order of arrival. */
function through(items: readonly Item[], buffer = new ReorderBuffer<Item>()): string[] {
  const released = items.flatMap((one) => texts(buffer.push(one)));
  return [...released, ...texts(buffer.flush())];
}

function shuffled<T>(items: readonly T[], seed: number): T[] {
  const copy = [...items];
  let state = seed >>> 0;
  for (let last = copy.length - 1; last > 0; last -= 1) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    const other = state % (last + 1);
    const a = copy[last];
    const b = copy[other];
    if (a !== undefined && b !== undefined) {
      copy[last] = b;
      copy[other] = a;
    }
  }
  return copy;
}

describe("mergeTies", () => {
  it("keeps the sequence of a stream against its ranks, and big sequences apart", () => {
    const stream = [
      item(1, callCloses, "a", { sequence: 3 }),
      item(1, callOpens, "a", { sequence: 4n }),
      item(1, runCloses, "a", { sequence: 2n ** 60n }),
      item(1, runOpens, "a", { sequence: 2n ** 60n + 1n }),
    ];
    expect(mergeTies(shuffled(stream, 7), noParents)).toEqual(stream);
  });

  it("leaves streams as their lines stand in the source, where that is their order", () => {
    const lines = [
      { ...item(1, note, "b", { text: "z" }), position: 1 },
      { ...item(1, runOpens, "a", { text: "y" }), position: 2 },
      { ...item(1, callCloses, "b", { text: "x" }), position: 3 },
      { ...item(1, runOpens, "c", { text: "w" }), position: 4 },
    ].map((line) => ({ ...line, sequence: line.position }));
    for (const seed of [1, 2, 3])
      expect(mergeTies(shuffled(lines, seed), noParents)).toEqual(lines);
  });

  it("orders a stream without sequences from opening to closing", () => {
    const ranks = [runOpens, EVENT_RANK.decision, callOpens, note, callCloses, runCloses] as const;
    const stream = ranks.map((rank) => item(1, rank, "a"));
    for (const seed of [1, 2, 3])
      expect(mergeTies(shuffled(stream, seed), noParents)).toEqual(stream);
  });

  it("opens parents first and closes children first, between sequenced streams", () => {
    const ordered = [
      item(1, runOpens, "a", { sequence: 0 }),
      item(1, callOpens, "a", { sequence: 1 }),
      item(1, runOpens, "b", { sequence: 0, parent: "a" }),
      item(1, runCloses, "b", { sequence: 1 }),
      item(1, callCloses, "a", { sequence: 2 }),
      item(1, runCloses, "a", { sequence: 3 }),
    ];
    for (const seed of [1, 2, 3, 4]) {
      expect(texts(mergeTies(shuffled(ordered, seed), noParents))).toEqual(texts(ordered));
    }
  });

  it("hands over from one child to the next: child ends, its call ends, the next call, its child", () => {
    const ordered = [
      item(1, runCloses, "b", { sequence: 9 }),
      item(1, callCloses, "a", { sequence: 2 }),
      item(1, callOpens, "a", { sequence: 3 }),
      item(1, runOpens, "c", { sequence: 0, parent: "a" }),
    ];
    const parentOf = (stream: string) => (stream === "b" ? "a" : undefined);
    for (const seed of [1, 2, 3, 4]) {
      expect(texts(mergeTies(shuffled(ordered, seed), parentOf))).toEqual(texts(ordered));
    }
  });

  it("sees through a stream that is not in the group, and survives parents in a circle", () => {
    const parents: Readonly<Record<string, string>> = { c: "b", b: "a" };
    const group = [item(1, runCloses, "a"), item(1, runCloses, "c")];
    expect(texts(mergeTies(group, (stream) => parents[stream]))).toEqual(["1 c r5 ", "1 a r5 "]);
    const circle = [
      item(1, runOpens, "x", { parent: "y" }),
      item(1, runOpens, "y", { parent: "x" }),
    ];
    expect(texts(mergeTies(circle, noParents))).toEqual(["1 x r0 ", "1 y r0 "]);
  });

  it("keeps byte-identical lines together", () => {
    const twin = item(1, runCloses, "b", { sequence: 1, eventId: "z" });
    const group = [twin, item(1, callCloses, "a", { sequence: 5, eventId: "a" }), twin];
    const merged = mergeTies(group, (stream) => (stream === "b" ? "a" : undefined));
    expect(texts(merged)).toEqual([twin.text, twin.text, "1 a 5 a"]);
  });
});

describe("ReorderBuffer", () => {
  it("holds an item until `size` others have come after it, and after earlier ones that are held", () => {
    const buffer = new ReorderBuffer<Item>({ size: 2 });
    const [a, b, c, d] = [1, 2, 3, 4].map((at) => item(at, note, "s"));
    if (!a || !b || !c || !d) throw new Error("unreachable");
    expect(buffer.push(b)).toEqual([]);
    expect(buffer.push(a)).toEqual([]);
    expect(buffer.push(d)).toEqual([]);
    expect(buffer.push(c)).toEqual([a, b]);
    expect(buffer.flush()).toEqual([c, d]);
    expect([buffer.late, buffer.held]).toEqual([0, 0]);
  });

  it("holds no more than one and a half windows of distinct times", () => {
    const buffer = new ReorderBuffer<Item>();
    let most = 0;
    for (let at = 0; at < 2000; at += 1) {
      buffer.push(item(at, note, "s"));
      most = Math.max(most, buffer.held);
    }
    expect(most).toBeLessThanOrEqual(192);
    expect(most).toBeGreaterThanOrEqual(128);
  });

  it("lets an item wait that is older than what was released of other streams", () => {
    const buffer = new ReorderBuffer<Item>({ size: 1 });
    const [two, three, four] = [2, 3, 4].map((at) => item(at, note, "s"));
    const [ends, begins] = [item(1, runCloses, "late"), item(0, runOpens, "late")];
    if (!two || !three || !four) throw new Error("unreachable");
    buffer.push(two);
    expect(buffer.push(three)).toEqual([two]);
    expect(buffer.push(ends)).toEqual([]);
    expect(buffer.push(begins)).toEqual([]);
    expect(buffer.push(four)).toEqual([begins, ends, three]);
    expect(buffer.late).toBe(0);
  });

  it("counts an item that comes more than `size` places behind a later one of its stream", () => {
    const buffer = new ReorderBuffer<Item>({ size: 1 });
    const [one, two, three, four] = [1, 2, 3, 4].map((at) => item(at, note, "s"));
    if (!one || !two || !three || !four) throw new Error("unreachable");
    buffer.push(two);
    expect(buffer.push(three)).toEqual([two]);
    buffer.push(one);
    expect(buffer.push(four)).toEqual([one, three]);
    expect(buffer.late).toBe(1);
    buffer.push(item(3, note, "another"));
    expect(texts([...buffer.flush()])).toEqual(["3 another r3 ", "4 s r3 "]);
    expect(buffer.late).toBe(1);
  });

  it("releases what is due past a stream that is always behind, in the order of each stream", () => {
    const buffer = new ReorderBuffer<Item>({ size: 4, maxSize: 12, batch: 1 });
    const items: Item[] = [];
    for (let at = 0; at < 300; at += 1) {
      items.push(item(10_000 + at, note, at % 2 === 0 ? "a" : "b", { sequence: at }));
      items.push(item(at, note, "behind", { sequence: at }));
    }
    const blocks = Array.from({ length: 150 }, (_, n) =>
      shuffled(items.slice(n * 4, n * 4 + 4), n),
    );
    let most = 0;
    const out = blocks.flat().flatMap((one) => {
      const released = [...buffer.push(one)];
      most = Math.max(most, buffer.held);
      return released;
    });
    out.push(...buffer.flush());
    const ofStreams = (...names: string[]) =>
      texts(out.filter((one) => names.includes(one.streamKey().stream)));
    expect(ofStreams("behind")).toEqual(texts(items.filter((_, index) => index % 2 === 1)));
    expect(ofStreams("a", "b")).toEqual(texts(items.filter((_, index) => index % 2 === 0)));
    expect([buffer.late, buffer.splitTies]).toEqual([0, 0]);
    expect(most).toBeLessThanOrEqual(12 + 1);
  });

  it("lets a clock that is ahead hold up nothing else", () => {
    const buffer = new ReorderBuffer<Item>({ size: 4, maxSize: 12, batch: 1 });
    const items = Array.from({ length: 400 }, (_, n) =>
      n % 2 === 0
        ? item(n, note, "s", { sequence: n })
        : item(n + 3_600, note, "ahead", { sequence: n }),
    );
    const blocks = Array.from({ length: 100 }, (_, n) =>
      shuffled(items.slice(n * 4, n * 4 + 4), n),
    );
    const out = blocks.flat().flatMap((one) => [...buffer.push(one)]);
    out.push(...buffer.flush());
    for (const stream of ["s", "ahead"]) {
      const own = (all: readonly Item[]) =>
        texts(all.filter((one) => one.streamKey().stream === stream));
      expect(own(out)).toEqual(own(items));
    }
    expect(buffer.late).toBe(0);
  });

  it("releases by waiting time for live services, in order and with the ties", () => {
    const buffer = new ReorderBuffer<Item>({ maxWaitMs: 5000 });
    const [a, b, tie, d] = [
      item(1, note, "a"),
      item(2, note, "b"),
      item(2, note, "c"),
      item(3, note, "d"),
    ];
    buffer.push(b, 1000);
    buffer.push(a, 3000);
    buffer.push(tie, 3000);
    buffer.push(d, 9000);
    expect(buffer.drainOlderThan(8000)).toEqual([]);
    expect(buffer.drainOlderThan(8001)).toEqual([a, b, tie]);
    expect(buffer.drainOlderThan(14_000)).toEqual([]);
    expect(buffer.drainOlderThan(14_001)).toEqual([d]);
    expect(buffer.late).toBe(0);
  });

  it("lets an item wait twice as long for earlier ones, and no longer", () => {
    const buffer = new ReorderBuffer<Item>({ maxWaitMs: 5000 });
    const now = item(3600, note, "now");
    const behind = Array.from({ length: 12 }, (_, n) => item(n, note, "behind"));
    buffer.push(now, 0);
    const released = behind.map((one, n) => {
      buffer.push(one, (n + 1) * 1000);
      return texts(buffer.drainOlderThan((n + 1) * 1000));
    });
    expect(released.flat()).toEqual([
      ...texts(behind.slice(0, 5)),
      ...texts([now]),
      ...texts(behind.slice(5, 6)),
    ]);
  });

  it("remembers parents over the buffer, so that a child's end goes before its parent's", () => {
    const buffer = new ReorderBuffer<Item>({ size: 1 });
    const ends = [item(9, runCloses, "b"), item(9, runCloses, "a")];
    const items = [
      item(1, runOpens, "a"),
      item(2, runOpens, "b", { parent: "a" }),
      item(3, note, "a"),
    ];
    const out = through([...items, ...ends.toReversed()], buffer);
    expect(out.slice(-2)).toEqual(texts(ends));
  });

  it("bounds a group of equal times, and loses nothing of it", () => {
    const buffer = new ReorderBuffer<Item>({ size: 16, maxSize: 64 });
    const items = Array.from({ length: 1000 }, (_, n) => item(5, note, "s", { sequence: n }));
    let most = 0;
    const out = items.flatMap((one) => {
      const released = texts(buffer.push(one));
      most = Math.max(most, buffer.held);
      return released;
    });
    out.push(...texts(buffer.flush()));
    expect(out).toEqual(texts(items));
    expect(most).toBeLessThanOrEqual(64 + 8);
    expect(buffer.splitTies).toBeGreaterThan(0);
    expect(buffer.late).toBe(0);
  });

  it("refuses limits that are none", () => {
    expect(() => new ReorderBuffer({ size: -1 })).toThrow(
      "size: expected a whole number from 0, got -1",
    );
    expect(() => new ReorderBuffer({ maxSize: 127 })).toThrow(RangeError);
    expect(() => new ReorderBuffer({ maxWaitMs: Number.NaN })).toThrow(RangeError);
  });

  /** A stream of runs in a tree, with many equal times; some runs without sequences. */
  const recording = fc
    .array(
      fc.record({
        step: fc.constantFrom(0, 0, 0, 1, 1, 7),
        run: fc.nat({ max: 5 }),
        rank: fc.constantFrom<EventRank>(runOpens, callOpens, note, callCloses, runCloses),
        withId: fc.boolean(),
      }),
      { minLength: 1, maxLength: 400 },
    )
    .map((steps) => {
      const sequences = [0, 0, 0, 0, 0, 0];
      let at = 0;
      return steps.map(({ step, run, rank, withId }, index) => {
        at += step;
        const sequence = sequences[run] ?? 0;
        sequences[run] = sequence + 1;
        return item(at, rank, `run${run}`, {
          ...(run < 4 ? { sequence } : { text: `${at} run${run} r${rank} ${index}` }),
          ...(withId ? { eventId: `e${index}` } : {}),
          ...(rank === runOpens && run > 0 ? { parent: `run${(run - 1) >> 1}` } : {}),
        });
      });
    });

  it("releases one order for every shuffle within 64 lines, with duplicates, ties included", () => {
    fc.assert(
      fc.property(recording, fc.integer(), fc.nat({ max: 63 }), (items, seed, offset) => {
        const sorted = through(items);
        const arrived: Item[] = [];
        for (let start = -offset; start < items.length; start += 64) {
          const block = items.slice(Math.max(0, start), start + 64);
          const doubled = block.filter((_, index) => (seed >> (index % 20)) & 1).slice(0, 30);
          arrived.push(...shuffled([...block, ...doubled], seed + start));
        }
        const buffer = new ReorderBuffer<Item>();
        const out = through(arrived, buffer);
        expect(buffer.late).toBe(0);
        expect(out.filter((text, index) => text !== out[index - 1])).toEqual(sorted);
      }),
    );
  });

  it("keeps every item exactly once, in whatever order they come", () => {
    fc.assert(
      fc.property(recording, fc.integer(), (items, seed) => {
        const buffer = new ReorderBuffer<Item>({ size: 8, maxSize: 12 });
        const out = through(shuffled(items, seed), buffer);
        expect(out.toSorted()).toEqual(texts(items).toSorted());
      }),
    );
  });
});
