import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type CallTrail,
  callDropped,
  callEnded,
  callStarted,
  degradedTools,
  loopOf,
} from "../../../src/events/tool-calls/call-trail.ts";
import { type LoopOptions, resolveLoopLimits } from "../../../src/events/tool-calls/loop-limits.ts";
import type { Loop } from "../../../src/events/tool-calls/loop-watch.ts";
import { runs } from "../../support/runs.ts";

interface Made {
  readonly tool: string;
  readonly input: unknown;
  /** `undefined`: cancelled. */
  readonly result?: unknown;
  readonly failed?: boolean;
}

/** Calls that are open at once, and the order in which they end, as positions. */
interface Batch {
  readonly calls: readonly Made[];
  readonly ends: readonly number[];
}

/** The loop in the calls of a run. */
function found(batches: readonly Batch[], options: LoopOptions = {}): Loop | undefined {
  const limits = resolveLoopLimits(options);
  let trail: CallTrail;
  let second = 0;
  for (const { calls, ends } of batches) {
    const open = calls.map(({ tool }) => ({
      name: tool,
      next: undefined as { name: string } | undefined,
    }));
    for (const [n, call] of open.entries()) {
      const before = linked(open.slice(0, n).map(({ name }) => name));
      trail = callStarted(trail, call, calls[n]?.input, { oldest: before }, limits);
    }
    for (const n of ends) {
      const [call, made] = [open[n], calls[n]];
      if (call === undefined || made === undefined) continue;
      const { failed = false, result } = made;
      second += 1;
      if (result === undefined) callDropped(trail, call, limits);
      else trail = callEnded(trail, call, { at: [second, 0], failed, result }, limits);
    }
  }
  return loopOf(trail);
}

interface Linked {
  readonly name: string;
  readonly next: Linked | undefined;
}

function linked(names: readonly string[]): Linked | undefined {
  return names.reduceRight<Linked | undefined>((next, name) => ({ name, next }), undefined);
}

/** One after the other. */
const oneByOne = (calls: readonly Made[]) => calls.map((call) => ({ calls: [call], ends: [0] }));
const times = <T>(n: number, of: (n: number) => T) => Array.from({ length: n }, (_, at) => of(at));

const LIMITS = { repeat: 3, pingPong: 2, poll: 4 };

interface Counted {
  readonly tool: string;
  /** `undefined`: not known. */
  readonly what: string | undefined;
  readonly seen: string | undefined;
}

/** By the words of the promise: the calls that count, in the order of their starts. */
function counted(batches: readonly Batch[]): Counted[] {
  const list: Counted[] = [];
  for (const { calls } of batches) {
    const before = [...list];
    for (const [n, { failed = false, input, result, tool }] of calls.entries()) {
      const earlier = [...before, ...calls.slice(0, n)].filter((other) => other.tool === tool);
      const isKnown = earlier.length >= 2 && input !== null;
      const what = isKnown ? JSON.stringify([tool, input]) : undefined;
      const seen = isKnown && result !== null ? JSON.stringify([what, failed, result]) : undefined;
      if (result !== undefined) list.push({ tool, what, seen });
    }
  }
  return list;
}

/** Length of the longest stretch at the end of a list in which each fits the ones after it. */
function stretch<T>(list: readonly T[], fits: (at: number) => boolean): number {
  let length = 0;
  while (length < list.length && fits(list.length - 1 - length)) length += 1;
  return length;
}

function shapesAt(calls: readonly Counted[]): Loop[] {
  const last = calls.at(-1);
  if (last === undefined) return [];
  const { seen, tool, what } = last;
  const other = calls.at(-2);
  const own = calls.filter((call) => call.tool === tool);
  const inRow = stretch(calls, (at) => what !== undefined && calls[at]?.what === what);
  const turns = stretch(calls, (at) => {
    const of = (calls.length - at) % 2 === 1 ? last : other;
    return of?.seen !== undefined && calls[at]?.seen === of.seen && other?.seen !== seen;
  });
  const polls = stretch(own, (at) => seen !== undefined && own[at]?.seen === seen);
  const tools = [...new Set([tool, other?.tool ?? tool])].sort();
  const shapes: Loop[] = [];
  if (inRow >= LIMITS.repeat) shapes.push({ kind: "repeat", count: inRow, tools: [tool] });
  const alternations = Math.floor(turns / 2);
  if (alternations >= LIMITS.pingPong) {
    shapes.push({ kind: "ping_pong", count: alternations, tools });
  }
  if (polls >= LIMITS.poll) shapes.push({ kind: "poll", count: polls, tools: [tool] });
  return shapes;
}

function expected(batches: readonly Batch[]): Loop | undefined {
  const calls = counted(batches);
  const shapes = calls.flatMap((_, at) => shapesAt(calls.slice(0, at + 1)));
  const [first] = shapes;
  if (first === undefined) return undefined;
  const same = shapes.filter(
    ({ kind, tools }) => kind === first.kind && `${tools}` === `${first.tools}`,
  );
  return { ...first, count: Math.max(...same.map(({ count }) => count)) };
}

const made = fc.record({
  tool: fc.constantFrom("a", "a", "b"),
  input: fc.constantFrom<unknown>({ q: 1 }, { q: 1 }, { q: 2 }, null),
  result: fc.constantFrom<unknown>("x", "x", "x", "y", null, undefined),
  failed: fc.boolean(),
});
const batch = fc
  .oneof(
    { weight: 3, arbitrary: fc.constant(1) },
    { weight: 1, arbitrary: fc.integer({ min: 2, max: 3 }) },
  )
  .chain((size) =>
    fc.record({
      calls: fc.array(made, { minLength: size, maxLength: size }),
      ends: fc.shuffledSubarray(
        times(size, (n) => n),
        { minLength: size },
      ),
    }),
  );
/** The same few calls again and again, with others between. */
const looping = fc
  .tuple(
    fc.array(batch, { maxLength: 4 }),
    fc.array(batch, { minLength: 1, maxLength: 2 }),
    fc.nat(10),
    fc.array(batch, { maxLength: 3 }),
  )
  .map(([before, again, often, after]) => [
    ...before,
    ...times(often, () => again).flat(),
    ...after,
  ]);

describe("the loop in the calls of a run", () => {
  it("is that of a plain model, in whatever order calls that overlap end", () => {
    const kinds = new Set<string | undefined>();
    fc.assert(
      fc.property(looping, (batches) => {
        const loop = expected(batches);
        kinds.add(loop?.kind);
        expect(found(batches, LIMITS)).toEqual(loop);
      }),
      { numRuns: runs(10_000) },
    );
    expect(kinds).toEqual(new Set([undefined, "repeat", "ping_pong", "poll"]));
  });

  const search = (n: number): Made => ({ tool: "search", input: { q: "x" }, result: `hit ${n}` });

  it("is a repeat from the seventh equal call of a tool: the first two are not read", () => {
    expect(found(oneByOne(times(6, search)))).toBeUndefined();
    expect(found(oneByOne(times(7, search)))).toEqual({
      kind: "repeat",
      count: 5,
      tools: ["search"],
    });
    expect(found(oneByOne(times(40, search)))).toMatchObject({ kind: "repeat", count: 38 });
  });

  it("is no repeat where another call comes between, or the input differs", () => {
    const other: Made = { tool: "read", input: { n: 1 }, result: "r" };
    expect(found(oneByOne([...times(6, search), other, ...times(4, search)]))).toBeUndefined();
    const paged = times(30, (n): Made => ({ tool: "search", input: { page: n }, result: "same" }));
    expect(found(oneByOne(paged))).toBeUndefined();
  });

  it("is a ping-pong of two tools, or of one tool with two inputs", () => {
    const of = (tool: string, q: number): Made => ({ tool, input: { q }, result: "r" });
    const two = times(6, () => [of("a", 1), of("b", 1)]).flat();
    expect(found(oneByOne(two.slice(1)))).toBeUndefined();
    expect(found(oneByOne(two))).toEqual({ kind: "ping_pong", count: 4, tools: ["a", "b"] });
    const one = times(5, () => [of("a", 1), of("a", 2)]).flat();
    expect(found(oneByOne(one))).toEqual({ kind: "ping_pong", count: 4, tools: ["a"] });
  });

  it("is a poll with other calls between, while the result stays the same", () => {
    const poll =
      (n: number) =>
      (at: number): Made[] => [
        { tool: "status", input: { job: 7 }, result: at < n ? "running" : "done" },
        { tool: "write", input: { at }, result: at },
      ];
    expect(found(oneByOne(times(11, poll(11)).flat()))).toBeUndefined();
    expect(found(oneByOne(times(12, poll(12)).flat()))).toEqual({
      kind: "poll",
      count: 10,
      tools: ["status"],
    });
    expect(found(oneByOne(times(12, poll(11)).flat()))).toBeUndefined();
  });

  it("is no repeat of a tool that is made to be polled, and none of what is turned off", () => {
    const calls = oneByOne(times(9, search));
    expect(found(calls, { pollTools: ["search"] })).toBeUndefined();
    expect(found(calls, { repeat: 0 })).toBeUndefined();
    expect(found(calls, { repeat: 7 })).toMatchObject({ kind: "repeat", count: 7 });
    expect(resolveLoopLimits(false)).toBeUndefined();
    expect(resolveLoopLimits({ repeat: 0, pingPong: 0, poll: 0 })).toBeUndefined();
    expect(() => resolveLoopLimits({ poll: 1 })).toThrow(
      "loops.poll: expected a whole number from 2",
    );
  });

  it("has no call whose input is not known, or longer than what is read", () => {
    for (const input of [null, undefined, "x".repeat(4_100), { list: times(3_000, (n) => n) }]) {
      expect(found(oneByOne(times(20, () => ({ tool: "t", input, result: "r" }))))).toBeUndefined();
    }
    const fits = { text: "x".repeat(4_000) };
    expect(
      found(oneByOne(times(7, () => ({ tool: "t", input: fits, result: "r" })))),
    ).toBeDefined();
  });

  it("leaves a call that stays open behind when three have begun after it", () => {
    const limits = resolveLoopLimits({});
    let trail: CallTrail;
    const start = (name: string, input: unknown) => {
      const call = { name };
      trail = callStarted(trail, call, input, { oldest: undefined }, limits);
      return call;
    };
    const end = (call: { name: string }, at: number) => {
      trail = callEnded(trail, call, { at: [at, 0], failed: false, result: "r" }, limits);
    };
    for (const n of times(3, (at) => at)) end(start("t", { q: 1 }), n);
    start("long", {});
    for (const n of times(4, (at) => at)) end(start("t", { q: 1 }), n + 3);
    expect(loopOf(trail)).toBeUndefined();
    end(start("t", { q: 1 }), 8);
    expect(loopOf(trail)).toMatchObject({ kind: "repeat", count: 5 });
    expect(degradedTools({ outcome: "complete", callTrail: trail })).toEqual([]);
  });

  it("changes nothing about which tools failed last", () => {
    const limits = resolveLoopLimits({});
    let trail: CallTrail;
    for (const n of times(20, (at) => at)) {
      const call = { name: "t" };
      trail = callStarted(trail, call, { q: 1 }, { oldest: undefined }, limits);
      trail = callEnded(trail, call, { at: [n, 0], failed: n === 19, result: "r" }, limits);
    }
    expect(degradedTools({ outcome: "complete", callTrail: trail })).toEqual(["t"]);
    expect(degradedTools({ outcome: "failed", callTrail: trail })).toEqual([]);
  });
});
