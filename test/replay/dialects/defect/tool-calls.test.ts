import { describe, expect, it } from "vitest";
import { ALLOW, REJECT, Session, say, type Told } from "./session.ts";

function begin(): Session {
  return new Session().at(0, say.prompt()).at(1, say.started());
}

/** The signals of calls, and the notes. */
function calls(session: Session): Told[] {
  return session.told.filter(([, , kind]) => kind.startsWith("call_") || kind === "span_event");
}

const opened = (ms: number, callId: string, name = "bash"): Told => [
  ms,
  1,
  "call_opens",
  { callId, name, content: {}, attributes: { "entelix.acp.tool_kind": "execute" } },
];

describe("a tool call", () => {
  it("has its ACP kind and status, its progress folded, and its raw output", () => {
    const session = begin()
      .at(2, say.tool("c", "read", { path: "a" }))
      .at(3, say.policy("c", "allow"))
      .at(4, say.progress("c"))
      .at(5, say.progress("c"))
      .at(9, say.done("c", { rawOutput: { n: 9007199254740993n } }));
    expect(calls(session)).toEqual([
      [
        2,
        1,
        "call_opens",
        {
          callId: "c",
          name: "read",
          content: { path: "a" },
          attributes: { "entelix.acp.tool_kind": "execute" },
        },
      ],
      [
        9,
        1,
        "call_closes",
        {
          callId: "c",
          name: "read",
          durationMs: 0,
          content: { n: 9007199254740993n },
          attributes: {
            "entelix.acp.tool_status": "completed",
            "entelix.progress.count": 2,
            "entelix.policy.decision": "allow",
          },
        },
      ],
    ]);
  });

  it("that failed has its text for a message, and no class of error", () => {
    const session = begin().at(2, say.tool("c")).at(9, say.broke("c", "exit status 1"));
    expect(calls(session).slice(1)).toEqual([
      [
        9,
        1,
        "call_closes",
        {
          callId: "c",
          name: "bash",
          durationMs: 0,
          problem: { outcome: "error", message: "exit status 1" },
          attributes: { "entelix.acp.tool_status": "failed" },
        },
      ],
    ]);
  });

  it("of an unknown tool, which starts as failed, is an error and no denial", () => {
    const session = begin()
      .at(2, say.refused("c", "nope", "tool not found: nope"))
      .at(2, say.broke("c", "tool not found: nope"));
    expect(calls(session)).toMatchObject([
      [2, 1, "call_opens", { callId: "c", name: "nope" }],
      [2, 1, "call_closes", { problem: { message: "tool not found: nope" } }],
    ]);
  });

  it("whose start was lost is told by its end", () => {
    const session = begin().at(5, say.done("c"));
    expect(calls(session)).toEqual([
      [
        5,
        1,
        "call_closes",
        {
          callId: "c",
          name: "",
          durationMs: 0,
          content: "ok",
          attributes: { "entelix.acp.tool_status": "completed" },
        },
      ],
    ]);
  });

  it("is left open where its end is missing: the lifecycle ends it with its run", () => {
    const session = begin().at(2, say.tool("c")).at(9, say.ended("cancelled"));
    expect(calls(session)).toEqual([opened(2, "c")]);
  });

  it("with an id that comes again while it is open is another call, ended oldest first", () => {
    const session = begin()
      .at(2, say.tool("c", "first"))
      .at(3, say.tool("c", "second"))
      .at(4, say.done("c"))
      .at(5, say.broke("c"));
    expect(calls(session).map(([ms, , kind, said]) => [ms, kind, said.name])).toEqual([
      [2, "call_opens", "first"],
      [3, "call_opens", "second"],
      [4, "call_closes", "first"],
      [5, "call_closes", "second"],
    ]);
  });
});

describe("a permission", () => {
  it("that was asked and given is an approval, with the wait", () => {
    const session = begin()
      .at(2, say.tool("c"))
      .at(3, say.asked("c"))
      .at(1003, say.chosen("c", "y"))
      .at(1005, say.done("c"));
    expect(calls(session).slice(1)).toEqual([
      [3, 1, "span_event", { name: "entelix.approval_asked", on: { callId: "c" } }],
      [1003, 1, "call_approved", { callId: "c", name: "bash", waitMs: 1000 }],
      [
        1005,
        1,
        "call_closes",
        {
          callId: "c",
          name: "bash",
          durationMs: 0,
          content: "ok",
          attributes: {
            "entelix.acp.tool_status": "completed",
            "entelix.policy.decision": "ask",
            "entelix.approval.by": "user",
            "entelix.approval.option": "allow_once",
          },
        },
      ],
    ]);
  });

  it("that was asked and refused is a denial by the user, with the wait and the reason", () => {
    const session = begin()
      .at(2, say.tool("c"))
      .at(3, say.asked("c"))
      .at(503, say.chosen("c", "n"))
      .at(504, say.refused("c", "bash", "denied by user"))
      .at(504, say.broke("c", "denied by user"));
    expect(calls(session).slice(2)).toEqual([
      [
        504,
        1,
        "call_denied",
        {
          callId: "c",
          name: "bash",
          content: "denied by user",
          attributes: {
            "entelix.acp.tool_status": "failed",
            "entelix.policy.decision": "ask",
            "entelix.approval.by": "user",
            "entelix.approval.option": "reject_once",
            "entelix.approval.wait_ms": 500,
          },
        },
      ],
    ]);
  });

  it("that the policy refused is a denial by the policy; asking for nothing is the same", () => {
    for (const decision of [say.policy("c", "deny"), say.asked("c", [])]) {
      const session = begin()
        .at(2, say.tool("c"))
        .at(3, decision)
        .at(3, say.refused("c", "", "denied by policy"))
        .at(3, say.broke("c", "denied by policy"));
      expect(calls(session).slice(1)).toMatchObject([
        [
          3,
          1,
          "call_denied",
          {
            name: "bash",
            content: "denied by policy",
            attributes: { "entelix.approval.by": "policy" },
          },
        ],
      ]);
    }
  });

  it("that nobody gave leaves the call to its turn's end", () => {
    const session = begin()
      .at(2, say.tool("c"))
      .at(3, say.asked("c"))
      .at(43, say.nobody("c"))
      .at(44, say.ended("cancelled"));
    expect(calls(session).slice(2)).toEqual([
      [
        43,
        1,
        "span_event",
        {
          name: "entelix.approval",
          on: { callId: "c" },
          attributes: { "entelix.approval.outcome": "cancelled", "entelix.approval.wait_ms": 40 },
        },
      ],
    ]);
  });

  it("with an answer that was not offered is refused, as upstream has it", () => {
    const session = begin()
      .at(2, say.tool("c"))
      .at(3, say.asked("c", [ALLOW]))
      .at(4, say.chosen("c", "elsewhere"))
      .at(9, say.ended());
    const denied = session.only("call_denied");
    expect(denied).toMatchObject([[4, 1, "call_denied", { callId: "c", name: "bash" }]]);
    expect(session.only("call_approved")).toEqual([]);
  });

  it("whose request was lost is denied only if the call is then started again as failed", () => {
    const base = () => begin().at(2, say.tool("c")).at(4, say.chosen("c", "n"));
    const denied = base().at(5, say.refused("c")).at(5, say.broke("c"));
    expect(calls(denied).slice(1)).toMatchObject([
      [5, 1, "call_denied", { attributes: { "entelix.approval.by": "user" } }],
    ]);
    const ran = base().at(5, say.done("c"));
    expect(calls(ran).slice(1)).toMatchObject([
      [5, 1, "call_closes", { attributes: { "entelix.approval.by": "user" } }],
    ]);
  });

  it("is told once where its events come twice", () => {
    const session = begin()
      .at(2, say.tool("c"))
      .at(2, say.tool("c"))
      .at(3, say.asked("c", [ALLOW, REJECT]))
      .at(3, say.asked("c", [ALLOW, REJECT]))
      .at(4, say.chosen("c", "n"))
      .at(4, say.chosen("c", "y"))
      .at(5, say.refused("c"))
      .at(5, say.refused("c"))
      .at(5, say.broke("c"))
      .at(5, say.refused("c"))
      .at(5, say.broke("c"));
    // The lifecycle knows the repeated start of a call by its looks.
    expect(calls(session).map(([ms, , kind]) => [ms, kind])).toEqual([
      [2, "call_opens"],
      [2, "call_opens"],
      [3, "span_event"],
      [5, "call_denied"],
    ]);
  });

  it("of a call whose start was lost is told with what is known", () => {
    const denied = begin()
      .at(3, say.policy("c", "deny"))
      .at(3, say.refused("c", "rm"))
      .at(3, say.broke("c"));
    expect(calls(denied)).toMatchObject([
      [
        3,
        1,
        "call_denied",
        { callId: "c", name: "rm", attributes: { "entelix.approval.by": "policy" } },
      ],
    ]);
    const given = begin().at(3, say.asked("c")).at(8, say.chosen("c", "y")).at(9, say.done("c"));
    expect(calls(given)).toMatchObject([
      [3, 1, "span_event", {}],
      [8, 1, "call_approved", { callId: "c", name: "", waitMs: 5 }],
      [9, 1, "call_closes", { callId: "c", name: "" }],
    ]);
  });

  it("that was decided before its call's start came is of that call", () => {
    const session = begin()
      .at(3, say.policy("c", "deny"))
      .at(3, say.tool("c", "rm"))
      .at(3, say.broke("c", "denied by policy"));
    expect(calls(session)).toMatchObject([
      [3, 1, "call_opens", { callId: "c", name: "rm" }],
      [3, 1, "call_denied", { callId: "c", name: "rm", content: "denied by policy" }],
    ]);
  });

  it("leaves a later call of the same id alone", () => {
    const session = begin()
      .at(2, say.tool("c"))
      .at(3, say.policy("c", "deny"))
      .at(3, say.refused("c"))
      .at(3, say.broke("c"))
      .at(10, say.tool("c"))
      .at(11, say.policy("c", "allow"))
      .at(12, say.done("c"));
    expect(calls(session).map(([ms, , kind]) => [ms, kind])).toEqual([
      [2, "call_opens"],
      [3, "call_denied"],
      [10, "call_opens"],
      [12, "call_closes"],
    ]);
  });
});
