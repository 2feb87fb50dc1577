import { describe, expect, it } from "vitest";
import { toGraphEvent } from "../../src/audit/event-rows.ts";
import { encodeGraphEvent } from "../../src/audit/wire/graph-event-codec.ts";
import { AGENT_EVENT_TYPES, type AgentEvent, parseExact } from "../../src/entries/events.ts";
import { isObject, readTimestamp } from "../../src/events/door.ts";
import { RunEvents } from "../support/run-events.ts";
import { goldenLines, lastField } from "./support/golden.ts";

/** The decoders of the dialect are not what is tested here: a known type is enough. */
function isAgentEvent(value: unknown): value is AgentEvent {
  return isObject(value) && AGENT_EVENT_TYPES.some((type) => type === value.type);
}

describe.each(["entelix_events.jsonl", "entelix_events_older_0_5.jsonl"])("%s", (name) => {
  const lines = goldenLines(name);

  it("projects every line as upstream does", () => {
    const projected: string[] = [];
    for (const line of lines) {
      const { event, timestamp, graph_event } = line.value;
      if (!isAgentEvent(event) || typeof timestamp !== "string") throw new Error(line.id);
      const mine = toGraphEvent(event, timestamp);
      if (graph_event === null) {
        expect(mine, line.id).toBeUndefined();
        continue;
      }
      projected.push(event.type);
      expect(mine, line.id).toEqual(graph_event);
      if (mine === undefined) continue;
      // Also through text: big integers to the last digit, the timestamp to the nanosecond.
      expect(parseExact(encodeGraphEvent(mine)), line.id).toEqual(
        parseExact(lastField(line, "graph_event")),
      );
      const instant = readTimestamp(timestamp);
      if (instant === undefined) throw new Error(line.id);
      expect(toGraphEvent(event, instant)).toEqual(graph_event);
    }
    expect(new Set(projected)).toEqual(new Set(["tool_start", "tool_complete", "tool_error"]));
  });
});

describe("toGraphEvent", () => {
  const base = { run_id: "r1", tenant_id: "acme", tool_use_id: "tu", tool: "t" } as const;

  it("writes the time in UTC with the fewest digits", () => {
    const event: AgentEvent = { ...base, type: "tool_start", input: {} };
    expect(toGraphEvent(event, "2026-04-29T21:00:00.120+09:00")?.timestamp).toBe(
      "2026-04-29T12:00:00.120Z",
    );
    expect(toGraphEvent(event, "2026-04-29T12:00:00.5Z")?.timestamp).toBe(
      "2026-04-29T12:00:00.500Z",
    );
    expect(toGraphEvent(event, [1, 1000])?.timestamp).toBe("1970-01-01T00:00:01.000001Z");
  });

  it("leaves no entry of a model event", () => {
    const run = new RunEvents("r1");
    for (const event of [run.modelStart("m"), run.modelComplete("m"), run.modelError("m")]) {
      expect(toGraphEvent(event, "no time at all")).toBeUndefined();
    }
  });

  it("gives null for an output or input that a JavaScript tool left undefined", () => {
    expect(
      toGraphEvent({ ...base, type: "tool_complete", duration_ms: 1, output: undefined }, [0, 0]),
    ).toMatchObject({ content: null });
    expect(toGraphEvent({ ...base, type: "tool_start", input: undefined }, [0, 0])).toMatchObject({
      input: null,
    });
  });

  it("says that somebody called the call off, and nothing of one that failed", () => {
    const run = new RunEvents("r1");
    expect(toGraphEvent(run.toolCancelled("c1"), [0, 0])).toMatchObject({
      is_error: true,
      cancelled: true,
    });
    expect(toGraphEvent(run.toolError("c1"), [0, 0])).not.toHaveProperty("cancelled");
    const untyped: AgentEvent = Object({ ...run.toolError("c1"), envelope: undefined });
    expect(toGraphEvent(untyped, [0, 0])).not.toHaveProperty("cancelled");
  });

  it("names the timestamp that is none, and only where one is needed", () => {
    expect(() => toGraphEvent({ ...base, type: "tool_start", input: {} }, "noon")).toThrow(
      'timestamp: expected an RFC 3339 time, got "noon"',
    );
    expect(
      toGraphEvent({ type: "started", run_id: "r", tenant_id: "t", agent: "a" }, "noon"),
    ).toBeUndefined();
  });
});
