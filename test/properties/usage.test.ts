import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type AgentEvent, Bridge } from "../../src/index.ts";
import { collectMetrics } from "../bridge/metrics/meter.ts";
import { RunEvents, second } from "../support/run-events.ts";
import { runs } from "../support/runs.ts";
import { watchSpans } from "./watch.ts";

const ids = [1, 2, 3, 4].map((n) => `018f3c7a-0000-7000-8000-${String(n).padStart(12, "0")}`);
const idOf = (n: number) => ids[n] ?? "";

/** A tree of runs, each with model calls that used tokens. */
interface Plan {
  /** The run above each but the first, by its place. */
  readonly above: readonly number[];
  /** Input tokens of the calls, by run. */
  readonly calls: readonly (readonly number[])[];
  readonly ends: readonly ("complete" | "failed" | "interrupted" | "open")[];
}

const plan: fc.Arbitrary<Plan> = fc.integer({ min: 1, max: ids.length }).chain((size) =>
  fc.record({
    above: fc.tuple(...Array.from({ length: size - 1 }, (_, n) => fc.integer({ min: 0, max: n }))),
    calls: fc.array(fc.array(fc.integer({ min: 1, max: 99 }), { maxLength: 3 }), {
      minLength: size,
      maxLength: size,
    }),
    ends: fc.array(fc.constantFrom("complete", "failed", "interrupted", "open"), {
      minLength: size,
      maxLength: size,
    }),
  }),
);

interface Sent {
  readonly event: AgentEvent;
  readonly id: string;
  readonly at: number;
  /** The run that called, and its input tokens. */
  readonly used?: readonly [run: number, tokens: number];
}

/** What the root says at its end: what no sum of calls comes to. */
const WHOLE = 1_000_000;

/** The events of a tree as they happened: parents before their children, and open until they ended. */
function eventsOf({ above, calls, ends }: Plan): Sent[] {
  const sent: Sent[] = [];
  const send = (event: AgentEvent, used?: Sent["used"]) => {
    const id = `e${sent.length}`;
    sent.push(
      used === undefined ? { event, id, at: sent.length } : { event, id, at: sent.length, used },
    );
  };
  const each = calls.map((own, n) => ({ own, n, run: new RunEvents(idOf(n)) }));
  for (const { n, run } of each) {
    const parent = n === 0 ? null : idOf(above[n - 1] ?? 0);
    send(run.started(`agent-${n}`, parent));
  }
  for (const { n, own, run } of each) {
    for (const [at, tokens] of own.entries()) {
      send(run.modelStart(`m${at}`));
      send(run.modelComplete(`m${at}`, { usage: { input_tokens: tokens } }), [n, tokens]);
    }
  }
  for (const { n, run } of each.toReversed()) {
    switch (ends[n]) {
      case "complete":
        send(
          run.complete({
            usage: { requests: 1, input_tokens: WHOLE, output_tokens: 0, tool_calls: 0 },
          }),
        );
        break;
      case "failed":
        send(run.failed());
        break;
      case "interrupted":
        send(run.interrupted());
    }
  }
  return sent;
}

/** Sends the events, and gives the input tokens that were counted, and those of the spans, by agent. */
async function play(stream: readonly Sent[]) {
  const meter = collectMetrics();
  const watch = watchSpans();
  const sink = new Bridge({
    tracerProvider: watch.provider,
    meterProvider: meter.provider,
    limits: { markerAfterMs: 0 },
  });
  for (const { at, event, id } of stream) {
    void sink.send(event, { timestamp: second(at), event_id: id, root_run_id: idOf(0) });
  }
  await sink.shutdown();
  const seen = await meter.collect();
  const counted: Record<string, number> = {};
  for (const { attributes, value } of seen.points("entelix.tokens")) {
    const agent = String(attributes["gen_ai.agent.name"]);
    if (value > 0) counted[agent] = (counted[agent] ?? 0) + value;
  }
  let ofCalls = 0;
  const ownUsage: number[] = [];
  for (const { attributes, name } of watch.ended) {
    const tokens = Number(attributes["gen_ai.usage.input_tokens"] ?? 0);
    if (name.startsWith("chat")) ofCalls += tokens;
    ownUsage.push(Number(attributes["entelix.run.input_tokens"] ?? 0));
  }
  return { counted, ofCalls, own: ownUsage.reduce((sum, each) => sum + each, 0) };
}

const sumOf = (values: Readonly<Record<string, number>>) =>
  Object.values(values).reduce((sum, each) => sum + each, 0);

const again = fc.array(fc.nat({ max: 40 }), { maxLength: 6 });
const lost = fc.array(fc.nat({ max: 40 }), { maxLength: 8 });

describe("the tokens of a tree", () => {
  it("are the sum of its calls, by agent, whatever comes twice and whatever is lost", async () => {
    await fc.assert(
      fc.asyncProperty(plan, again, lost, async (tree, repeated, cut) => {
        // No start is lost: by it an agent is known.
        const events = eventsOf(tree).filter(
          ({ event }, at) => event.type === "started" || !cut.includes(at),
        );
        const stream = events.flatMap((sent, at) =>
          repeated.includes(at) ? [sent, sent] : [sent],
        );
        const expected: Record<string, number> = {};
        for (const { used } of events) {
          if (used === undefined) continue;
          const agent = `agent-${used[0]}`;
          expected[agent] = (expected[agent] ?? 0) + used[1];
        }
        const rootEnd = events.some(
          ({ event }) => event.type === "complete" && event.run_id === idOf(0),
        );
        if (Object.keys(expected).length === 0 && rootEnd) expected["agent-0"] = WHOLE;
        const { counted, ofCalls, own } = await play(stream);
        expect(counted).toEqual(expected);
        expect(own).toBe(ofCalls);
      }),
      { numRuns: runs(300) },
    );
  });

  it("are those of its calls or those of its root, never both, in any order", async () => {
    await fc.assert(
      fc.asyncProperty(
        plan.chain((tree) => {
          const events = eventsOf(tree);
          return fc.shuffledSubarray(events, { minLength: events.length });
        }),
        lost,
        async (shuffled, cut) => {
          const stream = shuffled.filter((_, at) => !cut.includes(at));
          const { counted, ofCalls } = await play(stream);
          const sum = sumOf(counted);
          expect(sum === WHOLE ? WHOLE : ofCalls).toBe(sum);
        },
      ),
      { numRuns: runs(500) },
    );
  });
});
