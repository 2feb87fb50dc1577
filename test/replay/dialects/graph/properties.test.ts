import type { ReadableSpan } from "@opentelemetry/sdk-trace-node";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runs } from "../../../support/runs.ts";
import { fingerprint } from "../../../support/spans.ts";
import { decoded, replayed, translated } from "./replayed.ts";
import { chaos, type PlayedThread, play, turns } from "./threads.ts";

const RUNS = { numRuns: runs(60) };

/** The threads of two tenants, their lines one after the other in time, as picked. */
const logs = fc
  .record({ plans: fc.array(turns, { minLength: 1, maxLength: 3 }), picks: fc.array(fc.nat(2)) })
  .map(({ picks, plans }) => {
    let second = 0;
    const threads: PlayedThread[] = plans.map((plan, n) =>
      play(plan, { tenant_id: n === 1 ? "globex" : "acme", thread_id: `th-${n}` }, () => second++),
    );
    return {
      threads,
      lines: interleaved(
        threads.map((thread) => thread.lines),
        picks,
      ),
    };
  });

function interleaved(all: readonly (readonly string[])[], picks: readonly number[]): string[] {
  const queues = all.map((lines) => [...lines]);
  const merged: string[] = [];
  for (const pick of picks) {
    const next = queues[pick % queues.length]?.shift();
    if (next !== undefined) merged.push(next);
  }
  return [...merged, ...queues.flat()];
}

const prints = async (lines: readonly string[]) =>
  (await replayed(lines)).spans.map(fingerprint).sort();

/** Every span that started ended, and no other. */
async function whole(lines: readonly string[]) {
  const all = await replayed(lines);
  expect(all.reports).toEqual([]);
  expect([...all.ended.values()].filter((times) => times !== 1)).toEqual([]);
  expect([...all.ended.keys()].sort()).toEqual([...all.started.keys()].sort());
  return all;
}

const damage = fc.record({
  lost: fc.array(fc.nat(80), { maxLength: 12 }),
  swapped: fc.array(fc.tuple(fc.nat(80), fc.nat(80)), { maxLength: 8 }),
  doubled: fc.array(fc.nat(80), { maxLength: 8 }),
  cutHead: fc.nat(10),
  cutTail: fc.nat(10),
});

/** Loses, moves, doubles and cuts lines. */
function spoilt(
  lines: readonly string[],
  harm: typeof damage extends fc.Arbitrary<infer T> ? T : never,
) {
  const lost = new Set(harm.lost);
  const left = lines.filter((_, n) => !lost.has(n)).slice(harm.cutHead);
  const rest = left.slice(0, Math.max(0, left.length - harm.cutTail));
  for (const [from, to] of harm.swapped) {
    const [moved] = rest.splice(from, 1);
    if (moved !== undefined) rest.splice(to, 0, moved);
  }
  for (const at of harm.doubled) {
    const copy = rest[at];
    if (copy !== undefined) rest.splice(at, 0, copy);
  }
  return rest;
}

describe("any log", () => {
  it("that is whole gives the runs, the model calls and the tool calls of its plan", async () => {
    await fc.assert(
      fc.asyncProperty(logs, async ({ lines, threads }) => {
        const { spans } = await whole(lines);
        for (const { drawn, lines: own } of threads) {
          const thread = JSON.parse(own[0] ?? "{}").thread_id;
          const runs = spans.filter(
            ({ attributes, name }) =>
              name.startsWith("invoke_agent") && attributes["gen_ai.conversation.id"] === thread,
          );
          expect(outcomesOf(runs)).toEqual(drawn.turns);
        }
        const count = (pick: (thread: PlayedThread) => number) =>
          threads.reduce((sum, thread) => sum + pick(thread), 0);
        const subAgents = spans.filter(({ name }) => name.startsWith("invoke_agent agent-"));
        expect(outcomesOf(subAgents).sort()).toEqual(
          threads.flatMap(({ drawn }) => drawn.subAgents).sort(),
        );
        expect(spans.filter(({ name }) => name === "chat")).toHaveLength(
          count(({ drawn }) => drawn.chats),
        );
        expect(
          spans
            .filter(({ name }) => name.startsWith("execute_tool"))
            .map(({ attributes }) => attributes["entelix.tool.outcome"])
            .sort(),
        ).toEqual(threads.flatMap(({ drawn }) => drawn.calls).sort());
      }),
      RUNS,
    );
  });

  it("ends each of its spans once, whatever is lost, moved, doubled or cut", async () => {
    await fc.assert(
      fc.asyncProperty(logs, damage, async ({ lines }, harm) => {
        await whole(spoilt(lines, harm));
      }),
      RUNS,
    );
  });

  it("ends each of its spans once, without sense or order, and keeps tenants apart", async () => {
    await fc.assert(
      fc.asyncProperty(chaos, async (lines) => {
        const { spans } = await whole(lines);
        const owners = new Map<string, unknown>();
        for (const span of spans) {
          const { traceId } = span.spanContext();
          const tenant = span.attributes["entelix.tenant_id"];
          expect(owners.get(traceId) ?? tenant).toBe(tenant);
          owners.set(traceId, tenant);
        }
      }),
      { numRuns: runs(200) },
    );
  });

  it("keeps every row but the erased ones, each once, in the order of its thread", () => {
    fc.assert(
      fc.property(chaos, (lines) => {
        const taken = decoded(lines);
        const kept = taken.filter(({ event }) => event.form !== "erased");
        const rows = translated(lines).flatMap(({ rows, tenantId, threadId }) =>
          rows.map(({ event }) => [tenantId, threadId, JSON.stringify(event)].join("\n")),
        );
        expect(rows).toHaveLength(kept.length);
        const byThread = (all: readonly string[]) =>
          all.toSorted((a, b) => compare(a.split("\n", 2).join(), b.split("\n", 2).join()));
        let before = { tenant: "default", thread: "default" };
        const wanted = taken.flatMap(({ envelope, event }) => {
          const tenant = envelope.tenant_id ?? "default";
          const goesOn = tenant === before.tenant ? before.thread : "default";
          before = { tenant, thread: envelope.thread_id ?? goesOn };
          return event.form === "erased"
            ? []
            : [[tenant, before.thread, JSON.stringify(event.event)].join("\n")];
        });
        expect(byThread(rows)).toEqual(byThread(wanted));
      }),
      { numRuns: runs(200) },
    );
  });

  it("gives the same spans in any order within the window", async () => {
    await fc.assert(
      fc.asyncProperty(logs, fc.infiniteStream(fc.nat(60)), async ({ lines }, places) => {
        const placed = lines.map((text) => ({ text, at: places.next().value }));
        const shuffled = placed.toSorted((a, b) => a.at - b.at).map(({ text }) => text);
        fc.pre(lines.length <= 128);
        expect(await prints(shuffled)).toEqual(await prints(lines));
      }),
      RUNS,
    );
  });

  it("gives the same spans when lines come again", async () => {
    await fc.assert(
      fc.asyncProperty(logs, fc.array(fc.nat(80), { maxLength: 10 }), async ({ lines }, again) => {
        const repeated = [...lines];
        for (const at of again) {
          const copy = lines[at];
          if (copy !== undefined) repeated.splice(repeated.indexOf(copy), 0, copy);
        }
        expect(await prints(repeated)).toEqual(await prints(lines));
        expect(await prints([...lines, ...lines.slice(lines.length / 2)])).toEqual(
          await prints(lines),
        );
      }),
      RUNS,
    );
  });

  it("that was cut has the spans of the whole one, and no other", async () => {
    await fc.assert(
      fc.asyncProperty(logs, fc.nat(60), async ({ lines }, length) => {
        const ids = async (all: readonly string[]) =>
          (await replayed(all)).spans.map((span) => {
            const { spanId, traceId } = span.spanContext();
            return [traceId, spanId, span.parentSpanContext?.spanId, span.name].join(" ");
          });
        const all = new Set(await ids(inOrder(lines)));
        for (const id of await ids(inOrder(lines).slice(0, length))) expect(all).toContain(id);
      }),
      RUNS,
    );
  });
});

/** How runs ended, in the order of their start. */
function outcomesOf(runs: readonly ReadableSpan[]): string[] {
  return runs
    .toSorted((a, b) => a.startTime[0] - b.startTime[0])
    .map(({ attributes }) =>
      [attributes["entelix.run.outcome"], attributes["entelix.failure.kind"]]
        .filter((part) => part !== undefined)
        .join(" "),
    );
}

const inOrder = (lines: readonly string[]) =>
  lines.toSorted((a, b) => compare(timeOf(a), timeOf(b)));

const timeOf = (text: string): string => JSON.parse(text).event.timestamp;

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
