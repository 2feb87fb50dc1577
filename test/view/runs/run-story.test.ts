import { describe, expect, it } from "vitest";
import type { ViewAttributes, ViewSpan } from "../../../src/view/format.ts";
import { RunIndex } from "../../../src/view/runs/run-index.ts";
import { rowOf } from "../../../src/view/runs/run-row.ts";
import { RunStore, STANDING } from "../../../src/view/runs/run-store.ts";
import { MOST_STORY_TEXT, outerStoryOf, storyAfter } from "../../../src/view/runs/run-story.ts";
import { Folder } from "../../cli/support/folder.ts";
import { at, runSpan, toolSpan, viewSpan } from "../support/view-span.ts";

const TIMES = { from: 0, to: 100 };

function said(role: string, ...texts: readonly string[]): string {
  const parts = texts.map((content) => ({ type: "text", content }));
  return JSON.stringify([{ role, parts }]);
}

function run(attributes: ViewAttributes, rest: Partial<ViewSpan> = {}): ViewSpan {
  return runSpan("run", undefined, TIMES, { ...rest, attributes });
}

const ASKED = {
  "gen_ai.input.messages": said("user", "Where is\n order 17?"),
  "gen_ai.conversation.id": "t1",
  "user.id": "u-7",
  "session.id": "s-1",
};

const storyOf = (...spans: readonly ViewSpan[]) => spans.reduce(storyAfter, {});

describe("the story of a run", () => {
  it("is its question, its answer and the names of its conversation", () => {
    const ended = {
      "entelix.run.outcome": "complete",
      "gen_ai.output.messages": said("assistant", "It is", "sent."),
    };
    expect(storyOf(run({ ...ASKED, ...ended }))).toEqual({
      question: "Where is order 17?",
      answer: "It is sent.",
      thread_id: "t1",
      user: "u-7",
      session: "s-1",
    });
  });

  it("has the question of a model call while the run is open, then its own", () => {
    const call = viewSpan("model", "run", TIMES, {
      kind: "model",
      attributes: { "gen_ai.input.messages": said("user", "Which order?") },
    });
    const silent = { ...call, attributes: {} };
    expect(storyOf(call, silent)).toEqual({ question: "Which order?" });
    expect(storyOf(call, run(ASKED)).question).toBe("Where is order 17?");
    expect(storyOf(run(ASKED), call).question).toBe("Where is order 17?");
    expect(storyOf(silent).question).toBeUndefined();
  });

  it("has the last question of a long conversation", () => {
    const messages = [
      { role: "user", parts: [{ type: "text", content: "Hello" }] },
      { role: "assistant", parts: [{ type: "text", content: "What is it?" }] },
      { role: "user", parts: [{ type: "text", content: "Where is it?" }] },
      { role: "user", parts: [{ type: "file", content: "…" }] },
    ];
    const span = run({ "gen_ai.input.messages": JSON.stringify(messages) });
    expect(storyOf(span).question).toBe("Where is it?");
  });

  it("has the operator's text of a failure, and no answer of before", () => {
    const before = run({ "gen_ai.output.messages": said("assistant", "wait") });
    const failed = run(
      { "entelix.run.outcome": "failed" },
      { failed: true, message: "503 overloaded" },
    );
    expect(storyOf(before, failed)).toEqual({ error: "503 overloaded" });
  });

  it.each<[unknown, string]>([
    [{ question: "Refund order 17?" }, "Refund order 17?"],
    ["Refund order 17?", "Refund order 17?"],
    [
      [{ value: { actionRequests: [{ name: "refund", args: { order: 17 } }] } }],
      'refund {"order":17}',
    ],
    [
      [
        {
          value: { actionRequests: [{ name: "refund", args: { order: 17 } }] },
          tool_calls: [{ tool_use_id: "c1", tool: "refund" }],
        },
      ],
      'refund {"order":17}',
    ],
    [{ toolName: "refund", description: "Refunds." }, "refund"],
    [[1, null, [{ a: { b: { message: "Why?" } } }]], "Why?"],
    [{ a: 1 }, '{"a":1}'],
  ])("says what is asked in a pause: %j", (payload, asked) => {
    const paused = {
      "entelix.run.outcome": "interrupted",
      "entelix.interruption.payload": JSON.stringify(payload),
      "gen_ai.output.messages": said("assistant", "{}"),
    };
    expect(storyOf(run(paused))).toEqual({ asked });
  });

  it("has each decision once, with what the call and the run know of it", () => {
    const decided = {
      "entelix.approval.outcome": "edited",
      "entelix.approval.by": "user",
      "gen_ai.tool.call.id": "c1",
      "gen_ai.tool.name": "refund",
    };
    const call = toolSpan("tool", "run", TIMES, {
      attributes: { ...decided, "entelix.approval.wait_ms": 1200 },
    });
    const event = {
      name: "entelix.approval",
      time_ns: at(50),
      attributes: { ...decided, "entelix.approval.person": "ann" },
    };
    const both = {
      call_id: "c1",
      tool: "refund",
      outcome: "edited",
      at_ms: Math.floor(Number(at(0)) / 1e6),
      by: "user",
      person: "ann",
      wait_ms: 1200,
    };
    const ended = run({}, { events: [event] });
    expect(storyOf(call, ended).decisions).toEqual([both]);
    expect(storyOf(ended, call).decisions).toEqual([both]);
  });

  it("has both decisions about two calls with one ID", () => {
    const call = (id: string, from: number, outcome: string) =>
      toolSpan(
        id,
        "run",
        { from, to: from + 10 },
        {
          attributes: { "gen_ai.tool.call.id": "call_0", "entelix.approval.outcome": outcome },
        },
      );
    const event = (ms: number, outcome: string, person: string) => ({
      name: "entelix.approval",
      time_ns: at(ms),
      attributes: {
        "gen_ai.tool.call.id": "call_0",
        "entelix.approval.outcome": outcome,
        "entelix.approval.person": person,
      },
    });
    const events = [event(1, "edited", "ann"), event(21, "denied", "bob")];
    const spans = [call("one", 0, "edited"), call("two", 20, "denied"), run({}, { events })];
    for (const story of [storyOf(...spans), storyOf(...spans.reverse())]) {
      expect(story.decisions).toMatchObject([
        { outcome: "edited", person: "ann" },
        { outcome: "denied", person: "bob" },
      ]);
    }
  });

  it("has the first 8 decisions", () => {
    const calls = Array.from({ length: 20 }, (_, number) =>
      toolSpan(
        `${number}`,
        "run",
        { from: number, to: 100 },
        {
          attributes: {
            "entelix.approval.outcome": "approved",
            "gen_ai.tool.call.id": `${number}`,
          },
        },
      ),
    );
    expect(storyOf(...calls.reverse()).decisions?.map(({ call_id }) => call_id)).toEqual(
      Array.from("01234567"),
    );
  });

  it("has the model that answered first", () => {
    const model = (id: string, attributes: ViewAttributes) =>
      viewSpan(id, "run", TIMES, { kind: "model", attributes });
    const first = model("1", { "gen_ai.request.model": "m", "gen_ai.response.model": "m-1" });
    expect(storyOf(first, model("2", { "gen_ai.request.model": "n" })).model).toBe("m-1");
  });

  it("has the other models, the tools, their inputs and the tags", () => {
    const model = (id: string, name: string) =>
      viewSpan(id, "run", TIMES, { kind: "model", attributes: { "gen_ai.response.model": name } });
    const call = (id: string, tool: string, input: string) =>
      toolSpan(id, "run", TIMES, {
        attributes: { "gen_ai.tool.name": tool, "gen_ai.tool.call.arguments": input },
      });
    const spans = [
      model("1", "big"),
      model("2", "big"),
      model("3", "small"),
      model("4", "big"),
      call("5", "refund", '{"order": 17}'),
      // It was open when it came first.
      call("5", "refund", '{"order": 17}'),
      call("6", "mail", '{"text":\n"Hi"}'),
      run({ "entelix.run.tags": ["web", "web", "beta"] }),
    ];
    expect(storyOf(...spans)).toEqual({
      model: "big",
      models: ["big", "small"],
      tools: ["refund", "mail"],
      tool_inputs: '{"order": 17} {"text": "Hi"}',
      tags: ["web", "beta"],
    });
    expect(storyOf(model("1", "big"))).toEqual({ model: "big" });
  });

  it("of a model call of other instrumentation alone is what the call says", () => {
    const attributes = { ...ASKED, "gen_ai.output.messages": said("assistant", "Sent.") };
    const call = (rest: Partial<ViewSpan>) =>
      viewSpan("call", undefined, TIMES, { kind: "model", attributes, ...rest });
    expect(outerStoryOf(call({ vocabulary: "OpenInference" }))).toMatchObject({
      question: "Where is order 17?",
      answer: "Sent.",
      thread_id: "t1",
    });
    const below = { vocabulary: "OpenInference", parent_span_id: "agent", remote_parent: false };
    expect(outerStoryOf(call(below))).toBeUndefined();
    expect(storyOf(call({}))).toEqual({ question: "Where is order 17?" });
  });

  it("is bounded, whatever the spans say", () => {
    const long = (text: string) => `${text}${"x".repeat(5_000)}`;
    const spans = Array.from({ length: 50 }, (_, at) => [
      viewSpan(`m${at}`, "run", TIMES, {
        kind: "model",
        attributes: { "gen_ai.response.model": long(`${at}`) },
      }),
      toolSpan(`t${at}`, "run", TIMES, {
        attributes: {
          "gen_ai.tool.name": long(`${at}`),
          "gen_ai.tool.call.id": long(`${at}`),
          "gen_ai.tool.call.arguments": long(`${at}`),
          "entelix.approval.outcome": "approved",
          "entelix.approval.person": long(""),
        },
      }),
      run({
        "entelix.run.tags": Array.from({ length: 50 }, (_, tag) => long(`${tag}`)),
        "gen_ai.conversation.id": long(""),
        "user.id": long(""),
        "session.id": long(""),
      }),
    ]).flat();
    const {
      decisions = [],
      models = [],
      tags = [],
      tool_inputs = "",
      tools = [],
      ...story
    } = storyOf(...spans);
    expect([models.length, tools.length, tags.length, decisions.length]).toEqual([8, 12, 12, 8]);
    for (const name of [...models, ...tools, ...tags]) expect(name).toHaveLength(60);
    expect(tool_inputs).toHaveLength(300);
    expect([story.thread_id, story.user, story.session].map((id) => id?.length)).toEqual([
      200, 200, 200,
    ]);
    expect(JSON.stringify(decisions).length).toBeLessThan(8 * 700);
  });

  it("is short, and never half of a character", () => {
    const long = run({ "gen_ai.input.messages": said("user", "🎲".repeat(500_000)) });
    const { question = "" } = storyOf(long);
    expect(question).toBe("🎲".repeat(MOST_STORY_TEXT / 2));
  });

  it("has a note in place of an input that nests too deeply", () => {
    const args = `${"[".repeat(20_000)}${"]".repeat(20_000)}`;
    const payload = `{"name":"refund","args":${args}}`;
    const paused = {
      "entelix.run.outcome": "interrupted",
      "entelix.interruption.payload": payload,
    };
    expect(storyOf(run(paused)).asked).toBe("refund (nested too deeply to be shown)");
  });

  it.each(["", "not JSON", "[", "null", "[null]", '[{"role":5,"parts":{}}]'])(
    "is never an error: %j",
    (text) => {
      const attributes = { "gen_ai.input.messages": text, "gen_ai.output.messages": text };
      expect(() =>
        storyOf(run({ ...attributes, "entelix.interruption.payload": text })),
      ).not.toThrow();
    },
  );
});

describe("a run that was resumed", () => {
  const paused = runSpan("p", undefined, TIMES, {
    run_id: "paused",
    attributes: { ...ASKED, "entelix.run.outcome": "interrupted" },
  });
  const resumed = runSpan(
    "r",
    undefined,
    { from: 200, to: 300 },
    {
      run_id: "resumed",
      attributes: {
        "gen_ai.input.messages": said("user", '{"decisions":[]}'),
        "entelix.run.outcome": "complete",
        "entelix.run.resumed_from": "paused",
      },
    },
  );

  it.each([[[paused, resumed]], [[resumed, paused]]])(
    "has the question of the first run, which does not wait any more",
    (spans) => {
      using folder = new Folder();
      const store = new RunStore(folder.path);
      const source = store.addSource(STANDING.spans);
      for (const span of spans) store.add(source, span);
      const rows = ["paused", "resumed"].flatMap((id) => {
        const found = store.index.find("", id);
        return found === undefined ? [] : [store.view(found)];
      });
      expect(rows).toMatchObject([
        { question: "Where is order 17?", resumed: true },
        { question: "Where is order 17?", resumed_from: "paused" },
      ]);
      expect(rows[1]).not.toHaveProperty("resumed");
      store.close();
    },
  );

  it("is in one story with all runs before and after it", () => {
    const later = (id: string, from: string) =>
      runSpan(
        id,
        undefined,
        { from: 400, to: 500 },
        { run_id: id, attributes: { "entelix.run.resumed_from": from } },
      );
    const index = new RunIndex();
    const attributes = { ...resumed.attributes, "entelix.run.outcome": "interrupted" };
    const again = { ...resumed, attributes };
    const spans = [later("last", "resumed"), again, later("fork", "paused"), paused];
    // The same spans again change nothing.
    for (const span of [...spans, ...spans]) index.addSpan(span, 1);
    for (const id of ["paused", "resumed", "last", "fork"]) {
      const run = index.find("", id);
      const story = run === undefined ? [] : [...index.storyOf(run)].map(({ run_id }) => run_id);
      expect(story[0]).toBe(id);
      expect(story.toSorted()).toEqual(["fork", "last", "paused", "resumed"]);
    }
    index.addSpan(later("self", "self"), 1);
    const self = index.find("", "self");
    expect(self && index.storyOf(self).size).toBe(1);
  });

  it.each([
    ["complete", "before it"],
    ["failed", "before it"],
    ["complete", "after it"],
  ])(
    "is a new run of the conversation if the run that it names was %s and came %s",
    (outcome, order) => {
      using folder = new Folder();
      const store = new RunStore(folder.path);
      const source = store.addSource(STANDING.spans);
      const attributes = { ...ASKED, "entelix.run.outcome": outcome };
      const ended = { ...paused, attributes };
      for (const span of order === "before it" ? [ended, resumed] : [resumed, ended]) {
        store.add(source, span);
      }
      const [first, second] = ["paused", "resumed"].map((id) => store.index.find("", id));
      expect(first && store.view(first)).not.toHaveProperty("resumed");
      expect(second && store.view(second).resumed_from).toBeUndefined();
      expect(second && store.view(second).question).toBeUndefined();
      for (const run of [first, second]) expect(run && store.index.storyOf(run).size).toBe(1);
      store.close();
    },
  );

  it("is told to the page again when its resumption comes", () => {
    const index = new RunIndex();
    index.addSpan(paused, 1);
    const before = index.publish();
    index.addSpan(resumed, 1);
    index.publish();
    const run = index.find("", "paused");
    expect(run && index.isListed(run, before) && rowOf(run)).toMatchObject({ resumed: true });
  });

  describe("and has not ended yet", () => {
    const waiting = runSpan("p", undefined, TIMES, {
      run_id: "paused",
      attributes: {
        ...ASKED,
        "gen_ai.conversation.id": "t1",
        "entelix.run.outcome": "interrupted",
        "entelix.interruption.tool_use_id": "c2",
      },
    });
    const decided = (attributes: ViewAttributes) =>
      toolSpan(
        "d",
        "r",
        { from: 200, to: 210 },
        {
          run_id: "resumed",
          attributes: {
            "gen_ai.conversation.id": "t1",
            "gen_ai.tool.call.id": "c2",
            "entelix.approval.outcome": "approved",
            ...attributes,
          },
        },
      );
    const rowsAfter = (attributes: ViewAttributes) => {
      const index = new RunIndex();
      index.addSpan(waiting, 1);
      index.addSpan(decided(attributes), 1);
      return ["paused", "resumed"].map((id) => {
        const run = [...index.named(id)][0];
        return run && rowOf(run);
      });
    };

    it("is known by the call that was decided", () => {
      expect(rowsAfter({})).toMatchObject([{ resumed: true }, { resumed_from: "paused" }]);
    });

    it("is not supposed any more if its own span says nothing of it, and only once", () => {
      const index = new RunIndex();
      for (const span of [waiting, decided({})]) index.addSpan(span, 1);
      const again = { ...decided({}), run_id: "later", span_id: "e" };
      index.addSpan(again, 1);
      const rowIn = (id: string) => {
        const run = index.find("", id);
        return run && rowOf(run);
      };
      expect(rowIn("later")).not.toHaveProperty("resumed_from");
      index.addSpan(
        runSpan("r", undefined, { from: 190, to: 300 }, { run_id: "resumed", attributes: {} }),
        1,
      );
      expect(rowIn("resumed")).not.toHaveProperty("resumed_from");
      expect(rowIn("paused")).not.toHaveProperty("resumed");
    });

    it("is not a run that ended its call before the pause", () => {
      const index = new RunIndex();
      index.addSpan(waiting, 1);
      index.addSpan({ ...decided({}), start_ns: at(50) }, 1);
      const run = index.find("", "resumed");
      expect(run && rowOf(run)).not.toHaveProperty("resumed_from");
    });

    it.each([
      ["another conversation", { "gen_ai.conversation.id": "t2" }],
      ["another call", { "gen_ai.tool.call.id": "c3" }],
      ["another tenant", { "entelix.tenant_id": "other" }],
      ["a call without a decision", { "entelix.approval.outcome": null }],
    ])("is not %s", (_, attributes) => {
      const [paused, other] = rowsAfter(attributes);
      expect(paused).not.toHaveProperty("resumed");
      expect(other).not.toHaveProperty("resumed_from");
    });
  });
});
