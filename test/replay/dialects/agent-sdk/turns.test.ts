import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../../../src/replay/dialects/dialect.ts";
import {
  brief,
  call,
  confirm,
  done,
  lines,
  Reader,
  result,
  start,
  text,
  turnComplete,
} from "./reader.ts";

const delta = (id = "m1"): JsonObject => ({ type: "text_delta", message_id: id, delta: "h" });
const retry = (attempt: number, more: JsonObject = {}): JsonObject => ({
  type: "auto_retry_start",
  attempt,
  max_attempts: 5,
  delay_ms: 100,
  error_message: "429",
  ...more,
});

function read(...events: readonly JsonObject[]): Reader {
  return new Reader().read(...lines(...events));
}

/** The model calls of a stream: when each opened and closed, and with which attributes. */
function models(reader: Reader): unknown[] {
  const output = reader.signals.filter(({ signal }) => signal.startsWith("model_"));
  return output.map((signal) => {
    const at = String(brief(signal).at).slice(6, -1);
    if (signal.signal !== "model_closes") return [at, "opens", brief(signal).attributes];
    const { end } = signal;
    return [
      at,
      "closes",
      JSON.parse(JSON.stringify(end.attributes)),
      ...(end.outcome === "error" ? [end.problem] : []),
      ...(end.outcome === "unfinished" ? ["unfinished"] : []),
    ];
  });
}

const TOKENS = { "gen_ai.usage.input_tokens": 10, "gen_ai.usage.output_tokens": 2 };
const TURN = (turn: number) => ({ "entelix.turn": turn });

describe("a model call", () => {
  it("ends with its last output where no tool follows", () => {
    expect(models(read(start(), text(), text(), turnComplete(), done))).toEqual([
      ["00", "opens", TURN(1)],
      ["02", "closes", TOKENS],
    ]);
  });

  it("ends with its first tool, whatever the order of the rest", () => {
    const reader = read(
      start(),
      text(),
      call("a"),
      call("b"),
      result("b"),
      text(),
      result("a"),
      turnComplete(),
    );
    expect(models(reader)).toEqual([
      ["00", "opens", TURN(1)],
      ["02", "closes", TOKENS],
    ]);
  });

  it("has no first chunk of what the model says after its tools, as in a turn of a server", () => {
    const after = [call("a"), result("a"), delta(), text(), turnComplete(), done];
    expect(models(read(start(), ...after))).toEqual([
      ["00", "opens", TURN(1)],
      ["01", "closes", TOKENS],
    ]);
    expect(models(read(start(), delta(), ...after)).at(-1)).toEqual([
      "02",
      "closes",
      { ...TOKENS, "gen_ai.response.time_to_first_chunk": 1 },
    ]);
  });

  it("has its tokens where a guardrail refused its answer, which upstream calls an error", () => {
    const refused = { type: "error", message: "rejected by guardrail", recoverable: true };
    const reader = read(
      start(),
      refused,
      turnComplete(),
      start(2),
      text(),
      refused,
      turnComplete(2),
      done,
    );
    expect(models(reader)).toEqual([
      ["00", "opens", TURN(1)],
      ["01", "closes", TOKENS],
      ["03", "opens", TURN(2)],
      ["04", "closes", TOKENS],
    ]);
    expect(reader.mapping.counts.lateEvents).toBe(0);
  });

  it("is unfinished where an error was the last of it, from then on", () => {
    const error = { type: "error", message: "lost", recoverable: true };
    const cut = ["01", "closes", {}, "unfinished"];
    expect(models(read(start(), error, start(2)))).toEqual([
      ["00", "opens", TURN(1)],
      cut,
      ["02", "opens", TURN(2)],
    ]);
    expect(models(read(start(), error, done)).at(-1)).toEqual(cut);
    expect(models(read(start(), error).end()).at(-1)).toEqual(cut);
  });

  it("ends when its turn does where it said nothing", () => {
    expect(models(read(start(), turnComplete()))).toEqual([
      ["00", "opens", TURN(1)],
      ["01", "closes", TOKENS],
    ]);
  });

  it("has the time of its first piece, where it was streamed", () => {
    const closed = models(read(start(), delta(), delta(), text(), turnComplete())).at(-1);
    expect(closed).toEqual([
      "03",
      "closes",
      { "gen_ai.response.time_to_first_chunk": 1, ...TOKENS },
    ]);
  });

  it("is one, with all its retries inside; what a failed attempt said is void", () => {
    const reader = read(start(), delta(), retry(1), retry(2), done);
    expect(models(reader).at(-1)).toEqual([
      "04",
      "closes",
      { "gen_ai.response.time_to_first_chunk": 1, "entelix.retry.count": 2 },
      "unfinished",
    ]);
    expect(models(read(start(), delta(), retry(1), text(), turnComplete()))).toEqual([
      ["00", "opens", TURN(1)],
      [
        "03",
        "closes",
        { "gen_ai.response.time_to_first_chunk": 1, "entelix.retry.count": 1, ...TOKENS },
      ],
    ]);
  });

  it("names its retries, but not a limit that is none", () => {
    const reader = read(start(), retry(1), retry(4, { max_attempts: 4294967295 }));
    expect(reader.signals.slice(2).map(brief)).toMatchObject([
      {
        name: "entelix.retry",
        on: "model",
        attributes: {
          "entelix.retry.attempt": 1,
          "entelix.retry.max_attempts": 5,
          "entelix.retry.delay_ms": 100,
        },
      },
      { attributes: { "entelix.retry.attempt": 4, "entelix.retry.delay_ms": 100 } },
    ]);
    expect(brief(reader.signals[3] ?? fail()).attributes).not.toHaveProperty(
      "entelix.retry.max_attempts",
    );
  });

  it("failed when its retries were used up, even when there were none", () => {
    const usedUp = { type: "auto_retry_end", attempt: 0, success: false, final_error: "503" };
    expect(models(read(start(), usedUp))).toEqual([
      ["00", "opens", TURN(1)],
      ["01", "closes", {}, { message: "503" }],
    ]);
    const silent = { ...usedUp, final_error: null };
    expect(models(read(start(), retry(1), silent)).at(-1)).toEqual([
      "02",
      "closes",
      { "entelix.retry.count": 1 },
      { message: "the retries were used up" },
    ]);
  });

  it("failed when the run ended so because of the provider, and not for any other reason", () => {
    const error = (reason: JsonObject) => ({
      type: "error",
      message: "x",
      recoverable: false,
      reason,
    });
    const provider = error({ reason: "provider_error", kind: "rate_limited" });
    expect(models(read(start(), text(), provider)).at(-1)).toEqual([
      "02",
      "closes",
      {},
      { type: "rate_limited", message: "x" },
    ]);
    expect(models(read(start(), text(), error({ reason: "budget" }))).at(-1)).toEqual([
      "01",
      "closes",
      {},
    ]);
    expect(models(read(start(), error({ reason: "budget" }))).at(-1)).toEqual([
      "01",
      "closes",
      {},
      "unfinished",
    ]);
  });

  it("was over when the next turn begins, whose tokens are its own", () => {
    const reader = read(start(1), text(), start(2), text(), turnComplete(1), turnComplete(2));
    expect(models(reader)).toEqual([
      ["00", "opens", TURN(1)],
      ["01", "closes", {}],
      ["02", "opens", TURN(2)],
      ["03", "closes", TOKENS],
    ]);
    expect(reader.mapping.counts.lateEvents).toBe(1);
  });

  it("is there for its tokens where nothing else of it was seen, and once only", () => {
    const reader = read(start(1), text(), turnComplete(1), turnComplete(2), turnComplete(2));
    expect(models(reader).slice(2)).toEqual([
      ["03", "opens", {}],
      ["03", "closes", { ...TURN(2), ...TOKENS }],
    ]);
    expect(reader.mapping.counts.lateEvents).toBe(1);
  });

  it("is the same one where the start of a turn was lost between", () => {
    const reader = read(start(1), text(), text("m2"), turnComplete(2));
    expect(models(reader)).toEqual([
      ["00", "opens", TURN(1)],
      ["02", "closes", TOKENS],
    ]);
  });

  it("keeps counts beyond 2^53 within what an attribute holds", () => {
    const usage = { input_tokens: 2n ** 70n, output_tokens: 2n ** 53n, cached_input_tokens: 0 };
    const reader = read(start(), { type: "turn_complete", turn: 1, usage });
    const last = reader.signals.at(-1);
    expect(last?.signal === "model_closes" && last.end.attributes).toMatchObject({
      "gen_ai.usage.input_tokens": 2 ** 63 - 1024,
      "gen_ai.usage.output_tokens": 2 ** 53,
      "gen_ai.usage.cache_read.input_tokens": 0,
    });
  });

  it("that was answered ends with its answer when the input does", () => {
    const reader = read(start(), call("a"));
    expect(models(reader)).toEqual([["00", "opens", TURN(1)]]);
    expect(models(reader.end()).at(-1)).toEqual(["01", "closes", {}]);
    expect(models(reader.end()).length).toBe(2);
    // One that was not is not known to be whole, and ends when the run was last heard of.
    expect(models(read(start(), text()).end()).at(-1)).toEqual(["01", "closes", {}, "unfinished"]);
    expect(models(read(start(), call("a"), done).end()).length).toBe(2);
  });
});

describe("a model call that was cut in the middle of a piece", () => {
  const chunk = { "gen_ai.response.time_to_first_chunk": 1 };
  const cancelled = { type: "cancelled", turn: 1, usage: { input_tokens: 0, output_tokens: 0 } };

  it("is unfinished, and lasted until its run ended or was last heard of", () => {
    const cut = [
      ["00", "opens", TURN(1)],
      ["03", "closes", chunk, "unfinished"],
    ];
    expect(models(read(start(), delta(), delta(), cancelled))).toEqual(cut);
    const failed = { type: "error", message: "x", recoverable: false };
    expect(models(read(start(), delta(), delta(), failed))).toEqual(cut);
    expect(models(read(start(), delta(), delta(), delta()).end())).toEqual(cut);
    expect(models(read(start(), delta(), delta(), delta(), start())).slice(0, 2)).toEqual(cut);
  });

  it("is unfinished too where its turn is tried again, unless it had answered", () => {
    const mine = { emitter_task_id: "task-1" };
    const cut = read(start(1, mine), delta(), start(1, mine), text(), turnComplete(), done);
    expect(models(cut)).toMatchObject([
      ["00", "opens", TURN(1)],
      ["02", "closes", {}, "unfinished"],
      ["02", "opens", TURN(1)],
      ["03", "closes", TOKENS],
    ]);
    const silent = read(start(1, mine), start(1, mine));
    expect(models(silent)[1]).toMatchObject(["01", "closes", {}, "unfinished"]);
    const whole = read(start(1, mine), text(), start(1, mine));
    expect(models(whole)[1]).toEqual(["01", "closes", {}]);
  });

  it("was not cut where the run ended well", () => {
    expect(models(read(start(), delta(), done)).at(-1)).toEqual(["01", "closes", chunk]);
  });
});

describe("what happens beside", () => {
  it("is noted: a compaction, another account", () => {
    const compaction = {
      type: "context_compacted",
      original_count: 40,
      new_count: 8,
      original_tokens: 90000,
      new_tokens: 12000,
    };
    const rotation = {
      type: "account_rotation",
      provider: "anthropic",
      from_account: "a@example.org",
      to_account: "b@example.org",
      reason: "rate_limited",
      retry_after_seconds: 30,
    };
    const exhausted = {
      type: "account_pool_exhausted",
      provider: "p",
      account_count: 2,
      reason: "x",
    };
    const reader = read(start(), compaction, rotation, exhausted);
    expect(reader.signals.slice(2).map(brief)).toEqual([
      {
        at: "10:00:01Z",
        signal: "span_event",
        name: "entelix.context_compacted",
        attributes: {
          "entelix.compaction.original_count": 40,
          "entelix.compaction.new_count": 8,
          "entelix.compaction.original_tokens": 90000,
          "entelix.compaction.new_tokens": 12000,
        },
      },
      {
        at: "10:00:01Z",
        signal: "attributes",
        attributes: { "entelix.compaction.count": 1, "entelix.compaction.tokens_removed": 78000 },
      },
      {
        at: "10:00:02Z",
        signal: "span_event",
        name: "entelix.account_rotation",
        on: "model",
        attributes: {
          "gen_ai.provider.name": "anthropic",
          "entelix.account.reason": "rate_limited",
          "entelix.error.retry_after_secs": 30,
        },
      },
      {
        at: "10:00:03Z",
        signal: "span_event",
        name: "entelix.account_pool_exhausted",
        on: "model",
        attributes: { "gen_ai.provider.name": "p", "entelix.account.reason": "x" },
      },
    ]);
  });

  it("is folded: progress of a tool, counted on its call", () => {
    const progress = {
      type: "tool_progress",
      id: "a",
      name: "bash",
      display_name: "",
      stage: "",
      message: "",
    };
    const reader = read(start(), call("a"), progress, progress, result("a"));
    expect(reader.signals.map(({ signal }) => signal)).toEqual([
      "run_opens",
      "model_opens",
      "call_opens",
      "call_closes",
    ]);
    expect(reader.signals[3]).toMatchObject({
      end: { attributes: { "entelix.progress.count": 2 } },
    });
    expect(reader.mapping.unprojected.get("tool_progress")).toBe(2);
  });

  it("tells the lifecycle that the run lives, once a minute of mere streaming", () => {
    const streamed = Array.from({ length: 200 }, () => delta());
    const reader = read(start(), ...streamed);
    expect(reader.signals.slice(2).map(brief)).toEqual([
      { at: "10:01:00Z", signal: "attributes", attributes: {} },
      { at: "10:02:00Z", signal: "attributes", attributes: {} },
      { at: "10:03:00Z", signal: "attributes", attributes: {} },
    ]);
  });

  it("is bounded: of many calls that wait the oldest is forgotten, and counted", () => {
    const asked = Array.from({ length: 300 }, (_, n) => [call(`c${n}`), confirm(`c${n}`)]).flat();
    const reader = read(start(), ...asked, result("c0"), result("c299"));
    expect(reader.mapping.counts.forgottenCalls).toBe(44);
    const approved = reader.signals.filter((each) => each.signal === "call_approved");
    expect(approved.map(({ callId }) => callId)).toEqual(["c299"]);
  });
});

function fail(): never {
  throw new Error("no such signal");
}
