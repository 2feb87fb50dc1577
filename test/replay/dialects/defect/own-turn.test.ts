import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { defectDialect } from "../../../../src/replay/dialects/defect/defect-dialect.ts";
import { DefectMapping } from "../../../../src/replay/dialects/defect/defect-mapping.ts";
import type { JsonObject } from "../../../../src/replay/dialects/dialect.ts";
import { type Recording, recordedLines, recordings } from "./recordings.ts";
import { decoded, replayed, translated } from "./replayed.ts";

/** The session's own events, those that `which` says, as `subagent` events without ancestors. */
function wrapped(recording: Recording, which: (index: number) => boolean): JsonObject[] {
  const events = recording.events.map((entry, index) => {
    if (entry.event.type === "subagent" || !which(index)) return entry;
    const event = { type: "subagent", ancestor_path: [], agent_type: "top", inner: entry.event };
    return { ...entry, event };
  });
  return recordedLines({ ...recording, events });
}

function told(lines: readonly JsonObject[]) {
  const { mapping, rows, signals } = translated(lines);
  return { rows, signals, counts: mapping.counts, unprojected: [...mapping.unprojected] };
}

describe("an event whose ancestor_path is empty", () => {
  it.each(recordings())("is one of the session's own turn: $name", async (recording) => {
    const plain = recordedLines(recording);
    fc.assert(
      fc.property(fc.array(fc.boolean(), { minLength: 1 }), (mask) => {
        const lines = wrapped(recording, (index) => mask[index % mask.length] ?? false);
        expect(told(lines)).toEqual(told(plain));
      }),
      { numRuns: 30, examples: [[[true]]] },
    );
    const [made, again] = await Promise.all([
      replayed(plain),
      replayed(wrapped(recording, () => true)),
    ]);
    expect(again.trees).toEqual(made.trees);
  });

  it("names no run: the one that it opens has no agent and no parent", () => {
    const at = { timestamp: "2026-06-12T10:00:00Z", session_id: "s" };
    const inner = { type: "turn_started" };
    const line = { ...at, type: "subagent", ancestor_path: [], agent_type: "top", inner };
    const { signals } = translated([line]);
    const opened = signals.filter((signal) => signal.signal === "run_opens");
    expect(
      opened.map(({ agent, parentRunId, threadId }) => [agent, parentRunId, threadId]),
    ).toEqual([[undefined, undefined, "s"]]);
  });

  it("of a type that is not known is a sign of life of that turn", () => {
    const at = { timestamp: "2026-06-12T10:00:00Z", session_id: "s" };
    const mapping = new DefectMapping();
    const opening = decoded([{ ...at, type: "turn_started" }]).map(({ event, envelope }) =>
      mapping.translate(event, envelope),
    );
    const inner = { type: "brand_new" };
    const line = { ...at, type: "subagent", ancestor_path: [], agent_type: "top", inner };
    const decodedLine = defectDialect.decode(line);
    expect(decodedLine).toMatchObject({ outcome: "unknown", unknown: "subagent/brand_new" });
    const heard = mapping.keepAlive(line, { timestamp: [1_781_258_401, 0], session_id: "s" });
    expect(heard).toMatchObject({ signal: "activity", runId: opening[0]?.signals[0]?.runId });
  });
});
