import { PassThrough } from "node:stream";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Bridge } from "../../../src/bridge/bridge.ts";
import type { BridgeOptions } from "../../../src/bridge/telemetry-options.ts";
import { isOwnGraphEvent, MemorySessionLog } from "../../../src/entries/audit.ts";
import { stringifyExact } from "../../../src/entries/events.ts";
import { entelixDialect, readEvents } from "../../../src/entries/replay.ts";
import { RecorderSink } from "../../../src/entries/sinks.ts";
import type { AgentEvent } from "../../../src/index.ts";
import { RunEvents, second } from "../../support/run-events.ts";
import { runs } from "../../support/runs.ts";
import { collectSpans, toTrees } from "../../support/spans.ts";

const run = new RunEvents("018f3c7a-0000-7000-8000-000000000001");
const CHILD = "018f3c7a-0000-7000-8000-000000000002";

interface Timed {
  readonly event: AgentEvent;
  readonly at: number;
  readonly sequence: number;
}

/** One event a second. */
const timed = (events: readonly AgentEvent[]): Timed[] =>
  events.map((event, at) => ({ event, at, sequence: at }));

async function played(events: readonly Timed[], options: BridgeOptions = {}) {
  const log = new MemorySessionLog();
  const { provider, spans } = collectSpans();
  const bridge = new Bridge({ mode: "replay", audit: log, tracerProvider: provider, ...options });
  for (const { at, event, sequence } of events) {
    const event_id = `e${sequence}`;
    void bridge.send(event, { event_id, sequence, timestamp: second(at), thread_id: "th" });
  }
  await bridge.shutdown();
  const rows = await log.loadSince({ tenant_id: "acme", thread_id: "th" }, 0);
  const ends = rows.flatMap(({ event, run_id }) =>
    run_id === run.run_id && isOwnGraphEvent(event) && event.kind === "entelix.run_ended"
      ? [event.loop]
      : [],
  );
  return { nodes: toTrees(spans()), rows: ends };
}

async function looped(...events: readonly AgentEvent[]) {
  const { nodes, rows } = await played(timed([run.started(), ...events]));
  const node = nodes.find(({ attributes }) => attributes["entelix.run_id"] === run.run_id);
  return {
    kind: node?.attributes["entelix.run.loop"],
    count: node?.attributes["entelix.run.loop.count"],
    tools: node?.attributes["entelix.run.loop.tools"],
    row: rows.at(-1),
    status: node?.status,
  };
}

const search = (id: string) => [
  run.toolStart(id, "search", { q: "x" }),
  run.toolComplete(id, "search", 1, "no hit"),
];
const many = (count: number, of: (n: number) => readonly AgentEvent[]) =>
  Array.from({ length: count }, (_, n) => of(n)).flat();

describe("a run whose tool calls are in a loop", () => {
  it.each([
    ["complete", run.complete(), "unset"] as const,
    ["failed", run.failed(), "error"] as const,
    ["interrupted", run.interrupted(), "unset"] as const,
  ])("says so on its span and its end row: %s", async (_, end, status) => {
    const said = await looped(...many(9, (n) => search(`c${n}`)), end);
    const tools = ["search"];
    expect(said).toMatchObject({ kind: "repeat", count: 7, tools, row: "repeat", status });
  });

  it("says so when nobody knows its end", async () => {
    const said = await looped(...many(9, (n) => search(`c${n}`)));
    expect(said).toMatchObject({ kind: "repeat", count: 7, row: undefined });
  });

  it("counts failures with the same text, and no calls that were denied or cancelled", async () => {
    const failing = (n: number) => [
      run.toolStart(`c${n}`, "fetch", { url: "u" }),
      run.toolError(`c${n}`),
    ];
    const cut = (n: number) => [
      run.toolStart(`x${n}`, "fetch", { url: "u" }),
      run.toolCancelled(`x${n}`),
      run.denied(`d${n}`),
    ];
    expect(await looped(...many(7, failing), run.failed())).toMatchObject({
      kind: "repeat",
      count: 5,
    });
    expect(await looped(...many(20, cut), run.complete())).toMatchObject({ kind: undefined });
    const both = (n: number) => [...failing(n), ...cut(n)];
    expect(await looped(...many(7, both), run.complete())).toMatchObject({
      kind: "repeat",
      count: 5,
    });
  });

  it("is not by the calls of its children, nor by those before its pause", async () => {
    const child = new RunEvents(CHILD);
    const inChild = (n: number) => [
      child.toolStart(`x${n}`, "search", { q: "x" }),
      child.toolComplete(`x${n}`, "search", 1, "no"),
    ];
    const said = await looped(
      child.started("expert", run.run_id),
      ...many(9, inChild),
      child.complete(),
      run.complete(),
    );
    expect(said.kind).toBeUndefined();
    const resumed = await looped(
      ...many(5, (n) => search(`c${n}`)),
      run.interrupted(),
      run.started(),
      ...many(5, (n) => search(`d${n}`)),
      run.complete(),
    );
    expect(resumed).toMatchObject({ kind: undefined, row: undefined });
  });

  it("is not where it is turned off", async () => {
    const events = timed([run.started(), ...many(9, (n) => search(`c${n}`)), run.complete()]);
    const { nodes } = await played(events, { loops: false });
    expect(nodes[0]?.attributes).not.toHaveProperty("entelix.run.loop");
    expect(new Bridge({ loops: false }).contentNeed).toBe("none");
    expect(new Bridge().contentNeed).toBe("tools");
    expect(() => new Bridge({ loops: { repeat: 1 } })).toThrow("loops.repeat");
  });
});

/** Calls of few tools and inputs, some at once, some of them at the same time to the millisecond. */
const script = fc
  .array(
    fc.record({
      size: fc.integer({ min: 1, max: 3 }),
      tool: fc.constantFrom("a", "b"),
      input: fc.constantFrom<unknown>({ q: 1 }, { q: 2 }),
      output: fc.constantFrom("x", "y"),
      again: fc.integer({ min: 1, max: 8 }),
      tick: fc.constantFrom(0, 0.001),
    }),
    { minLength: 1, maxLength: 5 },
  )
  .map((parts) => {
    const events: Timed[] = [];
    let at = 0;
    const add = (event: AgentEvent, tick: number) => {
      events.push({ event, at, sequence: events.length });
      at += tick;
    };
    add(run.started(), 1);
    for (const [part, { again, input, output, size, tick, tool }] of parts.entries()) {
      for (let n = 0; n < again; n++) {
        const ids = Array.from({ length: size }, (_, k) => `${part}-${n}-${k}`);
        for (const id of ids) add(run.toolStart(id, tool, input), tick);
        for (const id of ids.reverse()) add(run.toolComplete(id, tool, 1, output), tick);
      }
    }
    at += 1;
    add(run.complete(), 0);
    return events;
  });

describe("the loop of a run", () => {
  it("does not depend on the order of arrival, redelivery or a recording", async () => {
    const cases = script.chain((events) =>
      fc.record({
        events: fc.constant(events),
        shuffled: fc.shuffledSubarray(events, { minLength: events.length }),
        again: fc.subarray(events),
      }),
    );
    await fc.assert(
      fc.asyncProperty(cases, async ({ again, events, shuffled }) => {
        const live = await played(events);
        const stream = new PassThrough({ highWaterMark: 1 << 24 });
        const recorder = new RecorderSink({ stream });
        for (const { at, event, sequence } of [...shuffled, ...again]) {
          const event_id = `e${sequence}`;
          await recorder.send(event, {
            event_id,
            sequence,
            timestamp: second(at),
            thread_id: "th",
          });
        }
        await recorder.shutdown();
        stream.end();
        const read: Timed[] = [];
        await readEvents(stream, {
          dialects: [entelixDialect],
          window: { size: 1_000 },
          onEvent: ({ event, envelope: { sequence, timestamp } }) => {
            const at = timestamp[0] - second(0)[0] + timestamp[1] / 1e9;
            read.push({ event, at, sequence: Number(sequence) });
          },
        });
        const replayed = await played(read);
        expect(stringifyExact(replayed)).toBe(stringifyExact(live));
      }),
      { numRuns: runs(150) },
    );
  });

  it("is there in some of these recordings, and in others is none", async () => {
    // With a seed: a few random draws can all be of one kind.
    const kinds = new Set<unknown>();
    for (const events of fc.sample(script, { numRuns: 50, seed: 1 })) {
      kinds.add((await played(events)).nodes[0]?.attributes["entelix.run.loop"]);
    }
    expect(kinds).toContain("repeat");
    expect(kinds).toContain(undefined);
  });
});
