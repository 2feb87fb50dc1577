import { describe, expect, it } from "vitest";
import { AgentSdkMapping } from "../../../../src/replay/dialects/agent-sdk/agent-sdk-mapping.ts";
import type { JsonObject } from "../../../../src/replay/dialects/dialect.ts";
import { derivedRunId } from "../../../../src/replay/dialects/mapping.ts";
import {
  brief,
  call,
  confirm,
  done,
  ENDED,
  lines,
  Reader,
  result,
  start,
  text,
  turnComplete,
  USAGE,
} from "./reader.ts";

const prompt = (more: JsonObject = {}): JsonObject => ({
  type: "user_input",
  thread_id: "th",
  content: [],
  ...more,
});
const error = (more: JsonObject = {}): JsonObject => ({
  type: "error",
  message: "boom",
  recoverable: true,
  ...more,
});

function read(...events: readonly JsonObject[]): Reader {
  return new Reader().read(...lines(...events));
}

/** Which signals came, of runs only, with their run as A, B, … */
function runs(reader: Reader): string[] {
  const names = new Map<string, string>();
  return reader.signals
    .filter(({ signal }) => signal.startsWith("run_"))
    .map((signal) => {
      const name = names.get(signal.runId) ?? String.fromCharCode(65 + names.size);
      names.set(signal.runId, name);
      const end = "end" in signal ? ` ${signal.end.outcome}` : "";
      return `${name} ${signal.signal}${end}`;
    });
}

function last(reader: Reader) {
  return reader.signals.slice(-1).map(brief)[0];
}

describe("where a run begins", () => {
  it("is its prompt, with the ids made of that", () => {
    const { signals } = read(prompt(), start(), text(), turnComplete(), done);
    expect(signals[0]).toMatchObject({
      signal: "run_opens",
      runId: derivedRunId("default", "th", "e0"),
      threadId: "th",
      tenantId: "default",
      attributes: { "entelix.source": "agent-sdk" },
    });
    expect(new Set(signals.map(({ runId }) => runId)).size).toBe(1);
  });

  it("is the first turn without a prompt; a later turn goes on with it", () => {
    const reader = read(start(1), text(), turnComplete(1), start(2), text(), turnComplete(2), done);
    expect(runs(reader)).toEqual(["A run_opens", "A run_closes complete"]);
  });

  it("is any turn after a terminal", () => {
    const reader = read(start(1), text(), turnComplete(1), done, start(7), text(), done);
    expect(runs(reader)).toEqual([
      "A run_opens",
      "A run_closes complete",
      "B run_opens",
      "B run_closes complete",
    ]);
  });

  it("is a first turn while another run is open, which nobody ended", () => {
    const reader = read(start(1), start(1), done);
    expect(runs(reader)).toEqual([
      "A run_opens",
      "A run_closes abandoned",
      "B run_opens",
      "B run_closes complete",
    ]);
    // When it was last heard of, which may be hours before the next prompt.
    expect(reader.signals.slice(2, 4).map(brief)).toMatchObject([
      { at: "10:00:00Z", signal: "model_closes", end: { outcome: "unfinished" } },
      { at: "10:00:00Z", end: { reason: "superseded" } },
    ]);
  });

  it("is a prompt while another run is open", () => {
    const reader = read(prompt(), start(1), prompt(), start(1), done);
    expect(runs(reader).slice(0, 3)).toEqual([
      "A run_opens",
      "A run_closes abandoned",
      "B run_opens",
    ]);
    expect(reader.rows.map(({ runId }) => runId)).toEqual([
      derivedRunId("default", "th", "e0"),
      derivedRunId("default", "th", "e2"),
    ]);
  });

  it("is not a first turn that the same task tries again", () => {
    const mine = { emitter_task_id: "task-1" };
    const reader = read(prompt(), start(1, mine), start(1, mine), done);
    expect(runs(reader)).toEqual(["A run_opens", "A run_closes complete"]);
    const other = read(start(1, mine), start(1, { emitter_task_id: "task-2" }));
    expect(runs(other)).toEqual(["A run_opens", "A run_closes abandoned", "B run_opens"]);
  });

  it("is not a prompt that a server puts into a run that goes on", () => {
    const reader = read(start(1), text(), prompt({ emitter_task_id: "task-9" }), done);
    expect(runs(reader)).toEqual(["A run_opens", "A run_closes complete"]);
    expect(reader.signals[2]).toMatchObject({ signal: "span_event", name: "entelix.user_input" });
  });

  it("goes on with a later turn, which may be a task of its own", () => {
    const task = (n: number) => ({ emitter_task_id: `task-${n}` });
    const turn = (n: number) => [
      start(n, task(n)),
      { ...text(), ...task(n) },
      { ...turnComplete(n), ...task(n) },
    ];
    const reader = read(...turn(1), ...turn(2), { ...done, ...task(2) });
    expect(runs(reader)).toEqual(["A run_opens", "A run_closes complete"]);
    expect(reader.mapping.counts.lateEvents).toBe(0);
  });

  it("is not touched by what the task before has still to say", () => {
    const task = (n: number) => ({ emitter_task_id: `task-${n}` });
    const cancelled = { type: "cancelled", turn: 1, usage: USAGE, ...task(1) };
    const late = [{ ...text("m9"), ...task(1) }, { ...turnComplete(1), ...task(1) }, cancelled];
    const first = [prompt(), start(1, task(1)), cancelled];
    // Before the next task has begun its turn, and after.
    for (const next of [
      [prompt(), ...late, start(2, task(2))],
      [prompt(), start(2, task(2)), ...late],
    ]) {
      const reader = read(...first, ...next, text(), { ...turnComplete(2), ...task(2) }, done);
      expect(runs(reader)).toEqual([
        "A run_opens",
        "A run_closes failed",
        "B run_opens",
        "B run_closes complete",
      ]);
      expect(reader.mapping.counts.lateEvents).toBe(3);
      const [runA, runB] = ["e0", "e3"].map((id) => derivedRunId("default", "th", id));
      expect(reader.rows.map(({ runId, event }) => [runId, event.kind])).toEqual([
        [runA, "user_message"],
        [runA, "cancelled"],
        [runB, "user_message"],
        [runA, "assistant_message"],
        [runA, "cancelled"],
        [runB, "assistant_message"],
      ]);
      const model = reader.signals.filter(({ runId, signal }) => {
        return runId === runB && signal === "model_closes";
      });
      expect(model).toMatchObject([{ end: { attributes: { "gen_ai.usage.input_tokens": 10 } } }]);
    }
  });

  it("is not touched either where nothing was seen of the task before", () => {
    const mine = { emitter_task_id: "task-2" };
    const other = { ...error({ recoverable: false }), emitter_task_id: "task-1" };
    const reader = read(start(2, mine), other, text(), { ...turnComplete(2), ...mine }, done);
    expect(runs(reader)).toEqual(["A run_opens", "A run_closes complete"]);
    expect(reader.mapping.counts.lateEvents).toBe(1);
  });

  it("is a later turn where the agent was called anew after an error, or in place of an answer", () => {
    const anew = (...before: readonly JsonObject[]) => [
      ...lines(...before),
      ...lines(start(2), text(), turnComplete(2), done).map((line, n) => ({
        ...line,
        event_id: `later-${n}`,
      })),
    ];
    const failed = new Reader().read(...anew(start(1), error()));
    expect(runs(failed)).toEqual([
      "A run_opens",
      "A run_may_end failed",
      "A run_closes failed",
      "B run_opens",
      "B run_closes complete",
    ]);
    const waiting = new Reader().read(...anew(start(1), call("tu_1"), confirm("tu_1")));
    expect(runs(waiting)).toEqual([
      "A run_opens",
      "A run_may_end interrupted",
      "A run_closes interrupted",
      "B run_opens",
      "B run_closes complete",
    ]);
    // Called for each turn of one run, it numbers its events so too.
    const stepped = new Reader().read(...anew(start(1), error(), turnComplete(1)));
    expect(runs(stepped).slice(-1)).toEqual(["A run_closes complete"]);
    // A server goes on with its numbers: what it tries again is one run.
    expect(runs(read(start(1), error(), start(2), done)).at(-1)).toBe("A run_closes complete");
  });

  it("is the end of one that was refused before its first turn, where none is open", () => {
    const spent = { type: "budget_exceeded", limit: "total_tokens", ...ENDED };
    const first = (event: JsonObject) => ({ ...event, event_id: "refused", sequence: 0 });
    const reader = read(start(1), done, first(spent), start(2), done);
    expect(runs(reader)).toEqual([
      "A run_opens",
      "A run_closes complete",
      "B run_opens",
      "B run_closes failed",
      "C run_opens",
      "C run_closes complete",
    ]);
    expect(reader.mapping.counts.lateEvents).toBe(0);
    expect(runs(read(first(error({ recoverable: false }))))).toEqual([
      "A run_opens",
      "A run_closes failed",
    ]);
    // A run that is open, such as one that is called for each turn, ends with it.
    expect(runs(read(start(1), turnComplete(1), first(spent)))).toEqual([
      "A run_opens",
      "A run_closes failed",
    ]);
  });

  it("is not known where its first line is not: the lifecycle is told so", () => {
    const reader = read(text(), turnComplete(4), done);
    expect(reader.signals.map(({ signal }) => signal)).toEqual([
      "attributes",
      "model_opens",
      "model_closes",
      "attributes",
      "run_closes",
    ]);
    expect(reader.signals[3]).toMatchObject({ attributes: { "gen_ai.conversation.id": "th" } });
    expect(new Set(reader.signals.map(({ runId }) => runId)).size).toBe(1);
    expect(reader.signals[0]).toMatchObject({
      runId: derivedRunId("default", "default", "e0"),
      attributes: { "entelix.source": "agent-sdk" },
    });
    expect(reader.signals[2]).toMatchObject({ end: { attributes: { "entelix.turn": 4 } } });
  });

  it("is not known of lines before a later turn, which names their thread", () => {
    const reader = read(text(), start(2), text(), done, text());
    expect(runs(reader)).toEqual(["A run_closes complete"]);
    expect(reader.signals.filter(({ signal }) => signal === "attributes")).toMatchObject([
      { attributes: { "entelix.source": "agent-sdk" } },
      { attributes: { "gen_ai.conversation.id": "th" } },
    ]);
    expect(reader.mapping.counts.lateEvents).toBe(1);
    const next = read(text(), start(1), done);
    expect(runs(next)).toEqual(["A run_opens", "A run_closes complete"]);
  });

  it("of which the end of a call is seen first is when that call began", () => {
    const { signals } = read(result("tu_1", { duration_ms: 250 }));
    expect(signals.map(brief)).toMatchObject([
      { signal: "attributes", at: "09:59:59.750Z" },
      { signal: "call_closes", at: "10:00:00Z", durationMs: 250 },
    ]);
    const { signals: longest } = read(result("tu_1", { duration_ms: 2n ** 64n }));
    expect(longest.map(({ at }) => at[0])).toEqual([1_780_653_600, 1_780_653_600]);
  });
});

describe("threads", () => {
  it("are told apart by their names, and by the last that was opened", () => {
    const [a, b] = [start(1), start(1, { thread_id: "other" })];
    const reader = read(a, text(), b, text(), { ...text(), thread_id: "th" }, { ...done }, done);
    const [first, second] = [
      derivedRunId("default", "th", "e0"),
      derivedRunId("default", "other", "e2"),
    ];
    expect(reader.rows.map(({ runId }) => runId)).toEqual([first, second, first]);
    expect(reader.signals.filter(({ signal }) => signal === "run_closes")).toMatchObject([
      { runId: first },
    ]);
    expect(reader.mapping.counts.lateEvents).toBe(1);
  });

  it("are known by their calls, once the thread that was opened last is over", () => {
    const child = { ...start(1), thread_id: "child" };
    const childDone = { ...done, thread_id: "child" };
    const reader = read(
      start(1),
      call("tu_1", "subagent_dig"),
      child,
      call("tu_2"),
      result("tu_2"),
      turnComplete(1),
      childDone,
      result("tu_1", { data: { name: "dig", success: true } }, "subagent_dig"),
      turnComplete(1),
      start(2),
      text(),
      done,
    );
    const parentRun = derivedRunId("default", "th", "e0");
    const childRun = derivedRunId("default", "child", "e2");
    const calls = reader.signals.flatMap((signal) =>
      signal.signal === "call_closes" ? [[signal.callId, signal.runId]] : [],
    );
    expect(calls).toEqual([
      ["tu_2", childRun],
      ["tu_1", parentRun],
    ]);
    expect(reader.mapping.counts.lateEvents).toBe(0);
    expect(runs(reader)).toEqual([
      "A run_opens",
      "B run_opens",
      "B run_closes complete",
      "C run_opens",
      "C run_closes complete",
      "A run_closes complete",
    ]);
    expect(
      reader.signals.find(({ signal, runId }) => signal === "model_closes" && runId === parentRun),
    ).toMatchObject({ end: { attributes: { "gen_ai.usage.input_tokens": 10 } } });
  });

  it("that were forked begin where the fork ends: what it copied happened on the source", () => {
    const [created, ...copies] = lines(
      { type: "thread_created", thread_id: "new", source_thread_id: "th" },
      { type: "thread_created", thread_id: "th" },
      prompt(),
      start(1),
      call("tu_1"),
      result("tu_1"),
      text(),
      turnComplete(1),
      done,
    ).map((line) => ({ ...line, timestamp: "2026-06-05T11:00:00Z" }));
    const after = lines(...[prompt(), start(2)], text(), turnComplete(2), done).map((line, n) => ({
      ...line,
      event_id: `after-${n}`,
      sequence: 9 + n,
      timestamp: `2026-06-05T11:00:0${n + 1}Z`,
      ...(n < 2 || n === 4 ? { thread_id: "new" } : {}),
    }));
    const run = derivedRunId("default", "new", "after-0");
    // As the store has them, which names the new thread, and as they are sent, which name the source.
    for (const named of [{ thread_id: "new" }, {}]) {
      const all = [created ?? {}, ...copies.map((line) => ({ ...line, ...named })), ...after];
      const reader = new Reader().read(...all).end();
      expect(new Set(reader.signals.map(({ runId }) => runId))).toEqual(new Set([run]));
      expect(runs(reader)).toEqual(["A run_opens", "A run_closes complete"]);
      expect(last(reader)).toMatchObject({ end: { usage: { input_tokens: 10 } } });
      expect(reader.rows.map(({ event }) => event.kind)).toEqual([
        "user_message",
        "assistant_message",
      ]);
      expect(reader.mapping.unprojected.get("tool_call_start")).toBe(1);
    }
  });

  it("go on where a human answers while others were served", () => {
    const other = [{ ...start(1), thread_id: "b" }, text(), { ...done, thread_id: "b" }];
    const reader = read(start(1), call("tu_1"), confirm("tu_1"), ...other, result("tu_1"), done);
    expect(reader.mapping.counts.lateEvents).toBe(0);
    expect(runs(reader).slice(-1)).toEqual(["A run_closes complete"]);
    expect(reader.signals.find(({ signal }) => signal === "call_approved")).toMatchObject({
      runId: derivedRunId("default", "th", "e0"),
      callId: "tu_1",
    });
  });

  it("belong to tenants", () => {
    const acme = { tenant_id: "acme" };
    const reader = read({ ...start(), ...acme }, start(), { ...text(), ...acme }, text());
    expect(reader.rows.map(({ runId }) => runId)).toEqual([
      derivedRunId("acme", "th", "e0"),
      derivedRunId("default", "th", "e1"),
    ]);
    const other = new Reader({ tenant: "globex" }).read(...lines(start()));
    expect(other.signals[0]).toMatchObject({
      tenantId: "globex",
      runId: derivedRunId("globex", "th", "e0"),
    });
  });

  it("are opened by `thread_created` for the lines that follow", () => {
    const reader = read({ type: "thread_created", thread_id: "new" }, text(), done);
    expect(reader.signals[0]).toMatchObject({
      signal: "attributes",
      attributes: { "gen_ai.conversation.id": "new" },
    });
    expect(reader.mapping.unprojected.get("thread_created")).toBe(1);
  });

  it("are numbered line by line where events have no ids", () => {
    const [first, second, third] = lines(start(), done, start());
    const bare = [first, second, third].map((line) => {
      const { event_id: _id, ...rest } = line ?? {};
      return rest;
    });
    const opened = new Reader()
      .read(...bare)
      .signals.filter(({ signal }) => signal === "run_opens");
    expect(opened.map(({ runId }) => runId)).toEqual([
      derivedRunId("default", "th", "0"),
      derivedRunId("default", "th", "2"),
    ]);
  });

  it("that were not heard of for long are forgotten, and counted", () => {
    const reader = new Reader({ threads: 2 });
    const named = (id: string) => ({ thread_id: id });
    reader.read(...lines(...["a", "b", "c", "d", "e"].map((id) => start(1, named(id)))));
    expect(reader.mapping.forgottenThreads).toBe(2);
    reader.read(...lines({ ...done, ...named("a") }));
    expect(reader.signals.at(-2)).toMatchObject({ signal: "attributes" });
    reader.read(...lines({ ...done, ...named("e") }));
    expect(reader.signals.at(-1)).toMatchObject({ runId: derivedRunId("default", "e", "e4") });
    expect(() => new AgentSdkMapping({ threads: 0 })).toThrow(RangeError);
  });
});

describe("how a run ends", () => {
  const ends = (...events: readonly JsonObject[]) => {
    const reader = read(start(), ...events);
    const last = reader.signals.findLast(({ signal }) => signal.startsWith("run_"));
    return { ...(last && brief(last)), counted: reader.mapping.counts.unclassifiedEnds };
  };
  const failed = (type: string, message = "boom") => ({
    outcome: "failed",
    kind: { type },
    message,
  });

  it("complete, with its tokens, turns and cost", () => {
    const end = ends({ ...done, estimated_cost_usd: 1.5e-7, total_turns: 3 });
    expect(end).toMatchObject({
      signal: "run_closes",
      end: {
        outcome: "complete",
        usage: { input_tokens: 10, output_tokens: 2, cost_usd: "0.00000015" },
        attributes: { "entelix.run.turns": 3 },
      },
    });
  });

  it("refused, which is no failure and shows no text", () => {
    const end = ends({ type: "refusal", message_id: "m9", text: "No." });
    expect(end).toMatchObject({ signal: "run_closes", end: { outcome: "refused" } });
    expect(JSON.stringify(end)).not.toContain("No.");
  });

  it("cancelled, with what was used, and by whom where that is known", () => {
    const cancelled = { type: "cancelled", turn: 2, usage: USAGE };
    expect(ends(cancelled)).toMatchObject({
      signal: "run_closes",
      end: {
        ...failed("cancelled", "run cancelled"),
        usage: { input_tokens: 10 },
        attributes: { "entelix.run.turns": 2 },
      },
    });
    expect(ends({ ...cancelled, reason: { reason: "parent_cancelled" } })).toMatchObject({
      end: {
        ...failed("cancelled", "run cancelled (parent_cancelled)"),
        attributes: { "entelix.run.end_reason": "parent_cancelled" },
      },
    });
  });

  it("at its budget", () => {
    const limit = {
      type: "budget_exceeded",
      ...ENDED,
      limit: "cost_usd",
      estimated_cost_usd: 0.25,
    };
    expect(ends(limit)).toMatchObject({
      signal: "run_closes",
      end: {
        ...failed("usage_limit_exceeded", "budget exceeded: cost_usd"),
        usage: { input_tokens: 10, cost_usd: "0.25" },
        attributes: { "entelix.run.turns": 1, "entelix.run.end_reason": "cost_usd" },
      },
    });
  });

  it.each([
    ["user_cancel", "cancelled"],
    ["parent_cancelled", "cancelled"],
    ["budget", "usage_limit_exceeded"],
    ["provider_error", "model_dispatch"],
    ["internal_error", "internal"],
    ["watchdog_stall", "unclassified"],
    ["confirmation_rejected", "unclassified"],
    ["completed", "unclassified"],
    ["unknown", "unclassified"],
    ["brand_new", "unclassified"],
    ["complete", "unclassified"],
  ])("with an error because of %s as %s", (reason, kind) => {
    const end = ends(error({ recoverable: false, reason: { reason, kind: null } }));
    expect(end).toMatchObject({ signal: "run_closes", end: failed(kind) });
    expect(end.counted).toBe(kind === "unclassified" ? 1 : 0);
  });

  it("with an error that says nothing, which is counted", () => {
    const end = ends(error({ recoverable: false }));
    expect(end).toMatchObject({ signal: "run_closes", end: failed("unclassified"), counted: 1 });
  });

  const usedUp = { type: "auto_retry_end", attempt: 2, success: false, final_error: null };

  it("with an error after the retries, even where the reason says budget", () => {
    expect(ends(usedUp, error({ reason: { reason: "budget" } }))).toMatchObject({
      signal: "run_may_end",
      end: failed("model_dispatch"),
    });
    const later = ends(usedUp, error(), start(2), error());
    expect(later).toMatchObject({ end: failed("unclassified") });
    const spoke = ends(usedUp, text(), error());
    expect(spoke).toMatchObject({ end: failed("unclassified") });
  });

  it("perhaps, with a recoverable error after which nothing comes; what comes takes it back", () => {
    const progress = {
      type: "tool_progress",
      id: "x",
      name: "n",
      display_name: "",
      stage: "",
      message: "",
    };
    const reader = read(start(), error(), progress, done);
    expect(reader.signals.map(({ signal }) => signal)).toEqual([
      "run_opens",
      "model_opens",
      "run_may_end",
      "attributes",
      "model_closes",
      "run_closes",
    ]);
    expect(reader.signals[4]).toMatchObject({ end: { outcome: "unfinished" } });
  });

  it("once: what comes after it is late, and counted", () => {
    const reader = read(start(), done, done, text(), error({ recoverable: false }), turnComplete());
    expect(runs(reader)).toEqual(["A run_opens", "A run_closes complete"]);
    expect(reader.mapping.counts.lateEvents).toBe(4);
    expect(reader.signals.slice(-4)).toMatchObject([
      { signal: "late", reason: "second_terminal" },
      { signal: "late", reason: "after_end" },
      { signal: "late", reason: "second_terminal" },
      { signal: "late", reason: "after_end" },
    ]);
    expect(reader.rows.map(({ event }) => event.kind)).toEqual(["assistant_message", "error"]);
  });

  it("and lets the end of a call through, which the lifecycle places", () => {
    const reader = read(start(), call("tu_1"), done, result("tu_1"));
    expect(reader.signals.at(-1)).toMatchObject({ signal: "call_closes", callId: "tu_1" });
    expect(reader.mapping.counts.lateEvents).toBe(0);
  });
});

describe("a run that waits for a human", () => {
  const paused = [start(), call("tu_1"), confirm("tu_1")];

  it("may have ended there, and says what it waits for", () => {
    const reader = read(...paused);
    expect(last(reader)).toEqual({
      at: "10:00:02Z",
      signal: "run_may_end",
      end: {
        outcome: "interrupted",
        kind: { type: "approval_pending", tool_use_id: "tu_1" },
        content: { tool_use_id: "tu_1", tool: "bash", input: { usd: 10 }, description: "Pay?" },
      },
      // Should nobody answer in time, the model had: then its call was over when the tool began.
      model: { at: [1_780_653_601, 0], attributes: {} },
    });
    // The model had answered: its call ends with the input, before the tool.
    reader.end();
    expect(reader.signals.slice(-2).map(brief)).toMatchObject([
      { signal: "model_closes", at: "10:00:01Z" },
      { signal: "run_may_end", at: "10:00:02Z", end: { outcome: "interrupted" } },
    ]);
  });

  it("goes on when the call ends: it was approved, after so long", () => {
    const reader = read(
      ...paused,
      result("tu_1", { duration_ms: 400 }),
      turnComplete(),
      start(2),
      done,
    );
    const after = reader.signals.slice(4).map(brief);
    expect(after.slice(0, 3)).toMatchObject([
      { signal: "call_approved", callId: "tu_1", name: "bash", waitMs: 600 },
      { signal: "call_closes", callId: "tu_1", durationMs: 400 },
      {
        signal: "model_closes",
        at: "10:00:01Z",
        end: { attributes: { "gen_ai.usage.input_tokens": 10 } },
      },
    ]);
    expect(runs(reader)).toEqual([
      "A run_opens",
      "A run_may_end interrupted",
      "A run_closes complete",
    ]);
  });

  it.each(["Rejected: too much", "Blocked: policy", "Blocked at resume: policy"])(
    "is denied with %j",
    (output) => {
      const no = result("tu_1", { success: false, output, duration_ms: null });
      const reader = read(...paused, no);
      expect(reader.signals.at(-1)).toMatchObject({
        signal: "call_denied",
        callId: "tu_1",
        content: output,
      });
      expect(reader.rows.at(-1)?.event).toMatchObject({ kind: "tool_result", is_error: true });
    },
  );

  it("is not denied by a tool that ran and says the same", () => {
    const reader = read(...paused, result("tu_1", { success: false, output: "Rejected: x" }));
    expect(reader.signals.slice(-2)).toMatchObject([
      { signal: "call_approved", waitMs: 500 },
      { signal: "call_closes", end: { outcome: "error", message: "Rejected: x" } },
    ]);
  });

  it("still waits when another call ends beside it", () => {
    const reader = read(start(), call("tu_0"), ...paused.slice(1), result("tu_0"), turnComplete());
    const may = reader.signals.filter(({ signal }) => signal === "run_may_end");
    expect(may.map(brief)).toMatchObject([
      { at: "10:00:03Z", end: { kind: { tool_use_id: "tu_1" } } },
      { at: "10:00:04Z", end: { kind: { tool_use_id: "tu_1" } } },
      { at: "10:00:05Z", end: { kind: { tool_use_id: "tu_1" } } },
    ]);
    expect(reader.signals.at(-1)?.signal).toBe("run_may_end");
  });

  it("waits for an answer to a question, until a call ends or the model speaks", () => {
    const question = { type: "question_asked", task_id: "t1", questions: [{ question: "Which?" }] };
    const reader = read(
      start(),
      call("ask_1"),
      question,
      turnComplete(),
      result("ask_1"),
      turnComplete(2),
    );
    const may = reader.signals.filter(({ signal }) => signal === "run_may_end").map(brief);
    expect(may).toMatchObject([
      {
        at: "10:00:02Z",
        end: {
          kind: { type: "custom" },
          content: { task_id: "t1", questions: [{ question: "Which?" }] },
        },
      },
      { at: "10:00:03Z", end: { kind: { type: "custom" } } },
    ]);
    const spoke = read(start(), question, text(), turnComplete());
    expect(spoke.signals.filter(({ signal }) => signal === "run_may_end").length).toBe(1);
  });

  it("does not wait any more once it failed", () => {
    const reader = read(...paused, error(), turnComplete());
    expect(runs(reader).at(-1)).toBe("A run_may_end failed");
    expect(last(reader)).toMatchObject({ signal: "model_closes", at: "10:00:01Z" });
  });

  it("ends as one that waited when the thread goes on without it", () => {
    const reader = read(...paused, prompt());
    expect(runs(reader)).toEqual([
      "A run_opens",
      "A run_may_end interrupted",
      "A run_closes interrupted",
      "B run_opens",
    ]);
    const closing = reader.signals.slice(-3).map(brief);
    expect(closing).toMatchObject([
      { signal: "model_closes", at: "10:00:01Z" },
      { signal: "run_closes", at: "10:00:02Z", end: { kind: { tool_use_id: "tu_1" } } },
      { signal: "run_opens", at: "10:00:03Z" },
    ]);
  });
});
