import { describe, expect, it } from "vitest";
import { Session, say, type Told } from "./session.ts";

function modelSignals(session: Session): Told[] {
  return session.told.filter(([, , kind]) => kind.startsWith("model_") || kind === "span_event");
}

describe("a model call", () => {
  it("is one, whatever its attempts, with a note for each retry", () => {
    const session = new Session()
      .at(0, say.prompt())
      .at(1, say.asks())
      .at(10, say.failed("overloaded"))
      .at(30, say.asks(2))
      .at(40, say.failed("busy", 2))
      .at(90, say.asks(3, "fallback"))
      .at(95, say.thought("hm"))
      .at(99, say.text("yes"))
      .at(100, say.answered(3, { input_tokens: 5, output_tokens: 2, cache_read_input_tokens: 4 }));
    expect(modelSignals(session)).toEqual([
      [1, 1, "model_opens", { model: "m" }],
      [
        30,
        1,
        "span_event",
        {
          name: "entelix.retry",
          on: "model",
          attributes: {
            "entelix.retry.attempt": 1,
            "entelix.retry.delay_ms": 20,
            "entelix.error.message": "overloaded",
          },
        },
      ],
      [
        90,
        1,
        "span_event",
        {
          name: "entelix.retry",
          on: "model",
          attributes: {
            "entelix.retry.attempt": 2,
            "entelix.retry.delay_ms": 50,
            "entelix.error.message": "busy",
            "gen_ai.request.model": "fallback",
          },
        },
      ],
      [
        100,
        1,
        "model_closes",
        {
          attributes: {
            "entelix.retry.count": 2,
            "gen_ai.response.time_to_first_chunk": 0.005,
            "gen_ai.usage.input_tokens": 5,
            "gen_ai.usage.output_tokens": 2,
            "gen_ai.usage.cache_read.input_tokens": 4,
          },
        },
      ],
    ]);
  });

  it("failed when its last attempt did, at that time; so did a turn aborted then", () => {
    const session = new Session()
      .at(0, say.prompt())
      .at(1, say.asks())
      .at(10, say.failed("503"))
      .at(30, say.asks(2))
      .at(40, say.failed("503 again", 2))
      .at(41, say.aborted());
    expect(session.told.slice(-2)).toEqual([
      [
        40,
        1,
        "model_closes",
        { problem: { message: "503 again" }, attributes: { "entelix.retry.count": 1 } },
      ],
      [
        41,
        1,
        "run_closes",
        { end: { outcome: "failed", kind: { type: "model_dispatch" }, message: "503 again" } },
      ],
    ]);
  });

  it("that failed is closed by whatever shows that no attempt follows", () => {
    const failed = [10, 1, "model_closes", { problem: { message: "503" }, attributes: {} }];
    const base = () =>
      new Session().at(0, say.prompt()).at(1, say.asks()).at(10, say.failed("503"));
    expect(modelSignals(base())).toEqual([[1, 1, "model_opens", { model: "m" }]]);
    expect(base().at(20, say.tool("c")).told).toContainEqual(failed);
    expect(base().at(20, say.asks()).told).toContainEqual(failed);
    expect(base().at(20, say.ended("cancelled")).told).toContainEqual(failed);
    expect(base().at(20, say.prompt()).told).toContainEqual(failed);
    expect(base().end().told).toContainEqual(failed);
  });

  it("broke off when its turn was aborted while it was open: an error without a text", () => {
    const session = new Session()
      .at(0, say.prompt())
      .at(1, say.asks())
      .at(4, say.text("par"))
      .at(9, say.aborted());
    expect(session.told.slice(-2)).toEqual([
      [
        9,
        1,
        "model_closes",
        { problem: { message: "" }, attributes: { "gen_ai.response.time_to_first_chunk": 0.003 } },
      ],
      [
        9,
        1,
        "run_closes",
        { end: { outcome: "failed", kind: { type: "model_dispatch" }, message: "" } },
      ],
    ]);
  });

  it("without an end is unfinished at the end of its turn, or when the next one begins", () => {
    const session = new Session()
      .at(0, say.prompt())
      .at(1, say.asks())
      .at(5, say.asks())
      .at(9, say.ended("cancelled"));
    expect(modelSignals(session)).toEqual([
      [1, 1, "model_opens", { model: "m" }],
      [5, 1, "model_closes", { unfinished: true, attributes: {} }],
      [5, 1, "model_opens", { model: "m" }],
      [9, 1, "model_closes", { unfinished: true, attributes: {} }],
    ]);
  });

  it("whose start was lost has no length, but its usage", () => {
    const session = new Session()
      .at(0, say.prompt())
      .at(7, say.answered(2, { input_tokens: 3, output_tokens: null }));
    expect(modelSignals(session)).toEqual([
      [7, 1, "model_opens", { model: "m" }],
      [
        7,
        1,
        "model_closes",
        { attributes: { "entelix.retry.count": 1, "gen_ai.usage.input_tokens": 3 } },
      ],
    ]);
  });

  it("of a model without a name has none, whichever of its events came", () => {
    const session = new Session()
      .at(0, say.prompt())
      .at(1, say.asks(1, ""))
      .at(2, say.answered())
      .at(7, { type: "llm_call_finished", model: "", attempt: 1 });
    expect(session.only("model_opens").map(([, , , said]) => said)).toEqual([{}, {}]);
  });

  it("goes on when the end, or the start, of an attempt was lost", () => {
    const noEnd = new Session()
      .at(0, say.prompt())
      .at(1, say.asks())
      .at(5, say.asks(2))
      .at(9, say.answered(2));
    expect(modelSignals(noEnd)).toEqual([
      [1, 1, "model_opens", { model: "m" }],
      [
        5,
        1,
        "span_event",
        { name: "entelix.retry", on: "model", attributes: { "entelix.retry.attempt": 1 } },
      ],
      [9, 1, "model_closes", { attributes: { "entelix.retry.count": 1 } }],
    ]);
    const noStart = new Session()
      .at(0, say.prompt())
      .at(1, say.asks())
      .at(2, say.failed("x"))
      .at(9, say.answered(2));
    expect(modelSignals(noStart)).toEqual([
      [1, 1, "model_opens", { model: "m" }],
      [9, 1, "model_closes", { attributes: { "entelix.retry.count": 1 } }],
    ]);
  });

  it("is not told twice by events coming twice", () => {
    const session = new Session()
      .at(0, say.prompt())
      .at(1, say.asks())
      .at(1, say.asks())
      .at(2, say.failed("x"))
      .at(2, say.failed("x"))
      .at(3, say.asks(2))
      .at(3, say.asks(2))
      .at(3, say.failed("x"))
      .at(4, say.answered(2))
      .at(4, say.answered(2));
    expect(modelSignals(session).map(([ms, , kind]) => [ms, kind])).toEqual([
      [1, "model_opens"],
      [3, "span_event"],
      [4, "model_closes"],
    ]);
  });

  it("is not timed by a clock that went back", () => {
    const session = new Session()
      .at(0, say.prompt())
      .at(50, say.asks())
      .at(60, say.failed("x"))
      .at(40, say.asks(2))
      .at(30, say.text("a"))
      .at(70, say.answered(2));
    expect(modelSignals(session).slice(1)).toMatchObject([
      [40, 1, "span_event", { attributes: { "entelix.retry.delay_ms": 0 } }],
      [70, 1, "model_closes", { attributes: { "gen_ai.response.time_to_first_chunk": 0 } }],
    ]);
  });
});
