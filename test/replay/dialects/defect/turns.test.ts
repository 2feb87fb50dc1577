import { describe, expect, it } from "vitest";
import { STOP_REASONS } from "../../../../src/replay/dialects/defect/events.ts";
import { DEFECT_TERMINALS } from "../../../../src/replay/dialects/defect/terminals.ts";
import { derivedRunId } from "../../../../src/replay/dialects/mapping.ts";
import { replayed } from "./replayed.ts";
import { Session, say } from "./session.ts";

const SUPERSEDED = { end: { outcome: "abandoned", reason: "superseded" } };

describe("a turn", () => {
  it("begins with its prompt, which comes before turn_started", () => {
    const session = new Session().at(0, say.prompt()).at(1, say.started()).at(2, say.ended());
    expect(session.told).toMatchObject([
      [0, 1, "run_opens", { threadId: "s", attributes: { "entelix.source": "defect" } }],
      [2, 1, "run_closes", { end: { outcome: "complete" } }],
    ]);
    expect(session.runs).toEqual([derivedRunId("default", "s", "0")]);
  });

  it("begins with turn_started where no prompt came", () => {
    const session = new Session().at(1, say.started()).at(2, say.asks());
    expect(session.told.map(([ms, run, kind]) => [ms, run, kind])).toEqual([
      [1, 1, "run_opens"],
      [2, 1, "model_opens"],
    ]);
  });

  it("has an id of its event's id, or of its line's place in the stream", () => {
    const ids = new Session()
      .at(0, say.prompt(), [], { event_id: "e-1" })
      .at(1, say.ended(), [], { event_id: "e-2" });
    expect(ids.runs).toEqual([derivedRunId("default", "s", "e-1")]);
    const places = new Session({}, null)
      .at(0, say.prompt(), [], { tenant_id: "acme" })
      .at(1, say.started(), ["t1"], { tenant_id: "acme" })
      .at(2, say.ended(), ["t1"], { tenant_id: "acme" })
      .at(3, say.ended(), [], { tenant_id: "acme" })
      .at(4, say.started(), [], { tenant_id: "acme" })
      .at(5, say.prompt(), ["t1"], { tenant_id: "acme" });
    expect(places.runs).toEqual([
      derivedRunId("acme", "default", "0"),
      derivedRunId("acme", "default/t1", "0"),
      derivedRunId("acme", "default", "2"),
      derivedRunId("acme", "default/t1", "2"),
    ]);
    expect(new Set(places.signals.map(({ tenantId }) => tenantId))).toEqual(new Set(["acme"]));
  });

  it.each(STOP_REASONS)("ended by %s is what the table says", (reason) => {
    const usage = { input_tokens: 7, output_tokens: 18446744073709551615n };
    const session = new Session().at(0, say.prompt()).at(5, say.ended(reason, usage));
    const { failureKind, outcome } = DEFECT_TERMINALS[reason];
    expect(session.only("run_closes")).toEqual([
      [
        5,
        1,
        "run_closes",
        {
          end: {
            outcome,
            ...(outcome === "failed" ? { kind: { type: failureKind }, message: "" } : {}),
            attributes: {
              "gen_ai.usage.input_tokens": 7,
              "gen_ai.usage.output_tokens": 2 ** 63 - 1024,
              "entelix.run.end_reason": reason,
              "gen_ai.response.finish_reasons": ["end_turn", "max_tokens", "refusal"].includes(
                reason,
              )
                ? [reason]
                : undefined,
            },
          },
        },
      ],
    ]);
  });

  it("maps every terminal to the outcome and failure kind of the documented taxonomy", () => {
    expect(DEFECT_TERMINALS).toEqual({
      end_turn: { outcome: "complete" },
      max_tokens: { outcome: "complete" },
      max_turn_requests: { outcome: "failed", failureKind: "usage_limit_exceeded" },
      refusal: { outcome: "refused" },
      cancelled: { outcome: "failed", failureKind: "cancelled" },
      other_reason: { outcome: "failed", failureKind: "unclassified" },
      aborted_by_model: { outcome: "failed", failureKind: "model_dispatch" },
      aborted: { outcome: "failed", failureKind: "unclassified" },
    });
  });

  it("ended by an unknown reason is unclassified, and keeps the reason", () => {
    const session = new Session().at(0, say.prompt()).at(5, say.ended("tired"));
    expect(session.only("run_closes")).toMatchObject([
      [
        5,
        1,
        "run_closes",
        {
          end: {
            outcome: "failed",
            kind: { type: "unclassified" },
            attributes: { "entelix.run.end_reason": "tired" },
          },
        },
      ],
    ]);
  });

  it("aborted without a failed model call is unclassified", () => {
    const session = new Session()
      .at(0, say.prompt())
      .at(1, say.asks())
      .at(2, say.failed("503"))
      .at(3, say.asks(2))
      .at(4, say.answered(2))
      .at(5, say.aborted());
    expect(session.only("run_closes")).toEqual([
      [
        5,
        1,
        "run_closes",
        { end: { outcome: "failed", kind: { type: "unclassified" }, message: "" } },
      ],
    ]);
  });

  it("is superseded by the next one where its end is missing, when it was last heard of", () => {
    const session = new Session()
      .at(0, say.prompt())
      .at(1, say.started())
      .at(7, say.text("hello"))
      .at(100, say.prompt())
      .at(101, say.started())
      .at(300, say.started());
    expect(session.told.filter(([, , kind]) => kind.startsWith("run_"))).toMatchObject([
      [0, 1, "run_opens", {}],
      [7, 1, "run_closes", SUPERSEDED],
      [100, 2, "run_opens", {}],
      [101, 2, "run_closes", SUPERSEDED],
      [300, 3, "run_opens", {}],
    ]);
  });

  it("is not begun twice by its own events coming twice", () => {
    const session = new Session()
      .at(0, say.prompt())
      .at(0, say.prompt())
      .at(1, say.started())
      .at(2, say.ended())
      .at(2, say.ended())
      .at(5, say.aborted())
      .at(10, say.started())
      .at(10, say.started());
    expect(session.told).toMatchObject([
      [0, 1, "run_opens", {}],
      [2, 1, "run_closes", {}],
      [2, 1, "late", { reason: "second_terminal" }],
      [5, 1, "late", { reason: "second_terminal" }],
      [10, 2, "run_opens", {}],
    ]);
    expect(session.mapping.counts.lateEvents).toBe(2);
  });

  it("with event ids, is begun by every prompt", () => {
    const session = new Session()
      .at(0, say.prompt(), [], { event_id: "a" })
      .at(0, say.prompt(), [], { event_id: "b" });
    expect(session.told.map(([ms, run, kind]) => [ms, run, kind])).toEqual([
      [0, 1, "run_opens"],
      [0, 1, "run_closes"],
      [0, 2, "run_opens"],
    ]);
  });

  it("whose beginning was lost is opened by what comes first, and marked", () => {
    const session = new Session()
      .at(3, say.asks())
      .at(5, say.answered())
      .at(6, say.ended())
      .at(20, say.asks())
      .at(21, say.ended());
    expect(session.only("run_opens")).toMatchObject([
      [3, 1, "run_opens", { attributes: { "entelix.run.start_unseen": true } }],
      [20, 2, "run_opens", { attributes: { "entelix.run.start_unseen": true } }],
    ]);
    expect(session.only("run_closes").map(([ms]) => ms)).toEqual([6, 21]);
  });

  it("that is over takes only the ends of its calls, which the lifecycle judges", () => {
    const session = new Session()
      .at(0, say.prompt())
      .at(1, say.tool("c"))
      .at(5, say.ended("cancelled"))
      .at(5, say.text("late"))
      .at(5, say.asks())
      .at(9, say.progress("c"))
      .at(9, say.broke("c", "killed"))
      .at(9, say.policy("c", "allow"))
      .at(9, say.chosen("c", "y"));
    expect(session.told.slice(-6)).toMatchObject([
      [5, 1, "late", { reason: "after_end" }],
      [5, 1, "late", { reason: "after_end" }],
      [9, 1, "late", { reason: "after_end" }],
      [9, 1, "call_closes", { callId: "c", problem: { outcome: "error", message: "killed" } }],
      [9, 1, "late", { reason: "after_end" }],
      [9, 1, "late", { reason: "after_end" }],
    ]);
    expect(session.runs.length).toBe(1);
    expect(session.mapping.counts.lateEvents).toBe(6);
  });

  it("takes lines without a session for the session that was opened last, of their tenant", () => {
    const mapping = new Session({}, null);
    mapping
      .at(0, say.prompt(), [], { session_id: "one" })
      .at(1, say.prompt(), [], { thread_id: "two" })
      .at(2, say.asks())
      .at(3, say.prompt(), [], { tenant_id: "acme" });
    expect(mapping.told).toMatchObject([
      [0, 1, "run_opens", { threadId: "one" }],
      [1, 2, "run_opens", { threadId: "two" }],
      [2, 2, "model_opens", {}],
      [3, 3, "run_opens", {}],
    ]);
    expect(mapping.runs[2]).toBe(derivedRunId("acme", "default", "0"));
  });

  it.each([true, false])(
    "takes them so at one time too, with sequences or without: %s",
    async (counted) => {
      const events = [
        { type: "user_prompt_committed", content: [] },
        { type: "turn_started" },
        { type: "llm_call_started", model: "m", attempt: 1 },
        { type: "turn_ended", reason: "end_turn" },
      ];
      const lines = ["one", "two"].flatMap((session_id, second) =>
        events.map((event, sequence) => ({
          timestamp: `2026-06-12T10:00:0${second}Z`,
          ...event,
          ...(counted && { sequence }),
          ...(sequence === 0 && { session_id }),
        })),
      );
      const { trees } = await replayed(lines);
      const tree = (session: string) => ({
        span: "invoke_agent",
        attributes: { "gen_ai.conversation.id": session, "entelix.run.outcome": "complete" },
        children: [{ span: "chat m" }],
      });
      expect(trees).toMatchObject([tree("one"), tree("two")]);
    },
  );
});

describe("compactions", () => {
  it("are points in time on their turn, with totals", () => {
    const session = new Session()
      .at(0, say.prompt())
      .at(1, say.compacted(100, 40))
      .at(2, say.compacted(10, 90));
    expect(session.told.slice(1)).toEqual([
      [
        1,
        1,
        "span_event",
        {
          name: "entelix.context_compacted",
          attributes: {
            "entelix.compaction.kind": "full",
            "entelix.compaction.original_tokens": 100,
            "entelix.compaction.new_tokens": 40,
          },
        },
      ],
      [
        1,
        1,
        "attributes",
        { attributes: { "entelix.compaction.count": 1, "entelix.compaction.tokens_removed": 60 } },
      ],
      expect.arrayContaining([2, "span_event"]),
      [
        2,
        1,
        "attributes",
        { attributes: { "entelix.compaction.count": 2, "entelix.compaction.tokens_removed": 60 } },
      ],
    ]);
  });

  it("outside of any turn are in the totals of the next one, and open none", () => {
    const session = new Session()
      .at(0, say.compacted(100, 40))
      .at(1, say.prompt())
      .at(2, say.ended())
      .at(50, say.compacted(20, 10))
      .at(60, say.prompt());
    expect(session.only("attributes")).toEqual([
      [
        1,
        1,
        "attributes",
        { attributes: { "entelix.compaction.count": 1, "entelix.compaction.tokens_removed": 60 } },
      ],
      [
        60,
        2,
        "attributes",
        { attributes: { "entelix.compaction.count": 1, "entelix.compaction.tokens_removed": 10 } },
      ],
    ]);
    expect(session.only("span_event")).toEqual([]);
  });
});

describe("a turn that nobody ended", () => {
  it("and that was given up for its age is not opened again by the end of the input", async () => {
    const line = (timestamp: string, session_id: string, event: object) => ({
      timestamp: `2026-06-${timestamp}Z`,
      session_id,
      ...event,
    });
    const { trees } = await replayed([
      line("12T10:00:00", "s1", say.prompt()),
      line("12T10:00:01", "s1", say.started()),
      line("14T10:00:00", "s2", say.prompt()),
      line("14T10:00:01", "s2", say.ended()),
    ]);
    expect(trees.map(({ attributes }) => attributes["entelix.run.abandoned_reason"])).toEqual([
      "age",
      undefined,
    ]);
  });
});

describe("a turn of which only pieces are heard", () => {
  it("tells the lifecycle that it lives, once a minute", () => {
    const minute = 60_000;
    const session = new Session().at(0, say.prompt()).at(1, say.asks());
    for (let half = 1; half <= 5; half++) session.at((half * minute) / 2 + 1, say.text("a"));
    expect(session.told.slice(2)).toEqual([
      [minute + 1, 1, "attributes", { attributes: {} }],
      [2 * minute + 1, 1, "attributes", { attributes: {} }],
    ]);
  });

  it("is not begun again by the same lines at another time than its prompt's", () => {
    const session = new Session()
      .at(0, say.prompt())
      .at(0, say.prompt())
      .at(1, say.started())
      .at(1, say.started())
      .at(2, say.ended());
    expect(session.only("run_opens").length).toBe(1);
    expect(session.only("run_closes").map(([ms]) => ms)).toEqual([2]);
  });
});

describe("the end of the input", () => {
  it("tells until when an open turn was heard of, and of a model call that was cut", () => {
    const session = new Session()
      .at(0, say.prompt())
      .at(1, say.asks())
      .at(2, say.text("a"))
      .at(9, say.text("b"))
      .end();
    expect(session.told.slice(2)).toEqual([
      [
        9,
        1,
        "model_closes",
        { unfinished: true, attributes: { "gen_ai.response.time_to_first_chunk": 0.001 } },
      ],
      [9, 1, "activity", {}],
    ]);
    expect(session.mapping.end()).toEqual([]);
  });
});
