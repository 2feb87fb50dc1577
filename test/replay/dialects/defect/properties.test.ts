import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Signal } from "../../../../src/events/door.ts";
import { Bridge } from "../../../../src/index.ts";
import { DefectMapping } from "../../../../src/replay/dialects/defect/defect-mapping.ts";
import type { DefectEvent } from "../../../../src/replay/dialects/defect/events.ts";
import type { LineEnvelope } from "../../../../src/replay/dialects/dialect.ts";
import { playerOf } from "../../../../src/replay/signal-player.ts";
import { watchSpans } from "../../../properties/watch.ts";
import { runs } from "../../../support/runs.ts";
import { damaged, damages, isMixed, type Said, session } from "./grammar.ts";
import { moment } from "./session.ts";

interface Sent {
  readonly event: DefectEvent;
  readonly envelope: LineEnvelope;
}

/** The events with times 10 ms apart, and ids where they are to have some. */
function sent(said: readonly Said[], identified: boolean, sessionId = "s"): Sent[] {
  return said.map(({ event, path }, n) => ({
    event:
      path.length === 0
        ? event
        : { type: "subagent", ancestor_path: path, agent_type: "helper", inner: event },
    envelope: {
      timestamp: moment(n * 10),
      session_id: sessionId,
      ...(identified ? { event_id: `e${n}` } : {}),
    },
  }));
}

const RUNS = { numRuns: runs(300) };
const recording = fc.record({ said: session, damage: damages, identified: fc.boolean() });

function play({ damage, identified, said }: Parameters<Parameters<typeof recording.map>[0]>[0]) {
  return damaged(sent(said, identified), damage);
}

/** As the lifecycle passes them on: events with ids come once each. */
function unique(events: readonly Sent[]): Sent[] {
  const seen = new Set<string>();
  return events.filter(({ envelope: { event_id } }) => {
    if (event_id === undefined) return true;
    return seen.size < seen.add(event_id).size;
  });
}

function signalsOf(events: readonly Sent[]): Signal[] {
  const mapping = new DefectMapping();
  const steps = unique(events).map(({ envelope, event }) => mapping.translate(event, envelope));
  return [...steps, ...mapping.end()].flatMap(({ signals }) => signals);
}

function count(
  signals: readonly Signal[],
  kinds: readonly Signal["signal"][],
): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { runId, signal } of signals) {
    if (kinds.includes(signal)) counts.set(runId, (counts.get(runId) ?? 0) + 1);
  }
  return counts;
}

describe("the signals of a damaged session", () => {
  it("open each run once, before anything else of it, and close it at most once, last", () => {
    fc.assert(
      fc.property(recording, (broken) => {
        const open = new Set<string>();
        const closed = new Set<string>();
        for (const { runId, signal } of signalsOf(play(broken))) {
          if (signal === "run_opens") {
            expect(open.has(runId) || closed.has(runId)).toBe(false);
            open.add(runId);
          } else if (signal === "run_closes") {
            expect(open.delete(runId)).toBe(true);
            closed.add(runId);
          } else if (signal === "late") expect(closed.has(runId)).toBe(true);
          else if (signal !== "call_closes") expect(open.has(runId)).toBe(true);
        }
      }),
      RUNS,
    );
  });

  it("open at most one model call of a run at a time, and close no other", () => {
    fc.assert(
      fc.property(recording, (broken) => {
        const open = new Set<string>();
        for (const { runId, signal } of signalsOf(play(broken))) {
          if (signal === "model_opens") {
            expect(open.has(runId)).toBe(false);
            open.add(runId);
          } else if (signal === "model_closes") expect(open.delete(runId)).toBe(true);
          else if (signal === "run_closes") expect(open.has(runId)).toBe(false);
        }
        expect(open).toEqual(new Set());
      }),
      RUNS,
    );
  });

  it("end each opened call at most once: more ends are of starts that were not seen", () => {
    fc.assert(
      fc.property(recording, (broken) => {
        const signals = signalsOf(play(broken));
        const open = new Map<string, number>();
        let unseen = 0;
        for (const signal of signals) {
          const { signal: kind, runId } = signal;
          if (kind !== "call_opens" && kind !== "call_closes" && kind !== "call_denied") continue;
          const key = `${runId} ${signal.callId}`;
          const left = open.get(key) ?? 0;
          if (kind === "call_opens") open.set(key, left + 1);
          else if (left > 0) open.set(key, left - 1);
          else unseen++;
        }
        // Without damage every end has its start, unless two sub-agents speak as one.
        if (broken.damage.length === 0 && !isMixed(broken.said)) expect(unseen).toBe(0);
        const opened = [...count(signals, ["call_opens"]).values()].reduce((a, b) => a + b, 0);
        const ended = [...count(signals, ["call_closes", "call_denied"]).values()];
        expect(ended.reduce((a, b) => a + b, 0)).toBeLessThanOrEqual(opened + unseen);
      }),
      RUNS,
    );
  });

  it("are the same when every event is delivered twice with its id", () => {
    fc.assert(
      fc.property(session, damages, (said, damage) => {
        const once = damaged(sent(said, true), damage);
        const twice = once.flatMap((item) => [item, item]);
        expect(signalsOf(twice)).toEqual(signalsOf(once));
      }),
      RUNS,
    );
  });

  it("are bounded, like the state, whatever the limits", () => {
    fc.assert(
      fc.property(recording, fc.integer({ min: 2, max: 5 }), (broken, limit) => {
        const limits = {
          streams: limit,
          openCalls: limit,
          callers: limit,
          heldRows: limit,
          heldCharacters: limit * 40,
        };
        const mapping = new DefectMapping({ limits });
        for (const { envelope, event } of unique(play(broken))) {
          const { rows } = mapping.translate(event, envelope);
          expect(rows.length).toBeLessThanOrEqual(limit);
        }
        const open = mapping.end();
        expect(open.length).toBeLessThanOrEqual(limit);
        for (const { rows } of open) expect(rows.length).toBeLessThanOrEqual(limit);
      }),
      RUNS,
    );
  });
});

describe("the rows of a damaged session", () => {
  it("are none of a turn that was taken back, and all of the others without a limit", () => {
    fc.assert(
      fc.property(recording, (broken) => {
        const mapping = new DefectMapping();
        const failed = new Set<string>();
        const projected = new Set<string>();
        for (const { envelope, event } of unique(play(broken))) {
          const inner = event.type === "subagent" ? event.inner : event;
          const { rows, signals } = mapping.translate(event, envelope);
          for (const { runId } of rows) projected.add(runId);
          if (inner.type !== "turn_aborted") continue;
          for (const { runId, signal } of signals) if (signal === "run_closes") failed.add(runId);
        }
        for (const runId of failed) expect(projected.has(runId)).toBe(false);
        expect(mapping.counts.rowsOver).toBe(0);
        expect(mapping.counts.rolledBackTurns).toBe(failed.size);
      }),
      RUNS,
    );
  });
});

describe("the spans of damaged sessions", () => {
  it("end exactly once each, and every run is in the trace of its session's turn", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(recording, { minLength: 1, maxLength: 2 }), async (all) => {
        const { ended, endedTwice, open, provider } = watchSpans();
        const reports: string[] = [];
        const bridge = new Bridge({
          mode: "replay",
          tracerProvider: provider,
          onError: (error) => void reports.push(String(error)),
        });
        const feed = playerOf(bridge, new DefectMapping(), "default");
        for (const [n, { damage, identified, said }] of all.entries()) {
          for (const item of damaged(sent(said, identified, `s${n}`), damage)) {
            await feed.take(item.event, item.envelope);
          }
        }
        await feed.end();
        await bridge.shutdown();
        expect(open.size).toBe(0);
        expect(endedTwice).toEqual([]);
        expect(reports).toEqual([]);
        const roots = ended.filter(
          (span) => span.name === "invoke_agent" && span.parentSpanContext === undefined,
        );
        const traces = new Set(roots.map((span) => span.spanContext().traceId));
        for (const span of ended) expect(traces.has(span.spanContext().traceId)).toBe(true);
      }),
      { numRuns: runs(120) },
    );
  });
});
