import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { GRAPH_EVENT_KINDS } from "./kinds.ts";
import {
  call,
  cancelled,
  checkpoint,
  errorRow,
  failedResult,
  interrupt,
  line,
  reply,
  result,
  resumed,
  subAgent,
  terminal,
  thinking,
  time,
  user,
} from "./log-lines.ts";
import { replayed, translated } from "./replayed.ts";

/** The run id as the documentation says that it is made. */
function derived(opening: string | number, stream = "th", tenant = "default"): string {
  const bytes = createHash("sha256").update(`${tenant}\0${stream}\0${opening}`).digest();
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x80;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return bytes.toString("hex", 0, 16).replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}

const at = (second: number) => [Date.parse(time(second)) / 1000, 0];

/** The signals of lines, in their order. */
function signals(...lines: readonly string[]) {
  return translated(lines).flatMap((each) => each.signals);
}

/** What matters in most tests: which signal, of which run. */
function outline(...lines: readonly string[]) {
  return signals(...lines).map(({ signal, runId }) => [signal, runId]);
}

/** How the runs ended, or may have. */
function ends(...lines: readonly string[]) {
  return signals(...lines).flatMap((each) =>
    each.signal === "run_closes" || each.signal === "run_may_end"
      ? [{ signal: each.signal, run: each.runId, at: each.at, ...each.end }]
      : [],
  );
}

describe("a turn", () => {
  it("reads as a run, its model calls and its tool calls", () => {
    const run = { tenantId: "default", runId: derived(0) };
    expect(
      signals(
        line(0, user()),
        line(1, reply("c1")),
        line(2, call("c1")),
        line(4, result("c1")),
        line(5, reply()),
      ),
    ).toEqual([
      {
        ...run,
        at: at(0),
        signal: "run_opens",
        threadId: "th",
        parentRunId: undefined,
        resumedFromRunId: undefined,
        attributes: { "entelix.source": "graph" },
      },
      {
        ...run,
        at: at(0),
        signal: "model_opens",
        attributes: { "entelix.model.start_inferred": true },
      },
      {
        ...run,
        at: at(1),
        signal: "model_closes",
        end: {
          outcome: "complete",
          attributes: { "gen_ai.usage.input_tokens": 10, "gen_ai.usage.output_tokens": 5 },
        },
      },
      { ...run, at: at(2), signal: "call_opens", callId: "c1", name: "fetch", content: { q: 1 } },
      {
        ...run,
        at: at(4),
        signal: "call_closes",
        callId: "c1",
        name: "fetch",
        durationMs: 0,
        end: { outcome: "complete", content: { found: 1 } },
      },
      {
        ...run,
        at: at(4),
        signal: "model_opens",
        attributes: { "entelix.model.start_inferred": true },
      },
      {
        ...run,
        at: at(5),
        signal: "model_closes",
        end: {
          outcome: "complete",
          attributes: { "gen_ai.usage.input_tokens": 10, "gen_ai.usage.output_tokens": 5 },
        },
      },
      { ...run, at: at(5), signal: "run_may_end", end: { outcome: "complete" } },
    ]);
  });

  it("ends with the next message, as it may have ended or superseded", () => {
    expect(
      ends(
        line(0, user()),
        line(1, call("c1")),
        line(2, user()),
        line(3, reply()),
        line(9, user()),
      ),
    ).toEqual([
      {
        signal: "run_closes",
        run: derived(0),
        at: at(1),
        outcome: "abandoned",
        reason: "superseded",
      },
      { signal: "run_may_end", run: derived(2), at: at(3), outcome: "complete" },
      { signal: "run_closes", run: derived(2), at: at(3), outcome: "complete" },
    ]);
  });

  it("that is given up for its age ends once: the next message is no second end", async () => {
    const lines = [
      line(0, user()),
      line(1, reply()),
      line(108_000, user()),
      line(108_001, reply()),
    ];
    const { diagnostics, trees } = await replayed(lines);
    expect(trees.map(({ attributes }) => attributes["entelix.run.outcome"])).toEqual([
      "complete",
      "complete",
    ]);
    expect(diagnostics.adjustments.aged_runs).toBe(1);
    expect(diagnostics.ignored.second_terminal).toBe(0);
  });

  it("goes on over a message that only answers tools", () => {
    const answer = {
      kind: "user_message",
      content: [{ type: "tool_result", tool_use_id: "c1", name: "fetch", content: 3 }],
    };
    const runs = outline(line(0, user()), line(1, reply("c1")), line(2, answer), line(3, reply()));
    expect(new Set(runs.map(([, run]) => run))).toEqual(new Set([derived(0)]));
    expect(runs).toContainEqual(["span_event", derived(0)]);
  });

  it("is not over while a call is open, whatever the reply says", () => {
    expect(ends(line(0, user()), line(1, call("c1")), line(2, reply()))).toEqual([]);
  });

  it("that another row than a message opens is marked so", () => {
    const [opens] = signals(line(0, result("c1")));
    expect(opens).toMatchObject({
      signal: "run_opens",
      attributes: { "entelix.source": "graph", "entelix.run.start_unseen": true },
    });
  });

  it("takes event ids for its run id where lines have them", () => {
    expect(outline(line(0, user(), { event_id: "e-9", tenant_id: "acme" }))).toEqual([
      ["run_opens", derived("e-9", "th", "acme")],
    ]);
  });

  it("of a line that names no thread is the thread's before, else `default`", () => {
    const bare = (second: number, event: object) =>
      JSON.stringify({ ...event, timestamp: time(second) });
    const all = signals(bare(0, user()), line(1, user()), bare(2, call("c1")));
    expect(all.map(({ runId }) => runId)).toEqual([derived(0, "default"), derived(0), derived(0)]);
    expect(all.map((each) => each.signal === "run_opens" && each.threadId)).toEqual([
      undefined,
      "th",
      false,
    ]);
  });

  it("of a line that names no thread is the thread's before at one time too", async () => {
    const nameless = { thread_id: null };
    const { trees } = await replayed([
      line(0, user()),
      line(0, call("c1"), nameless),
      line(0, user("other"), { thread_id: "other" }),
      line(0, reply(), nameless),
    ]);
    const children = (thread: string) =>
      trees
        .find(({ attributes }) => attributes["gen_ai.conversation.id"] === thread)
        ?.children.map(({ span }) => span);
    expect([children("th"), children("other")]).toEqual([["execute_tool fetch"], ["chat"]]);
  });
});

describe("a model call", () => {
  const calls = (...lines: readonly string[]) =>
    signals(...lines).flatMap<unknown[]>((each) => {
      if (each.signal === "model_opens") return [[each.signal, each.at, each.attributes]];
      return each.signal === "model_closes" ? [[each.signal, each.at, each.end.attributes]] : [];
    });
  const opened = { "entelix.model.start_inferred": true };
  const used = { "gen_ai.usage.input_tokens": 10, "gen_ai.usage.output_tokens": 5 };

  it("whose thinking nothing followed was cut, and lasted until then", async () => {
    const cut = ["model_closes", at(3), { "entelix.thinking.deltas": 2 }];
    const thoughts = [line(1, user()), line(2, thinking()), line(3, thinking())];
    expect(calls(...thoughts).at(-1)).toEqual(cut);
    expect(calls(...thoughts, line(9, user())).at(-1)).toEqual(cut);
    expect(signals(...thoughts).at(-1)).toMatchObject({ end: { outcome: "unfinished" } });
    const { trees } = await replayed(thoughts);
    expect(trees).toMatchObject([{ end: time(3), children: [{ span: "chat", end: time(3) }] }]);
  });

  it("holds the thinking before its reply", () => {
    expect(
      calls(line(0, user()), line(1, thinking()), line(2, thinking()), line(3, reply())),
    ).toEqual([
      ["model_opens", at(0), opened],
      ["model_closes", at(3), { ...used, "entelix.thinking.deltas": 2 }],
    ]);
  });

  it("ends with its last thought where a tool call follows and no reply was logged", () => {
    expect(
      calls(line(0, user()), line(1, thinking()), line(2, thinking()), line(9, call("c1"))),
    ).toEqual([
      ["model_opens", at(0), opened],
      ["model_closes", at(2), { "entelix.thinking.deltas": 2 }],
    ]);
  });

  it("is not parted from its reply by what the provider says beside it", () => {
    const warning = { kind: "warning", warning: { kind: "unknown_stop_reason", raw: "x" } };
    expect(calls(line(0, user()), line(3, warning), line(4, reply()))).toEqual([
      ["model_opens", at(0), opened],
      ["model_closes", at(4), used],
    ]);
  });

  it("that opens the log has no length", () => {
    expect(calls(line(4, reply()))).toEqual([
      ["model_opens", at(4), opened],
      ["model_closes", at(4), used],
    ]);
  });

  it("that an error cut short failed", () => {
    const all = signals(line(0, user()), line(1, thinking()), line(2, errorRow("provider")));
    expect(all.find((each) => each.signal === "model_closes")).toMatchObject({
      at: at(2),
      end: {
        problem: { type: "provider", message: "boom" },
        attributes: { "entelix.thinking.deltas": 1 },
      },
    });
  });
});

describe("ends", () => {
  it("come with the rows that name them, and wait for trailing rows", () => {
    expect(
      ends(line(0, user()), line(1, call("c1")), line(2, terminal), line(3, failedResult("c1"))),
    ).toEqual(
      [2, 3].map((second) => ({
        signal: "run_may_end",
        run: derived(0),
        at: at(second),
        outcome: "failed",
        kind: { type: "tool_error_terminal", kind: "auth", tool_name: "fetch" },
        message: "",
      })),
    );
  });

  it("give the class of a tool's error where it is known before the result", () => {
    const problem = (...lines: readonly string[]) =>
      signals(...lines).flatMap((each) => (each.signal === "call_closes" ? [each.end] : []));
    const other = { ...terminal, tool_name: "other" };
    expect(problem(line(1, call("c1")), line(2, terminal), line(3, failedResult("c1")))).toEqual([
      { outcome: "error", kind: "auth", message: "" },
    ]);
    expect(problem(line(1, call("c1")), line(2, other), line(3, failedResult("c1")))).toEqual([
      { outcome: "error", kind: undefined, message: "" },
    ]);
  });

  it("by an error are none where the run goes on", () => {
    expect(ends(line(0, user()), line(1, errorRow("serde")), line(2, reply()))).toMatchObject([
      { signal: "run_may_end", outcome: "failed", kind: { type: "internal" }, message: "boom" },
      { signal: "run_may_end", outcome: "complete", at: at(2) },
    ]);
  });

  it.each([
    ["provider", { outcome: "failed", kind: { type: "model_dispatch" } }],
    ["model_retry", { outcome: "failed", kind: { type: "model_dispatch" } }],
    ["deadline_exceeded", { outcome: "failed", kind: { type: "deadline_exceeded" } }],
    ["usage_limit_exceeded", { outcome: "failed", kind: { type: "usage_limit_exceeded" } }],
    ["transport", { outcome: "failed", kind: { type: "model_dispatch" } }],
    ["auth", { outcome: "failed", kind: { type: "model_dispatch" } }],
    ["invalid_request", { outcome: "failed", kind: { type: "internal" } }],
    ["config", { outcome: "failed", kind: { type: "internal" } }],
    ["serde", { outcome: "failed", kind: { type: "internal" } }],
    ["cancelled", { outcome: "failed", kind: { type: "cancelled" } }],
    ["interrupted", { outcome: "interrupted", message: "boom" }],
    ["tool_error_terminal", { outcome: "failed", kind: { type: "unclassified" } }],
    ["brand_new", { outcome: "failed", kind: { type: "unclassified" } }],
  ])("by an error of class %s are %j", (name, end) => {
    expect(ends(line(0, user()), line(1, errorRow(name)))).toMatchObject([end]);
  });

  it("by a breach say which, with a decimal as it was written", () => {
    const breach = { axis: "cost_usd", limit: "0.50", observed: "0.5125" };
    expect(ends(line(0, user()), line(1, { kind: "usage_limit_exceeded", breach }))).toEqual([
      {
        signal: "run_may_end",
        run: derived(0),
        at: at(1),
        outcome: "failed",
        kind: { type: "usage_limit_exceeded" },
        message: "cost_usd: observed 0.5125, limit 0.50",
        envelope: { wire_code: "quota_exceeded", wire_class: "client" },
        attributes: {
          "entelix.breach.axis": "cost_usd",
          "entelix.breach.limit": "0.50",
          "entelix.breach.observed": "0.5125",
        },
      },
    ]);
  });

  it("that came first stay: an error after a cancel is the cancel's", () => {
    const all = ends(line(0, user()), line(1, cancelled), line(2, errorRow("provider")));
    expect(all.map((end) => end.outcome === "failed" && end.kind.type)).toEqual(
      all.map(() => "cancelled"),
    );
    expect(all.at(-1)?.at).toEqual(at(2));
  });

  it("leave what works on to another run", () => {
    expect(outline(line(0, user()), line(1, cancelled), line(2, call("c1")))).toEqual([
      ["run_opens", derived(0)],
      ["run_may_end", derived(0)],
      ["run_closes", derived(0)],
      ["run_opens", derived(2)],
      ["call_opens", derived(2)],
    ]);
  });
});

describe("pauses", () => {
  const opened = (...lines: readonly string[]) =>
    signals(...lines).flatMap((each) => (each.signal === "run_opens" ? [each] : []));

  it("are resumed from the thread's last paused run", () => {
    const [, second] = opened(line(0, user()), line(1, interrupt), line(2, resumed()));
    expect(second).toMatchObject({ runId: derived(2), resumedFromRunId: derived(0) });
    expect(second?.attributes).toEqual({ "entelix.source": "graph" });
  });

  it("are resumed from the run that made the checkpoint, whatever paused since", () => {
    const all = opened(
      line(0, user()),
      line(1, checkpoint("cp-1")),
      line(2, reply()),
      line(3, user()),
      line(4, interrupt),
      line(5, resumed("cp-1")),
    );
    expect(all[2]).toMatchObject({
      resumedFromRunId: derived(0),
      attributes: { "entelix.resumed.checkpoint": "cp-1" },
    });
  });

  it("that only a tool's answer tells of are no failures", () => {
    const paused = failedResult("c1", { content: "awaiting human review" });
    const all = signals(line(0, user()), line(1, call("c1")), line(2, paused));
    expect(all.slice(-2)).toMatchObject([
      { signal: "call_closes", end: { outcome: "interrupted" } },
      { signal: "run_may_end", end: { outcome: "interrupted" } },
    ]);
  });

  it("of a run that its row names go on as its next segment", () => {
    const named = { run_id: "r1", trace_id: null };
    expect(
      outline(line(0, call("c1"), named), line(1, interrupt, named), line(2, resumed(), named)),
    ).toEqual([
      ["run_opens", "r1"],
      ["call_opens", "r1"],
      ["run_may_end", "r1"],
      ["run_closes", "r1"],
      ["run_opens", "r1"],
      ["span_event", "r1"],
    ]);
  });
});

describe("sub-agents", () => {
  const dispatched = [
    line(0, user()),
    line(1, call("c1", "team")),
    line(2, subAgent("team")),
  ] as const;
  const child = derived(2, "th/c1");

  it("get a run under the call that is named like them, and have the rows meanwhile", () => {
    const all = outline(...dispatched, line(3, call("c1")), line(4, result("c1")));
    expect(all.slice(3)).toEqual([
      ["run_opens", child],
      ["call_opens", child],
      ["call_closes", child],
    ]);
    expect(signals(...dispatched)[3]).toMatchObject({
      agent: "team",
      parentRunId: derived(0),
      parentCallId: "c1",
      threadId: "sub",
    });
  });

  it.each([
    [{ content: "ok", is_error: false }, { outcome: "complete" }],
    [
      { content: "no", is_error: true },
      { outcome: "failed", kind: { type: "unclassified" } },
    ],
    [{ content: "awaiting human review", is_error: true }, { outcome: "interrupted" }],
  ])("end with the result %j of their call: %j", (more, end) => {
    const all = ends(...dispatched, line(5, result("c1", { name: "team", ...more })));
    expect(all[0]).toMatchObject({ signal: "run_closes", run: child, at: at(5), ...end });
  });

  it("fail level by level where each level writes its terminal row", () => {
    const all = ends(
      ...dispatched,
      line(3, call("c1")),
      line(4, terminal),
      line(5, failedResult("c1")),
      line(6, terminal),
      line(7, failedResult("c1", { name: "team" })),
    );
    expect(all.map(({ run, signal }) => [signal, run])).toEqual([
      ["run_may_end", child],
      ["run_may_end", child],
      ["run_may_end", derived(0)],
      ["run_closes", child],
      ["run_may_end", derived(0)],
    ]);
    expect(new Set(all.map((end) => end.outcome === "failed" && end.kind.type))).toEqual(
      new Set(["tool_error_terminal"]),
    );
  });

  it("leave to their caller the calls that its reply asked for", () => {
    const asked = reply("c1", "c2");
    const all = outline(
      line(0, user()),
      line(1, asked),
      line(2, call("c1")),
      line(3, subAgent("fetch")),
      line(4, call("c2")),
      line(5, call("c9")),
    );
    expect(all.filter(([signal]) => signal === "call_opens").map(([, run]) => run)).toEqual([
      derived(0),
      derived(0),
      derived(3, "th/c1"),
    ]);
  });

  it("are not guessed between: with two at work a row is the caller's", () => {
    const all = outline(
      ...dispatched,
      line(3, call("c2", "crew"), {}),
      line(4, subAgent("crew")),
      line(5, call("c3")),
    );
    // The second call is read as the first sub-agent's, whose rows these are as long as it is alone.
    expect(all.at(-1)).toEqual(["call_opens", derived(4, "th/c1/c2")]);
    const asked = {
      ...reply(),
      content: [{ type: "tool_use", id: "c2", name: "crew", input: {} }],
    };
    const parallel = outline(
      line(0, user()),
      line(1, asked),
      line(2, call("c1", "team")),
      line(3, subAgent("team")),
      line(4, call("c2", "crew")),
      line(5, subAgent("crew")),
      line(6, call("c3")),
    );
    expect(parallel.at(-1)).toEqual(["call_opens", derived(0)]);
  });

  it("leave only a note where no call dispatched them", () => {
    expect(outline(line(0, user()), line(1, subAgent("team")))).toEqual([
      ["run_opens", derived(0)],
      ["span_event", derived(0)],
    ]);
  });

  it("have the rows of their own log, and its later turns sit beside them", () => {
    const own = { thread_id: "sub" };
    const all = outline(
      ...dispatched,
      line(3, user(), own),
      line(4, call("c5"), own),
      line(5, call("c6")),
      line(6, user(), own),
    );
    expect(all.slice(4)).toEqual([
      ["call_opens", child],
      ["call_opens", derived(0)],
      ["run_closes", child],
      ["run_opens", derived(2, "sub")],
    ]);
  });

  it("are cancelled with their turn", () => {
    expect(ends(...dispatched, line(3, cancelled)).map(({ run }) => run)).toEqual([
      child,
      derived(0),
    ]);
  });
});

describe("rows that name their run", () => {
  const ROOT = "018f3c7a-0000-7000-8000-000000000002";
  const TRACE = ROOT.replaceAll("-", "");
  const root = { run_id: ROOT, trace_id: TRACE };
  const none = { run_id: null };
  const child = (id: string) => ({ run_id: id, trace_id: TRACE });

  it("open that run, and the message before them is its", () => {
    expect(outline(line(0, user(), none), line(1, call("c1"), root))).toEqual([
      ["run_opens", ROOT],
      ["call_opens", ROOT],
    ]);
    expect(signals(line(0, user(), none), line(1, call("c1"), root))[0]).toMatchObject({
      at: at(0),
      attributes: { "entelix.source": "graph" },
    });
  });

  it("do not wait for each other for ever: the end gives the message a run of its own", () => {
    const all = translated([line(0, user(), none), line(1, reply(), none)]);
    expect(all.map((each) => each.signals.length)).toEqual([0, 0, 4]);
    expect(all[2]?.signals[0]).toMatchObject({ signal: "run_opens", runId: derived(0) });
    expect(all[2]?.rows.map(({ event }) => event.kind)).toEqual([
      "user_message",
      "assistant_message",
    ]);
  });

  it("give up the message before, and not their own, where nobody named its run", () => {
    const all = outline(
      line(0, user(), none),
      line(1, reply(), none),
      line(2, user(), none),
      line(3, call("c1"), root),
    );
    expect(all).toEqual([
      ["run_opens", derived(0)],
      ["model_opens", derived(0)],
      ["model_closes", derived(0)],
      ["run_may_end", derived(0)],
      ["run_closes", derived(0)],
      ["run_opens", ROOT],
      ["call_opens", ROOT],
    ]);
  });

  it("wait at most 64 to a thread", () => {
    const lines = [
      line(0, user(), none),
      ...Array.from({ length: 70 }, (_, n) => line(n + 1, thinking(), none)),
    ];
    const all = translated(lines);
    expect(all.findIndex((each) => each.signals.length > 0)).toBe(64);
    expect(all.flatMap((each) => each.rows)).toHaveLength(71);
  });

  it("use the ordinal in the log for ids, so that a log cut at its head gives the same", () => {
    const [opens] = signals(line(0, user(), { ...none, ordinal: 41 }));
    expect(opens?.runId).toBe(derived(40));
  });

  it("of another run in the trace sit under the run that dispatched a sub-agent", () => {
    const all = signals(
      line(0, call("c1", "team"), root),
      line(1, subAgent("team"), root),
      line(2, call("c7"), child("r1")),
      line(3, result("c7"), child("r1")),
      line(4, result("c1", { name: "team" }), root),
    );
    expect(all[3]).toMatchObject({
      signal: "run_opens",
      runId: "r1",
      agent: "team",
      parentRunId: ROOT,
      parentCallId: "c1",
      attributes: { "entelix.parent.inferred": true },
    });
    expect(all.slice(-2)).toMatchObject([
      { signal: "run_may_end", runId: "r1", at: at(4), end: { outcome: "complete" } },
      { signal: "call_closes", runId: ROOT },
    ]);
  });

  it("sit under the run that their thread was named for, of several", () => {
    const all = signals(
      line(0, call("c1", "a"), root),
      line(1, call("c2", "b"), root),
      line(2, subAgent("a", "th-a"), root),
      line(3, subAgent("b", "th-b"), root),
      line(4, call("c7"), { ...child("r2"), thread_id: "th-b" }),
      line(5, call("c8"), { ...child("r1"), thread_id: "th-a" }),
    );
    const opens = all.filter((each) => each.signal === "run_opens").slice(1);
    expect(opens).toMatchObject([
      { runId: "r2", parentRunId: ROOT, parentCallId: "c2", agent: "b" },
      { runId: "r1", parentRunId: ROOT, parentCallId: "c1", agent: "a" },
    ]);
  });

  it("sit under their parent without a call where several could be theirs", () => {
    const all = signals(
      line(0, call("c1", "a"), root),
      line(1, call("c2", "b"), root),
      line(2, subAgent("a"), root),
      line(3, subAgent("b"), root),
      line(4, call("c7"), child("r1")),
    );
    expect(all.at(-2)).toMatchObject({
      signal: "run_opens",
      parentRunId: ROOT,
      parentCallId: undefined,
      agent: undefined,
    });
  });

  it("sit under the only run with an open call, else under the root of their trace", () => {
    const parents = (...lines: readonly string[]) =>
      signals(...lines).flatMap((each) => (each.signal === "run_opens" ? [each.parentRunId] : []));
    expect(parents(line(0, call("c1"), root), line(1, call("c2"), child("r1")))).toEqual([
      undefined,
      ROOT,
    ]);
    expect(
      parents(
        line(0, call("c1"), root),
        line(1, call("c2"), child("r1")),
        line(2, call("c3"), child("r2")),
      ),
    ).toEqual([undefined, ROOT, ROOT]);
    // The root left no row: its run id is the trace id.
    expect(parents(line(0, call("c1"), child("r1")))).toEqual([ROOT]);
  });

  it("are kept apart by tenant", () => {
    const all = outline(
      line(0, call("c1"), { ...root, tenant_id: "acme" }),
      line(1, call("c1"), { ...root, tenant_id: "globex" }),
    );
    expect(all.map(([signal]) => signal)).toEqual([
      "run_opens",
      "call_opens",
      "run_opens",
      "call_opens",
    ]);
  });
});

describe("rows of the audit side", () => {
  it("are the lines' own events, with the ids that the lines have", () => {
    const row = { run_id: "r1", trace_id: "a".repeat(32), span_id: "b".repeat(16), event_id: "e1" };
    const [taken] = translated([line(0, call("c1"), row)]);
    expect(taken).toMatchObject({ tenantId: "default", threadId: "th" });
    expect(taken?.rows).toEqual([
      {
        runId: "r1",
        event: { ...call("c1"), timestamp: time(0) },
        eventId: "e1",
        traceId: "a".repeat(32),
        spanId: "b".repeat(16),
      },
    ]);
  });

  it("take an event of an unknown kind as it is", () => {
    const event = { kind: "brand_new", more: 1 };
    const [taken] = translated([line(0, event)]);
    expect(taken?.rows.map((each) => each.event)).toEqual([{ ...event, timestamp: time(0) }]);
    expect(taken?.signals[1]).toMatchObject({
      signal: "span_event",
      name: "entelix.graph.unknown",
      attributes: { "entelix.graph.kind": "brand_new" },
    });
  });

  it("are not made where nobody wants them, which changes no signal", () => {
    const lines = [user(), call("c1"), { kind: "brand_new" }, call("c2")].map((event, second) =>
      line(second, event),
    );
    const [wanted, unwanted] = [translated(lines), translated(lines, false)];
    expect(wanted.flatMap(({ rows }) => rows)).toHaveLength(4);
    expect(unwanted.flatMap(({ rows }) => rows)).toEqual([]);
    expect(unwanted.map((each) => each.signals)).toEqual(wanted.map((each) => each.signals));
  });

  it("never take the id of the line that they waited for", () => {
    const all = translated([
      line(0, user(), { run_id: null }),
      line(1, call("c1"), { run_id: "r1", event_id: "e1" }),
    ]);
    expect(all[1]?.rows.map(({ eventId }) => eventId)).toEqual(["", "e1"]);
  });
});

describe("every kind", () => {
  it("has its signals", () => {
    const all = GRAPH_EVENT_KINDS.map(([kind, event]) => [
      kind,
      signals(line(0, user()), line(1, event))
        .slice(1)
        .map((each) =>
          each.signal === "span_event" ? `${each.signal} ${each.name}` : each.signal,
        ),
    ]);
    expect(Object.fromEntries(all)).toEqual({
      user_message: ["run_closes", "run_opens"],
      assistant_message: ["model_opens", "model_closes", "run_may_end"],
      context_compacted: ["span_event entelix.context_compacted", "attributes"],
      tool_call: ["call_opens"],
      tool_result: ["call_closes"],
      branch_created: ["span_event entelix.branch"],
      checkpoint_marker: ["span_event entelix.checkpoint"],
      warning: ["span_event entelix.warning", "attributes"],
      thinking_delta: ["model_opens", "model_closes"],
      rate_limit: ["span_event entelix.rate_limit", "attributes"],
      interrupt: ["run_may_end"],
      cancelled: ["run_may_end"],
      sub_agent_invoked: ["span_event entelix.sub_agent"],
      agent_handoff: ["span_event entelix.handoff", "attributes"],
      resumed: ["span_event entelix.resumed"],
      memory_recall: ["span_event entelix.memory_recall", "attributes"],
      usage_limit_exceeded: ["run_may_end"],
      tool_error_terminal: ["run_may_end"],
      error: ["span_event entelix.error", "attributes", "run_may_end"],
    });
  });
});
