import { describe, expect, it } from "vitest";
import { stringifyExact } from "../../../../src/entries/events.ts";
import { agentSdkDialect } from "../../../../src/replay/dialects/agent-sdk/agent-sdk-dialect.ts";
import { AgentSdkMapping } from "../../../../src/replay/dialects/agent-sdk/agent-sdk-mapping.ts";
import type { JsonObject } from "../../../../src/replay/dialects/dialect.ts";
import { expectTrees, readExpected } from "../../../bridge/spans/expected-tree.ts";
import { replayDialect } from "../../../support/replay-dialect.ts";
import { flat } from "../../../support/run-events.ts";

import { STREAMS } from "./golden-lines.ts";
import { call, confirm, done, lines, result, start, text, turnComplete } from "./reader.ts";

/** Replays a file of lines; the spans, and how often each began and ended. */
async function replay(all: readonly JsonObject[]) {
  const texts = all.map((line) => stringifyExact(line));
  const result = await replayDialect(agentSdkDialect, new AgentSdkMapping(), texts);
  return { ...result, all: flat(result.trees) };
}

const drawn = readExpected("agent_sdk_trees.json");

describe("the trees of agent-sdk runs", () => {
  it("were drawn for every stream", () => {
    expect([...drawn.keys()]).toEqual(STREAMS.map(({ name }) => name));
  });

  for (const { name, lines: all } of STREAMS) {
    it(`${name} gives the tree that was drawn by hand`, async () => {
      const { trees, started, ended, reports, diagnostics, all: nodes } = await replay(all);
      expectTrees(trees, drawn.get(name) ?? []);
      expect([...ended.values()]).toEqual(nodes.map(() => 1));
      expect([...started.keys()].sort()).toEqual([...ended.keys()].sort());
      expect(reports).toEqual([]);
      expect(diagnostics.adjustments.clamped).toBe(0);
    });

    it(`${name} gives the same again when every line comes twice`, async () => {
      const twice = await replay(all.flatMap((line) => [line, line]));
      expectTrees(twice.trees, drawn.get(name) ?? []);
    });
  }

  it.each(STREAMS)("$name gives the same where the lines came in another order", async (stream) => {
    const mixed = await replay([...stream.lines].reverse());
    expectTrees(mixed.trees, drawn.get(stream.name) ?? []);
  });

  it("put lines of one time in the order of their sequences", async () => {
    const at = { timestamp: "2026-06-05T10:00:00Z" };
    const all = lines(
      start(),
      text(),
      call("a"),
      result("a"),
      turnComplete(),
      start(2),
      text(),
      done,
    );
    const { trees } = await replay(all.map((line) => ({ ...line, ...at })).reverse());
    expect(trees.map(({ span, attributes }) => [span, attributes["entelix.run.outcome"]])).toEqual([
      ["invoke_agent", "complete"],
    ]);
    expect(trees[0]?.children.map(({ span }) => span).sort()).toEqual([
      "chat",
      "chat",
      "execute_tool bash",
    ]);
  });

  it("show the retries of a model call as points of it", async () => {
    const stream = STREAMS.find(({ name }) => name.endsWith("#real_retry_then_ok"));
    const { all } = await replay(stream?.lines ?? []);
    const chat = all.find(({ span }) => span === "chat");
    expect(chat?.events).toEqual(["entelix.retry", "entelix.retry"]);
  });
});

/** The first and the last line of another thread. */
const other = (type: string): JsonObject => ({
  ...(type === "start" ? start() : done),
  thread_id: "other",
});

describe("a stream that just stops", () => {
  it("after `start`, as upstream leaves a request it refused, is abandoned", async () => {
    const { trees } = await replay(lines(start()));
    expect(trees).toMatchObject([
      {
        span: "invoke_agent",
        status: "unset",
        attributes: {
          "entelix.run.outcome": "abandoned",
          "entelix.run.abandoned_reason": "end_of_input",
        },
        children: [{ span: "chat", status: "unset" }],
      },
    ]);
  });

  it("while the model streams or a tool reports ends when it was last heard of", async () => {
    const delta = { type: "text_delta", message_id: "m1", delta: "h" };
    const streamed = await replay(lines(start(), delta, delta));
    expect(streamed.trees).toMatchObject([
      {
        end: "2026-06-05T10:00:02Z",
        attributes: { "entelix.run.outcome": "abandoned" },
        children: [
          {
            span: "chat",
            end: "2026-06-05T10:00:02Z",
            attributes: {
              "entelix.model.outcome": "unfinished",
              "gen_ai.response.time_to_first_chunk": 1,
            },
          },
        ],
      },
    ]);
    const tool = { id: "a", name: "bash", display_name: "", stage: "", message: "" };
    const working = lines(start(), call("a"), { type: "tool_progress", ...tool });
    const { all } = await replay(working);
    expect(all.map(({ span, end }) => [span, end.slice(17)])).toEqual([
      ["invoke_agent", "02Z"],
      ["chat", "01Z"],
      ["execute_tool bash", "02Z"],
    ]);
  });

  it("and was given up for its age is not opened again by the end of the input", async () => {
    const [first, ...others] = lines(start(), text(), ...["start", "done"].map(other));
    const later = others.map((line, n) =>
      n === 0 ? line : { ...line, timestamp: `2026-06-07T10:00:0${n}Z` },
    );
    const { trees } = await replay([first ?? {}, ...later]);
    expect(trees.map(({ attributes }) => attributes["entelix.run.abandoned_reason"])).toEqual([
      "age",
      undefined,
    ]);
  });

  it("at a confirmation is a pause; nothing of it is an error", async () => {
    const { trees } = await replay(lines(start(), text(), call("tu_1"), confirm("tu_1")));
    expect(trees).toMatchObject([
      {
        status: "unset",
        end: "2026-06-05T10:00:03Z",
        attributes: {
          "entelix.run.outcome": "interrupted",
          "entelix.interruption.kind": "approval_pending",
          "entelix.interruption.tool_use_id": "tu_1",
        },
        children: [
          { span: "chat", status: "unset", end: "2026-06-05T10:00:02Z" },
          {
            span: "execute_tool bash",
            status: "unset",
            attributes: { "entelix.tool.outcome": "interrupted" },
          },
        ],
      },
    ]);
    for (const node of flat(trees)) expect(node.attributes).not.toHaveProperty("error.type");
  });

  it("at a confirmation, and whose thread goes on with another run, was a pause too", async () => {
    const next = lines(
      start(),
      call("tu_1"),
      confirm("tu_1"),
      start(),
      text(),
      turnComplete(),
      done,
    );
    const { trees } = await replay(next);
    expect(trees.map(({ attributes }) => attributes["entelix.run.outcome"])).toEqual([
      "interrupted",
      "complete",
    ]);
    expect(trees[0]?.end).toBe("2026-06-05T10:00:02Z");
    expect(trees[1]?.linkKinds).toEqual(["after_interrupted"]);
  });

  it("at a question is a pause, and what was said before it was the model's answer", async () => {
    const asked = { type: "question_asked", task_id: "task-1", questions: [] };
    const { trees } = await replay(lines(start(), text(), asked));
    expect(trees).toMatchObject([
      {
        end: "2026-06-05T10:00:02Z",
        attributes: { "entelix.run.outcome": "interrupted", "entelix.interruption.kind": "custom" },
        children: [
          {
            span: "chat",
            end: "2026-06-05T10:00:01Z",
            attributes: { "entelix.model.outcome": "complete" },
          },
        ],
      },
    ]);
  });

  it("before its beginning says so, and keeps its thread", async () => {
    const { trees } = await replay(lines(result("tu_1"), turnComplete(), { ...done }));
    expect(trees).toMatchObject([
      {
        start: "2026-06-05T09:59:59.500Z",
        attributes: {
          "entelix.run.start_unseen": true,
          "entelix.source": "agent-sdk",
          "gen_ai.conversation.id": "th",
          "entelix.run.outcome": "complete",
        },
      },
    ]);
  });
});

describe("a run that looked over for longer than the age limit", () => {
  /** The lines from the given one on come two days later. */
  const late = (all: readonly JsonObject[], from: number) =>
    all.map((line, n) =>
      n < from ? line : { ...line, timestamp: `2026-06-07T10:00:${String(n).padStart(2, "0")}Z` },
    );

  it("as it waited for a human has the answer of its model, and goes on in its next segment", async () => {
    const retried = {
      type: "auto_retry_start",
      attempt: 1,
      max_attempts: 5,
      delay_ms: 100,
      error_message: "429",
    };
    const all = lines(
      start(),
      retried,
      call("tu_1"),
      confirm("tu_1"),
      result("tu_1"),
      turnComplete(),
      done,
    );
    const { trees, ended, diagnostics } = await replay(late(all, 4));
    expect(trees).toMatchObject([
      {
        end: "2026-06-05T10:00:03Z",
        attributes: { "entelix.run.outcome": "interrupted" },
        children: [
          {
            span: "chat",
            end: "2026-06-05T10:00:02Z",
            attributes: { "entelix.model.outcome": "complete", "entelix.retry.count": 1 },
          },
          { attributes: { "entelix.tool.outcome": "interrupted" } },
        ],
      },
      { attributes: { "entelix.run.outcome": "complete", "entelix.run.segment": 2 } },
    ]);
    expect(Math.max(...ended.values())).toBe(1);
    expect(diagnostics.ignored).toMatchObject({ after_end: 0, second_terminal: 0 });
  });

  it("after an error that was none goes on in its next segment", async () => {
    const error = { type: "error", message: "blip", recoverable: true };
    const all = lines(
      start(),
      text(),
      turnComplete(),
      error,
      start(2),
      call("a"),
      result("a"),
      done,
    );
    const { trees, ended, diagnostics } = await replay(late(all, 4));
    expect(trees).toMatchObject([
      { end: "2026-06-05T10:00:03Z", attributes: { "entelix.run.outcome": "failed" } },
      {
        start: "2026-06-07T10:00:04Z",
        end: "2026-06-07T10:00:07Z",
        linkKinds: ["previous_segment"],
        attributes: { "entelix.run.outcome": "complete", "entelix.run.segment": 2 },
        children: [
          { span: "chat", attributes: { "entelix.model.outcome": "complete" } },
          { span: "execute_tool bash", attributes: { "entelix.tool.outcome": "complete" } },
        ],
      },
    ]);
    expect(Math.max(...ended.values())).toBe(1);
    expect(diagnostics.ignored).toMatchObject({ after_end: 0, second_terminal: 0 });
  });
});

describe("a confirmed call", () => {
  it("has its approval and how long it took", async () => {
    const { all } = await replay(
      lines(start(), call("tu_1"), confirm("tu_1"), result("tu_1"), turnComplete(), done),
    );
    const tool = all.find(({ span }) => span.startsWith("execute_tool"));
    expect(tool?.attributes).toMatchObject({
      "entelix.approval.outcome": "approved",
      "entelix.approval.wait_ms": 500,
      "entelix.tool.outcome": "complete",
    });
  });

  it("that was rejected is denied, and no error", async () => {
    const no = result("tu_1", { success: false, output: "Rejected: no", duration_ms: null });
    const { all } = await replay(lines(start(), call("tu_1"), confirm("tu_1"), no, done));
    const tool = all.find(({ span }) => span.startsWith("execute_tool"));
    expect(tool).toMatchObject({
      status: "unset",
      attributes: { "entelix.tool.outcome": "denied" },
    });
  });
});
