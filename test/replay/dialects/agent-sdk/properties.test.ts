import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Signal } from "../../../../src/events/door.ts";
import { Bridge } from "../../../../src/index.ts";
import { AgentSdkMapping } from "../../../../src/replay/dialects/agent-sdk/agent-sdk-mapping.ts";
import type { JsonObject } from "../../../../src/replay/dialects/dialect.ts";
import { playerOf } from "../../../../src/replay/signal-player.ts";
import { runs } from "../../../support/runs.ts";
import { collectSpans } from "../../../support/spans.ts";
import { eventOf } from "./golden-lines.ts";
import { broken, intact } from "./grammar.ts";
import { ENDED, Reader, USAGE } from "./reader.ts";

const RUNS = { numRuns: runs(300) };

/** What the signals of a run may be at some point. */
interface Told {
  opened: boolean;
  closed: boolean;
  model: "none" | "open";
  calls: Map<string, number>;
}

const AFTER_END: ReadonlySet<string> = new Set(["call_closes", "call_approved", "call_denied"]);

/** Holds a list of signals to what the lifecycle may rely on; the runs and how they stand. */
function expectOrdered(signals: readonly Signal[]): Map<string, Told> {
  const runs = new Map<string, Told>();
  for (const signal of signals) {
    // It only counts, and the run may be one of which nothing else was seen.
    if (signal.signal === "late") continue;
    const run = runs.get(signal.runId) ?? newRun(signal);
    runs.set(signal.runId, run);
    if (run.closed) expect(AFTER_END).toContain(signal.signal);
    take(run, signal);
  }
  return runs;
}

/** The first thing said of a run opens it, or says that its start was not seen. */
function newRun(signal: Signal): Told {
  expect(["run_opens", "attributes"]).toContain(signal.signal);
  return { opened: false, closed: false, model: "none", calls: new Map() };
}

function take(run: Told, signal: Signal): void {
  switch (signal.signal) {
    case "run_opens":
      expect(run.opened).toBe(false);
      run.opened = true;
      return;
    case "run_closes":
      run.closed = true;
      return;
    case "model_opens":
      expect(run.model).toBe("none");
      run.model = "open";
      return;
    case "model_closes":
      expect(run.model).toBe("open");
      run.model = "none";
      return;
    case "call_opens":
    case "call_closes":
    case "call_denied": {
      const by = signal.signal === "call_opens" ? 1 : -1;
      run.calls.set(signal.callId, (run.calls.get(signal.callId) ?? 0) + by);
      return;
    }
    default:
  }
}

/** As the bridge does: a line whose id came before does not come. */
function withoutRepeats(lines: readonly JsonObject[]): JsonObject[] {
  const seen = new Set<unknown>();
  return lines.filter(({ event_id }) => {
    if (event_id === undefined) return true;
    if (seen.has(event_id)) return false;
    seen.add(event_id);
    return true;
  });
}

describe("the signals of any intact stream", () => {
  it("open and close everything in its order, and nothing is late", () => {
    fc.assert(
      fc.property(intact, ({ lines, runs: expected }) => {
        const reader = new Reader().read(...lines).end();
        const runs = expectOrdered(reader.signals);
        expect(reader.mapping.counts.lateEvents).toBe(0);
        expect(reader.mapping.counts.eventsWithUnknownFields).toBe(0);
        const parents = reader.signals.filter(
          (each) => each.signal === "run_opens" && each.parentRunId === undefined,
        );
        expect(parents.length).toBe(expected);
        for (const run of runs.values()) {
          expect(run.opened).toBe(true);
          // A start without an end at most: no end without its start.
          expect([...run.calls.values()].every((left) => left >= 0)).toBe(true);
        }
      }),
      RUNS,
    );
  });

  it("are not changed by what another task says in the middle of a run", () => {
    fc.assert(
      fc.property(intact, late, fc.nat(), ({ lines }, event, nth) => {
        const starts = lines.flatMap(({ emitter_task_id: task, type }, n) =>
          type === "start" && task !== undefined ? [n + 1] : [],
        );
        const at = starts[nth % starts.length];
        if (at === undefined) return;
        const other = { ...lines[at - 1], ...event, event_id: "other", emitter_task_id: "other" };
        const alone = new Reader().read(...lines).end();
        const reader = new Reader().read(...lines.slice(0, at), other, ...lines.slice(at)).end();
        expect(reader.signals.filter(({ signal }) => signal !== "late")).toEqual(alone.signals);
        expect(reader.mapping.counts.lateEvents).toBe(1);
        expect(reader.rows.length - alone.rows.length).toBeLessThanOrEqual(1);
      }),
      RUNS,
    );
  });

  it("say of a model call that it ended in its own time", () => {
    fc.assert(
      fc.property(intact, ({ lines }) => {
        const opened = new Map<string, number>();
        for (const signal of new Reader().read(...lines).end().signals) {
          if (signal.signal === "model_opens") opened.set(signal.runId, signal.at[0]);
          if (signal.signal !== "model_closes") continue;
          expect(signal.at[0]).toBeGreaterThanOrEqual(opened.get(signal.runId) ?? Number.NaN);
        }
      }),
      RUNS,
    );
  });

  it("are the same for the same lines, and have one entry or count for each", () => {
    fc.assert(
      fc.property(intact, ({ lines }) => {
        const [first, again] = [
          new Reader().read(...lines).end(),
          new Reader().read(...lines).end(),
        ];
        expect(again.signals).toEqual(first.signals);
        expect(again.rows).toEqual(first.rows);
        const counted = [...first.mapping.unprojected.values()].reduce((sum, n) => sum + n, 0);
        const invoked = first.rows.filter(({ event }) => event.kind === "sub_agent_invoked");
        // Repeats of what the log holds have neither; sub-agents have an entry beside their call's.
        expect(first.rows.length + counted).toBeGreaterThanOrEqual(lines.length - repeats(lines));
        expect(first.rows.length + counted).toBeLessThanOrEqual(lines.length + invoked.length);
      }),
      RUNS,
    );
  });
});

/** What the task of an earlier run may still say. */
const late = fc.constantFrom<JsonObject>(
  { type: "cancelled", turn: 1, usage: USAGE },
  { type: "done", ...ENDED },
  { type: "error", message: "boom", recoverable: true },
  { type: "turn_complete", turn: 9, usage: USAGE },
  { type: "text_delta", message_id: "m", delta: "h" },
  { type: "text", message_id: "m", text: "hi" },
);

function repeats(lines: readonly JsonObject[]): number {
  return lines.filter(({ type, id }) => {
    const again = type === "tool_call_start" && id === "ask_2";
    return type === "thinking" || type === "refusal" || again;
  }).length;
}

describe("the signals of any broken stream", () => {
  it("never make the mapping throw, and close what is open at most once", () => {
    fc.assert(
      fc.property(broken, (lines) => {
        const reader = new Reader().read(...withoutRepeats(lines)).end();
        expectOrdered(reader.signals);
        for (const { at } of reader.signals) {
          expect(at.every((part) => Number.isSafeInteger(part) && part >= 0)).toBe(true);
        }
      }),
      RUNS,
    );
  });

  it("keep at most twice as many threads as were asked for", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 5 }),
        fc.array(fc.nat({ max: 50 }), { minLength: 1, maxLength: 200 }),
        (threads, names) => {
          const reader = new Reader({ threads });
          const lines = names.map((name, n) => ({
            event_id: `e${n}`,
            timestamp: "2026-06-05T10:00:00Z",
            type: "start",
            thread_id: `th-${name}`,
            turn: 2,
          }));
          reader.read(...lines);
          const opened = reader.signals.filter(({ signal }) => signal === "run_opens").length;
          expect(opened - reader.mapping.forgottenThreads).toBeLessThanOrEqual(2 * threads);
          expect(opened).toBeGreaterThanOrEqual(new Set(names).size);
        },
      ),
      RUNS,
    );
  });
});

describe("the spans of any broken stream", () => {
  it("end once each, and no report is made", async () => {
    await fc.assert(
      fc.asyncProperty(broken, async (lines) => {
        const { provider, started, ended } = collectSpans();
        const reports: unknown[] = [];
        const onError = (error: unknown) => void reports.push(error);
        const bridge = new Bridge({ mode: "replay", tracerProvider: provider, onError });
        const feed = playerOf(bridge, new AgentSdkMapping(), "default");
        for (const line of lines) {
          const { event, envelope } = eventOf(line);
          await feed.take(event, envelope);
        }
        await feed.end();
        await bridge.shutdown();
        expect(reports).toEqual([]);
        expect([...ended.keys()].sort()).toEqual([...started.keys()].sort());
        expect(new Set(ended.values())).toEqual(new Set(started.size === 0 ? [] : [1]));
        expect(bridge.diagnostics().openRuns).toBe(0);
      }),
      { numRuns: runs(150) },
    );
  });
});
