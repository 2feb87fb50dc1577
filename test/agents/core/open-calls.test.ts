import { describe, expect, it } from "vitest";
import type { ToolCall } from "../../../src/agents/writer/door.ts";
import { RunWriter } from "../../../src/agents/writer/door.ts";
import { AgentError, type AgentEvent } from "../../../src/index.ts";

function writing() {
  const events: AgentEvent[] = [];
  const keys: unknown[] = [];
  const run = { runId: "r1", rootRunId: "r1", tenantId: "acme" };
  const writer = new RunWriter(
    {
      send(event, { details }) {
        events.push(event);
        keys.push(details?.call_key);
      },
    },
    run,
  );
  const call = (toolUseId: string, tool = "look_up"): ToolCall => ({
    toolUseId,
    tool,
    startedMs: performance.now(),
  });
  return { call, events, keys, writer };
}

describe("the book of open calls", () => {
  it("gives a key to each further open call of an ID, and finds the calls in order", () => {
    const { call, writer } = writing();
    const [one, two, three] = [call("t1", "one"), call("t1", "two"), call("t1", "three")];
    for (const each of [one, two, three]) writer.toolStarted(each, null);
    expect(one.key).toBeUndefined();
    expect(new Set([two.key, three.key, undefined]).size).toBe(3);
    expect([...writer.open]).toEqual([one, two, three]);
    expect(writer.open.find("t1", ({ tool }) => tool === "two")).toBe(two);
    writer.open.moveToEnd(one);
    expect(writer.open.find("t1")).toBe(two);
    expect(writer.open.find("t2")).toBeUndefined();
  });

  it("drops the call that ended, also by a copy, and no other one", () => {
    const { call, writer } = writing();
    const [one, two] = [call("t1"), call("t1")];
    writer.toolStarted(one, null);
    writer.toolStarted(two, null);
    writer.toolCompleted({ ...two, durationMs: 3 }, null);
    expect([...writer.open]).toEqual([one]);
    writer.toolCompleted(one, null);
    expect(writer.open.size).toBe(0);
    const again = call("t1");
    writer.toolStarted(again, null);
    expect(again.key).toBeUndefined();
  });

  it("does not keep a call that was not made, but gives it a key if its ID is taken", () => {
    const { call, keys, writer } = writing();
    writer.toolStarted(call("t1"), null);
    const unmade = { input: null, code: "tool_unknown", text: null } as const;
    writer.toolNotMade(call("t1"), unmade);
    expect(keys).toEqual([undefined, expect.any(String), keys[1]]);
    expect(writer.open.size).toBe(1);
  });

  it("cuts all calls in the order of their starts", () => {
    const { call, events, writer } = writing();
    for (const id of ["t1", "t2", "t1"]) writer.toolStarted(call(id), null);
    writer.cutTools(AgentError.cancelled(), ({ toolUseId }) => ({ eventId: `end ${toolUseId}` }));
    const cut = events.slice(3);
    expect(cut.map((event) => event.type)).toEqual(["tool_error", "tool_error", "tool_error"]);
    expect(cut).toMatchObject([
      { tool_use_id: "t1" },
      { tool_use_id: "t2" },
      { tool_use_id: "t1" },
    ]);
    expect(writer.open.size).toBe(0);
  });
});
