import { describe, expect, it } from "vitest";
import { derivedRunId } from "../../../../src/replay/dialects/mapping.ts";
import { replayed } from "./replayed.ts";
import { Session, say } from "./session.ts";

const run = (stream: string, opening: string) => derivedRunId("default", stream, opening);

describe("a sub-agent", () => {
  it("is a run below the call that spawned it, with equal ids on every level", () => {
    const session = new Session()
      .at(0, say.prompt())
      .at(1, say.tool("t1", "spawn_agent"))
      .at(2, say.prompt(), ["t1"])
      .at(3, say.tool("t1", "spawn_agent"), ["t1"])
      .at(4, say.prompt(), ["t1", "t1"])
      .at(5, say.tool("t1", "read"), ["t1", "t1"])
      .at(6, say.done("t1"), ["t1", "t1"])
      .at(7, say.ended("end_turn", { input_tokens: 5, cache_creation_input_tokens: 1 }), [
        "t1",
        "t1",
      ])
      .at(8, say.done("t1"), ["t1"])
      .at(9, say.ended("max_turn_requests"), ["t1"])
      .at(10, say.broke("t1"))
      .at(11, say.ended());
    expect(session.runs).toEqual([run("s", "0"), run("s/t1", "0"), run("s/t1/t1", "0")]);
    expect(session.only("run_opens").map(([ms, , , said]) => [ms, said])).toEqual([
      [0, { threadId: "s", attributes: { "entelix.source": "defect" } }],
      [
        2,
        {
          agent: "a-t1",
          parentRunId: run("s", "0"),
          parentCallId: "t1",
          attributes: { "entelix.source": "defect" },
        },
      ],
      [
        4,
        {
          agent: "a-t1-t1",
          parentRunId: run("s/t1", "0"),
          parentCallId: "t1",
          attributes: { "entelix.source": "defect" },
        },
      ],
    ]);
    expect(
      session.told
        .filter(([, , kind]) => kind.startsWith("call_"))
        .map(([ms, n, kind, said]) => [ms, n, kind, said.name]),
    ).toEqual([
      [1, 1, "call_opens", "spawn_agent"],
      [3, 2, "call_opens", "spawn_agent"],
      [5, 3, "call_opens", "read"],
      [6, 3, "call_closes", "read"],
      [8, 2, "call_closes", "spawn_agent"],
      [10, 1, "call_closes", "spawn_agent"],
    ]);
    expect(session.only("run_closes")).toMatchObject([
      [
        7,
        3,
        "run_closes",
        {
          end: {
            outcome: "complete",
            attributes: {
              "entelix.usage.input_tokens": 5,
              "entelix.usage.cache_write.input_tokens": 1,
            },
          },
        },
      ],
      [9, 2, "run_closes", { end: { outcome: "failed", kind: { type: "usage_limit_exceeded" } } }],
      [11, 1, "run_closes", { end: { outcome: "complete" } }],
    ]);
  });

  it("in the background outlives its call and its turn, and is still of them", () => {
    const session = new Session()
      .at(0, say.prompt())
      .at(1, say.tool("bg", "spawn_agent"))
      .at(2, say.done("bg"))
      .at(3, say.prompt(), ["bg"])
      .at(4, say.ended())
      .at(5, say.asks(), ["bg"])
      .at(6, say.answered(), ["bg"])
      .at(20, say.prompt("background result"))
      .at(21, say.ended(), ["bg"])
      .at(22, say.prompt("more"), ["bg"])
      .at(23, say.ended(), ["bg"])
      .at(24, say.ended());
    const first = run("s", "0");
    expect(session.only("run_opens").map(([ms, , , said]) => [ms, said.parentRunId])).toEqual([
      [0, undefined],
      [3, first],
      [20, undefined],
      [22, first],
    ]);
    expect(session.only("run_closes").map(([ms, n]) => [ms, n])).toEqual([
      [4, 1],
      [21, 2],
      [23, 4],
      [24, 3],
    ]);
    expect(session.only("model_closes")).toMatchObject([[6, 2, "model_closes", {}]]);
    // The second time it began, another turn was open than that of its call.
    expect(session.mapping.counts.unannounced).toBe(1);
    const announced = session.rows.filter(({ event }) => event.kind === "sub_agent_invoked");
    expect(announced.map(({ runId }) => runId)).toEqual([first]);
  });

  it("of an id that comes again in a later turn is of that turn", () => {
    const session = new Session()
      .at(0, say.prompt())
      .at(1, say.tool("t1", "spawn_agent"))
      .at(2, say.prompt(), ["t1"])
      .at(3, say.ended(), ["t1"])
      .at(4, say.ended())
      .at(10, say.prompt())
      .at(11, say.tool("t1", "spawn_agent"))
      .at(12, say.prompt(), ["t1"]);
    expect(session.only("run_opens").map(([ms, , , said]) => [ms, said.parentRunId])).toEqual([
      [0, undefined],
      [2, run("s", "0")],
      [10, undefined],
      [12, run("s", "3")],
    ]);
    expect(new Set(session.runs).size).toBe(4);
  });

  it("whose spawning call was lost is of the turn that is open, or was last", () => {
    const session = new Session()
      .at(0, say.prompt())
      .at(1, say.prompt(), ["x"])
      .at(2, say.ended())
      .at(3, say.prompt(), ["y"]);
    expect(session.only("run_opens").slice(1)).toMatchObject([
      [1, 2, "run_opens", { parentRunId: run("s", "0"), parentCallId: "x" }],
      [3, 3, "run_opens", { parentRunId: run("s", "0"), parentCallId: "y" }],
    ]);
  });

  it("whose spawning call was lost stands under that call all the same", async () => {
    const at = (sequence: number, event: object, path: string[] = []) => ({
      timestamp: `2026-06-12T10:00:0${sequence}Z`,
      sequence,
      session_id: "s",
      ...(path.length === 0
        ? event
        : { type: "subagent", ancestor_path: path, agent_type: "explore", inner: event }),
    });
    const lines = [at(0, say.prompt(), ["x"]), at(1, say.ended(), ["x"])];
    const [told, unfinished] = await Promise.all([
      replayed([...lines, at(2, say.done("x")), at(3, say.ended())]),
      replayed(lines),
    ]);
    const tree = (outcome: string) => ({
      span: "invoke_agent",
      children: [
        {
          span: "execute_tool",
          start: "2026-06-12T10:00:00Z",
          attributes: { "gen_ai.tool.call.id": "x", "entelix.tool.outcome": outcome },
          children: [{ span: "invoke_agent explore", end: "2026-06-12T10:00:01Z" }],
        },
      ],
    });
    expect(told.trees).toMatchObject([tree("complete")]);
    expect(told.trees[0]?.children[0]?.end).toBe("2026-06-12T10:00:02Z");
    expect(unfinished.trees).toMatchObject([tree("unfinished")]);
    expect(unfinished.trees[0]?.children[0]?.attributes).not.toHaveProperty("gen_ai.tool.name");
  });

  it("whose spawning call is known by what was decided on it stands under that call", async () => {
    const at = (sequence: number, event: object) => ({
      timestamp: `2026-06-12T10:00:0${sequence}Z`,
      sequence,
      session_id: "s",
      ...event,
    });
    const inner = { type: "subagent", ancestor_path: ["x"], agent_type: "explore" };
    const lines = [
      at(0, say.prompt()),
      at(1, say.policy("x", "allow")),
      at(2, { ...inner, inner: say.prompt() }),
      at(3, { ...inner, inner: say.ended() }),
    ];
    const [told, unfinished] = await Promise.all([
      replayed([...lines, at(4, say.done("x")), at(5, say.ended())]),
      replayed(lines),
    ]);
    const tree = (end: string, outcome: string) => ({
      span: "invoke_agent",
      children: [
        {
          span: "execute_tool",
          start: "2026-06-12T10:00:02Z",
          end,
          attributes: { "entelix.tool.outcome": outcome },
          children: [{ span: "invoke_agent explore", end: "2026-06-12T10:00:03Z" }],
        },
      ],
    });
    expect(told.trees).toMatchObject([tree("2026-06-12T10:00:04Z", "complete")]);
    expect(unfinished.trees).toMatchObject([tree("2026-06-12T10:00:03Z", "unfinished")]);
  });

  it("that comes before anything of its session opens what is above it", () => {
    const session = new Session()
      .at(5, say.asks(), ["a", "b"])
      .at(6, say.asks(), ["a"])
      .at(7, say.done("a"))
      .at(8, say.started());
    expect(session.only("run_opens").map(([ms, , , said]) => [ms, said])).toMatchObject([
      [5, { attributes: { "entelix.run.start_unseen": true } }],
      [5, { parentRunId: run("s", "0"), parentCallId: "a" }],
      [5, { agent: "a-a-b", parentRunId: run("s/a", "0"), parentCallId: "b" }],
      [8, { attributes: { "entelix.source": "defect" } }],
    ]);
    // The name of the one between is known as soon as one of its own events comes.
    expect(session.only("attributes")).toEqual([
      [6, 2, "attributes", { attributes: { "gen_ai.agent.name": "a-a" } }],
    ]);
    expect(new Set(session.runs).size).toBe(4);
  });

  it("and its session keep apart what they know of equal call ids", () => {
    const session = new Session()
      .at(0, say.prompt())
      .at(1, say.tool("c"))
      .at(2, say.asked("c"))
      .at(3, say.tool("spawn", "spawn_agent"))
      .at(4, say.prompt(), ["spawn"])
      .at(5, say.tool("c", "rm"), ["spawn"])
      .at(6, say.policy("c", "deny"), ["spawn"])
      .at(6, say.refused("c", "rm"), ["spawn"])
      .at(6, say.broke("c"), ["spawn"])
      .at(9, say.chosen("c", "y"))
      .at(10, say.done("c"));
    expect(session.only("call_denied")).toMatchObject([[6, 2, "call_denied", { name: "rm" }]]);
    expect(session.only("call_approved")).toMatchObject([[9, 1, "call_approved", { waitMs: 7 }]]);
    expect(session.only("call_closes")).toMatchObject([[10, 1, "call_closes", { callId: "c" }]]);
  });
});
