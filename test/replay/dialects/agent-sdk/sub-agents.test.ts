import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../../../src/replay/dialects/dialect.ts";
import { derivedRunId } from "../../../../src/replay/dialects/mapping.ts";
import { brief, call, ENDED, lines, Reader, result, start } from "./reader.ts";

const progress = (more: JsonObject = {}): JsonObject => ({
  type: "subagent_progress",
  subagent_id: "explore_1",
  subagent_name: "explore",
  nickname: "Zara",
  child_thread_id: null,
  child_root_task_id: null,
  subagent_task_id: null,
  max_turns: 4,
  current_turn: 1,
  model: null,
  tool_name: "grep",
  tool_context: "",
  completed: false,
  success: false,
  tool_count: 1,
  total_tokens: 10,
  ...more,
});
const spawn = (id: string) => call(id, "subagent_explore");
const ended = (id: string, more: JsonObject = {}) => result(id, more, "subagent_explore");

function read(...events: readonly JsonObject[]): Reader {
  return new Reader().read(...lines(start(), ...events));
}

/** What is told of sub-agents: all runs but the first. */
function children(reader: Reader) {
  const parent = reader.signals[0]?.runId;
  return reader.signals.filter(({ runId }) => runId !== parent);
}

describe("a sub-agent", () => {
  it("is told whole at the end of its call, from as long before as it took", () => {
    const data = {
      name: "Explore",
      duration_ms: 250,
      success: true,
      total_turns: 2,
      tool_count: 1,
    };
    const reader = read(spawn("a"), ended("a", { data, duration_ms: 260 }));
    const [opens, closes] = children(reader);
    expect(opens && brief(opens)).toEqual({
      at: "10:00:01.750Z",
      signal: "run_opens",
      agent: "Explore",
      parentRunId: reader.signals[0]?.runId,
      parentCallId: "a",
      attributes: { "entelix.source": "agent-sdk" },
    });
    expect(opens?.runId).toBe(derivedRunId("default", "th/a", "e2"));
    expect(closes && brief(closes)).toEqual({
      at: "10:00:02Z",
      signal: "run_closes",
      end: {
        outcome: "complete",
        attributes: { "entelix.run.turns": 2, "entelix.usage.tool_calls": 1 },
      },
    });
    expect(reader.signals.at(-1)).toMatchObject({ signal: "call_closes", callId: "a" });
  });

  it("does not begin before its call, and lasts as long as that where nothing says how long", () => {
    const begins = (more: JsonObject) =>
      children(read(spawn("a"), ended("a", more))).map(brief)[0]?.at;
    expect(begins({ data: { duration_ms: 90_000 } })).toBe("10:00:01Z");
    expect(begins({ data: {}, duration_ms: null })).toBe("10:00:01Z");
    expect(begins({ data: {}, duration_ms: 400 })).toBe("10:00:01.600Z");
    const unseen = children(read(ended("a", { data: {}, duration_ms: null }))).map(brief);
    expect(unseen[0]?.at).toBe("10:00:01Z");
    const longest = children(read(ended("a", { data: {}, duration_ms: 2n ** 64n }))).map(brief);
    expect(longest[0]?.at).toBe("10:00:01Z");
  });

  it("that failed is unclassified, counted, and says why", () => {
    const data = { success: false, error_details: "out of turns" };
    const reader = read(spawn("a"), ended("a", { data, success: true }));
    expect(children(reader)[1]).toMatchObject({
      end: { outcome: "failed", kind: { type: "unclassified" }, message: "out of turns" },
    });
    expect(reader.mapping.counts.unclassifiedEnds).toBe(1);
    const told = children(read(spawn("a"), ended("a", { data: {}, success: false, output: "no" })));
    expect(told[1]).toMatchObject({ end: { outcome: "failed", message: "no" } });
  });

  it("is none where the call was blocked, nor in a tool of another name", () => {
    const blocked = { success: false, output: "Blocked: policy", duration_ms: null };
    expect(children(read(spawn("a"), ended("a", blocked)))).toEqual([]);
    expect(children(read(call("a"), result("a", { data: {} })))).toEqual([]);
    expect(children(read(call("a", "subagent_"), result("a", { data: {} }, "subagent_")))).toEqual(
      [],
    );
  });

  it("has its progress folded into it: count, thread and model", () => {
    const reader = read(
      spawn("a"),
      progress(),
      progress({ child_thread_id: "child-1", model: "claude-sonnet" }),
      progress({ child_thread_id: "child-2" }),
      ended("a"),
    );
    const [opens, closes] = children(reader);
    expect(opens).toMatchObject({
      threadId: "child-1",
      attributes: { "gen_ai.request.model": "claude-sonnet" },
    });
    expect(closes).toMatchObject({ end: { attributes: { "entelix.progress.count": 3 } } });
    expect(reader.signals.length).toBe(6);
  });

  it("is known to the audit log once: by its thread, else by the place of its call", () => {
    const invoked = (reader: Reader) =>
      reader.rows.map(({ event }) => event).filter(({ kind }) => kind === "sub_agent_invoked");
    const named = read(
      spawn("a"),
      progress({ child_thread_id: "child-1" }),
      progress({ child_thread_id: "child-1" }),
      ended("a", { data: {} }),
    );
    expect(invoked(named)).toEqual([
      {
        kind: "sub_agent_invoked",
        agent_id: "explore",
        sub_thread_id: "child-1",
        timestamp: "2026-06-05T10:00:02Z",
      },
    ]);
    expect(named.mapping.unprojected.get("subagent_progress")).toBe(1);
    const nameless = read(spawn("a"), ended("a", { data: {} }));
    expect(nameless.rows.map(({ event }) => event.kind)).toEqual([
      "tool_call",
      "sub_agent_invoked",
      "tool_result",
    ]);
    expect(invoked(nameless)).toMatchObject([{ sub_thread_id: "th/a" }]);
  });

  it("is told from others of its name by its id, once that is known, and never guessed", () => {
    const reader = read(
      spawn("a"),
      progress({ subagent_id: "explore_1" }),
      spawn("b"),
      progress({ subagent_id: "explore_2" }),
      progress({ subagent_id: "explore_2" }),
      progress({ subagent_id: "explore_1" }),
      spawn("c"),
      spawn("d"),
      progress({ subagent_id: "explore_3" }),
      progress({ subagent_id: "d" }),
      progress({ subagent_name: "plan" }),
      ...["a", "b", "c", "d"].map((id) => ended(id, { data: {} })),
    );
    const closes = children(reader).filter((each) => each.signal === "run_closes");
    expect(closes.map(({ end }) => end.attributes?.["entelix.progress.count"])).toEqual([
      2,
      2,
      undefined,
      1,
    ]);
    expect(reader.mapping.counts.unplacedProgress).toBe(2);
  });

  it("has an id of its own when its thread is named between two calls of the same id", () => {
    // Three lines before the thread's name and three after it, none with an id.
    const heard = [spawn("a"), progress({ completed: true }), ended("a")];
    const events = [...heard, start(2), ...heard].map((event, n) => ({
      sequence: n,
      timestamp: `2026-06-05T10:00:0${n}Z`,
      ...event,
    }));
    const reader = new Reader().read(...events);
    const opened = children(reader).filter(({ signal }) => signal === "run_opens");
    expect(opened.map(({ runId }) => runId)).toEqual([
      derivedRunId("default", "default/a", "2"),
      derivedRunId("default", "default/a", "6"),
    ]);
  });
});

describe("progress that names an open call by its id", () => {
  const counted = (reader: Reader) =>
    Object.fromEntries(
      reader.signals
        .filter((each) => each.signal === "call_closes")
        .map(({ callId, end }) => [callId, end.attributes?.["entelix.progress.count"]]),
    );

  it("belongs to that call, though another one has the sub-agent's name", () => {
    const plan = (id: string) => call(id, "subagent_plan");
    const reader = read(
      spawn("a"),
      plan("b"),
      progress({ subagent_id: "a", subagent_name: "plan" }),
      progress({ subagent_id: "a", subagent_name: "Explorer" }),
      progress({ subagent_id: "b", subagent_name: "plan" }),
      ended("a", { data: {} }),
      result("b", { data: {} }, "subagent_plan"),
    );
    expect(counted(reader)).toEqual({ a: 2, b: 1 });
    const opened = children(reader).filter((each) => each.signal === "run_opens");
    expect(opened).toMatchObject([
      { agent: "explore", parentCallId: "a" },
      { agent: "plan", parentCallId: "b" },
    ]);
    expect(reader.mapping.counts.unplacedProgress).toBe(0);
  });

  it("makes a sub-agent of a call of any tool", () => {
    const reader = read(
      call("a", "task"),
      progress({ subagent_id: "a", child_thread_id: "child-1" }),
      result("a", {}, "task"),
    );
    expect(counted(reader)).toEqual({ a: 1 });
    expect(children(reader)).toMatchObject([
      { signal: "run_opens", agent: "explore", parentCallId: "a", threadId: "child-1" },
      { signal: "run_closes", end: { outcome: "complete" } },
    ]);
    expect(reader.rows.map(({ event }) => event.kind)).toEqual([
      "tool_call",
      "sub_agent_invoked",
      "tool_result",
    ]);
  });

  it("is of no other call once that call has ended, until one has its id again", () => {
    const reader = read(
      spawn("a"),
      ended("a", { data: {} }),
      spawn("b"),
      progress({ subagent_id: "a" }),
      spawn("a"),
      progress({ subagent_id: "a" }),
      ended("a", { data: {} }),
      ended("b", { data: {} }),
    );
    expect(reader.mapping.counts.unplacedProgress).toBe(1);
    expect(counted(reader)).toEqual({ a: 1, b: undefined });
  });

  it("is of the call that was opened, and not of one without an id", () => {
    const reader = read(call("", "bash"), progress({ subagent_id: "" }), result("", {}, "bash"));
    expect(counted(reader)).toEqual({ "": undefined });
    expect(reader.mapping.counts.unplacedProgress).toBe(1);
  });

  it("is of its own tenant and thread, where the line names them", () => {
    const reader = new Reader().read(
      ...lines(
        { ...start(), thread_id: "th", tenant_id: "acme" },
        { ...spawn("a"), thread_id: "th", tenant_id: "acme" },
        { ...start(), thread_id: "th2", tenant_id: "acme" },
        { ...progress({ subagent_id: "a" }), thread_id: "th2", tenant_id: "acme" },
        { ...start(), thread_id: "th", tenant_id: "globex" },
        { ...progress({ subagent_id: "a" }), tenant_id: "globex" },
        { ...ended("a", { data: {} }), thread_id: "th", tenant_id: "acme" },
      ),
    );
    expect(reader.mapping.counts.unplacedProgress).toBe(2);
    expect(counted(reader)).toEqual({ a: undefined });
  });

  it("finds its thread among those that share a store, while the sub-agents' own runs go on", () => {
    const inThread = (thread: string) => ({ type: "start", thread_id: thread, turn: 1 });
    const reader = new Reader().read(
      ...lines(
        inThread("top"),
        spawn("a"),
        inThread("child"),
        spawn("b"),
        progress({ subagent_id: "a", child_thread_id: "child" }),
        inThread("grandchild"),
        progress({ subagent_id: "b", child_thread_id: "grandchild" }),
        progress({ subagent_id: "a", child_thread_id: "child" }),
        call("c"),
        result("c"),
        { type: "done", ...ENDED, thread_id: "grandchild" },
        ended("b", { data: {} }),
        { type: "done", ...ENDED, thread_id: "child" },
        progress({ subagent_id: "a", child_thread_id: "child" }),
        ended("a", { data: {} }),
      ),
    );
    expect(counted(reader)).toEqual({ a: 3, b: 1, c: undefined });
    const opens = reader.signals.filter((each) => each.signal === "run_opens");
    const runOf = (thread: string) =>
      opens.find((each) => each.threadId === thread && each.parentRunId === undefined)?.runId;
    const calls = reader.signals.filter((each) => each.signal === "call_opens");
    expect(calls.map(({ callId, runId }) => [callId, runId])).toEqual([
      ["a", runOf("top")],
      ["b", runOf("child")],
      ["c", runOf("grandchild")],
    ]);
    expect(new Set(calls.map(({ runId }) => runId)).size).toBe(3);
    expect(reader.mapping.counts.unplacedProgress).toBe(0);
  });

  it("is looked for among a bounded number of open calls: the oldest is forgotten, and counted", () => {
    const opened = Array.from({ length: 300 }, (_, n) => call(`c${n}`));
    const reader = read(
      ...opened,
      progress({ subagent_id: "c0" }),
      progress({ subagent_id: "c44" }),
    );
    expect(reader.mapping.counts).toMatchObject({ forgottenCalls: 44, unplacedProgress: 1 });
  });
});
