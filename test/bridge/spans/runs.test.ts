import { describe, expect, it } from "vitest";
import { bench, RunEvents } from "../../support/run-events.ts";

const RUN = "018f3c7a-0000-7000-8000-000000000002";
const PARENT = "018f3c7a-0000-7000-8000-000000000001";
const run = new RunEvents(RUN);
const envelope = { wire_code: "cancelled", wire_class: "client" } as const;

describe("a run that failed", () => {
  it("is an ERROR with its failure kind, the terminal tool and the envelope", () => {
    const test = bench();
    test.at(0, run.started());
    test.at(
      1,
      run.failed({
        error: "tool bigquery terminal (auth)",
        kind: { type: "tool_error_terminal", kind: "auth", tool_name: "bigquery" },
        envelope: {
          wire_code: "upstream_unauthorized",
          wire_class: "client",
          provider_status: 401,
        },
      }),
    );
    const span = test.find("invoke_agent react");
    expect([span.status, span.description]).toEqual(["error", "tool bigquery terminal (auth)"]);
    expect(span.attributes).toEqual({
      "gen_ai.operation.name": "invoke_agent",
      "gen_ai.agent.name": "react",
      "entelix.run_id": RUN,
      "entelix.tenant_id": "acme",
      "entelix.run.outcome": "failed",
      "error.type": "tool_error_terminal",
      "entelix.failure.kind": "tool_error_terminal",
      "entelix.failure.fingerprint": "tool_error_terminal|tool|bigquery||upstream_unauthorized",
      "entelix.failure.tool_name": "bigquery",
      "entelix.failure.tool_error_kind": "auth",
      "entelix.error.wire_code": "upstream_unauthorized",
      "entelix.error.wire_class": "client",
      "entelix.error.provider_status": 401,
    });
  });

  it("for a benign reason is Unset, keeps the kind, and has the text in an attribute", () => {
    const test = bench({ benignFailureKinds: ["cancelled"] });
    test.at(0, run.started());
    test.at(1, run.failed({ error: "operation cancelled", kind: { type: "cancelled" }, envelope }));
    const span = test.find("invoke_agent react");
    expect([span.status, span.description]).toEqual(["unset", undefined]);
    expect(span.attributes).toMatchObject({
      "entelix.run.outcome": "failed",
      "entelix.failure.kind": "cancelled",
      "entelix.error.message": "operation cancelled",
      "entelix.error.wire_code": "cancelled",
    });
    expect(span.attributes).not.toHaveProperty("error.type");
  });

  it("for another reason stays an ERROR beside benign kinds", () => {
    const test = bench({ benignFailureKinds: ["cancelled"] });
    test.at(0, run.started());
    test.at(1, run.failed());
    const span = test.find("invoke_agent react");
    expect([span.status, span.attributes["error.type"]]).toEqual(["error", "model_dispatch"]);
  });

  it("and came from an older agent gets its kind from the envelope; a pause is one there too", () => {
    const test = bench();
    const { kind: _, ...older } = run.failed({ envelope });
    test.at(0, run.started());
    test.at(1, older);
    expect(test.find("invoke_agent react").attributes["entelix.failure.kind"]).toBe("cancelled");

    const paused = bench();
    const { kind: _kind, ...interrupt } = run.failed({
      error: "awaiting review",
      envelope: { wire_code: "interrupted", wire_class: "client" },
    });
    paused.at(0, run.started());
    paused.at(1, interrupt);
    const span = paused.find("invoke_agent react");
    expect(span.status).toBe("unset");
    expect(span.attributes).toMatchObject({
      "entelix.run.outcome": "interrupted",
      "entelix.error.message": "awaiting review",
    });
    expect(span.attributes).not.toHaveProperty("entelix.failure.kind");
    expect(span.attributes).not.toHaveProperty("entelix.interruption.kind");
  });
});

describe("a run that paused", () => {
  it.each([
    [{ type: "custom" }, {}],
    [
      { type: "approval_pending", tool_use_id: "call_1" },
      { "entelix.interruption.tool_use_id": "call_1" },
    ],
    [
      { type: "scheduled_pause", phase: "before", node: "plan" },
      { "entelix.interruption.phase": "before", "entelix.interruption.node": "plan" },
    ],
  ] as const)("says why: %j", (kind, more) => {
    const test = bench();
    test.at(0, run.started());
    test.at(1, run.interrupted({ kind }));
    const span = test.find("invoke_agent react");
    expect(span.status).toBe("unset");
    expect(span.attributes).toEqual({
      "gen_ai.operation.name": "invoke_agent",
      "gen_ai.agent.name": "react",
      "entelix.run_id": RUN,
      "entelix.tenant_id": "acme",
      "entelix.run.outcome": "interrupted",
      "entelix.interruption.kind": kind.type,
      ...more,
    });
  });
});

describe("usage", () => {
  const usage = {
    requests: 3,
    input_tokens: 360,
    output_tokens: 2n ** 53n,
    tool_calls: 2,
    cost_usd: "0.0060",
  };

  it("of a root run has the names that backends sum", () => {
    const test = bench();
    test.at(0, run.started());
    test.at(1, run.complete({ usage }));
    expect(test.find("invoke_agent react").attributes).toMatchObject({
      "gen_ai.usage.input_tokens": 360,
      "gen_ai.usage.output_tokens": 2 ** 53,
      "entelix.usage.requests": 3,
      "entelix.usage.tool_calls": 2,
      "entelix.agent.usage.cost": "0.0060",
    });
    expect(test.find("invoke_agent react").attributes).not.toHaveProperty(
      "entelix.usage.cumulative",
    );
  });

  it("of a child run has other names, since it contains its parent's", () => {
    const test = bench();
    test.at(0, new RunEvents(PARENT).started("top"));
    test.at(1, run.started("child", PARENT));
    test.at(2, run.complete({ usage }));
    const { attributes } = test.find("invoke_agent child");
    expect(attributes).toMatchObject({
      "entelix.usage.input_tokens": 360,
      "entelix.usage.output_tokens": 2 ** 53,
      "entelix.usage.requests": 3,
      "entelix.usage.tool_calls": 2,
      "entelix.usage.cost": "0.0060",
      "entelix.usage.cumulative": true,
    });
    expect(Object.keys(attributes).filter((name) => name.startsWith("gen_ai.usage"))).toEqual([]);
    expect(attributes).not.toHaveProperty("entelix.agent.usage.cost");
  });

  it("of a run whose parent nobody vouched for counts as a root's", () => {
    const test = bench();
    test.at(1, run.started("child", PARENT));
    test.at(2, run.complete({ usage }));
    expect(test.find("invoke_agent child").attributes["gen_ai.usage.input_tokens"]).toBe(360);
  });
});

describe("a run that was never seen to start", () => {
  it("is opened by a tool event, named by nothing, and says so", () => {
    const test = bench();
    test.at(1, run.toolStart("call_1"));
    test.at(2, run.toolComplete("call_1"));
    test.at(3, run.complete());
    const span = test.find("invoke_agent");
    expect(span).toMatchObject({
      trace: "018f3c7a000070008000000000000002",
      span_id: "8000000000000002",
      start: "2026-04-29T12:00:01Z",
      end: "2026-04-29T12:00:03Z",
      attributes: { "entelix.run.start_unseen": true, "entelix.run.outcome": "complete" },
    });
    expect(span.attributes).not.toHaveProperty("gen_ai.agent.name");
    expect(test.diagnostics().adjustments.unseen_starts).toBe(1);
    expect(test.diagnostics().runsStarted).toBe(0);
  });

  it("is opened as far back as a tool end lasted", () => {
    const test = bench();
    test.at(9, run.toolError("call_1", { duration_ms: 4000 }));
    test.at(10, run.complete());
    expect(test.find("invoke_agent").start).toBe("2026-04-29T12:00:05Z");
    expect(test.find("execute_tool fetch").parent).toBe("8000000000000002");
  });

  it.each([
    ["complete", run.complete(), "complete"],
    ["failed", run.failed(), "failed"],
    ["interrupted", run.interrupted(), "interrupted"],
  ])("is a zero-length span when all that is known is %s", (_name, event, outcome) => {
    const test = bench();
    test.at(5, event);
    expect(test.find("invoke_agent")).toMatchObject({
      start: "2026-04-29T12:00:05Z",
      end: "2026-04-29T12:00:05Z",
      attributes: { "entelix.run.outcome": outcome, "entelix.run.start_unseen": true },
    });
  });

  it.each([
    ["an approval", run.approved("call_1")],
    ["a denial", run.denied("call_1")],
  ])("is opened by %s too", (_name, event) => {
    const test = bench();
    test.at(5, event);
    test.at(6, run.complete());
    expect(test.find("invoke_agent").start).toBe("2026-04-29T12:00:05Z");
  });

  it("is named, completed and linked to its parent by a start that comes late", () => {
    const test = bench();
    test.at(0, new RunEvents(PARENT).started("top"));
    test.at(2, run.toolStart("call_1"));
    test.at(1, run.started("late", PARENT), { thread_id: "th-1" });
    test.at(3, run.complete());
    const span = test.find("invoke_agent late");
    expect(span).toMatchObject({
      start: "2026-04-29T12:00:02Z",
      parent: undefined,
      links: ["8000000000000001"],
      linkKinds: ["late_parent"],
      attributes: {
        "gen_ai.agent.name": "late",
        "entelix.parent_run_id": PARENT,
        "gen_ai.conversation.id": "th-1",
        "entelix.run.start_unseen": true,
      },
    });
    expect(test.diagnostics().runsStarted).toBe(2);
    expect(test.diagnostics().ignored.duplicate).toBe(0);
  });

  it("and whose late start names a parent that is not known is linked by derivation", () => {
    const test = bench();
    test.at(2, run.toolStart("call_1"));
    test.at(1, run.started("late", PARENT));
    test.at(3, run.complete());
    expect(test.find("invoke_agent late").links).toEqual(["8000000000000001"]);
  });

  it("and whose late start names another tenant's run is linked to that run", () => {
    const test = bench();
    test.at(0, new RunEvents(PARENT, "globex").started("top"));
    test.at(2, run.toolStart("call_1"));
    test.at(1, run.started("late", PARENT));
    test.at(3, run.complete());
    expect(test.find("invoke_agent late")).toMatchObject({
      links: ["8000000000000001"],
      linkKinds: ["parent_of_other_tenant"],
    });
  });

  it("takes one late start; the next is a duplicate", () => {
    const test = bench();
    test.at(2, run.toolStart("call_1"));
    test.at(1, run.started("late"));
    test.at(1, run.started("late"));
    expect(test.diagnostics()).toMatchObject({ runsStarted: 1, ignored: { duplicate: 1 } });
  });
});

describe("an empty name", () => {
  it("says no more than none does, on no span", () => {
    const test = bench();
    test.at(0, run.started(""));
    test.at(1, run.approved("call_1", ""));
    test.at(1, { ...run.toolStart("call_1", ""), tool_version: "" });
    test.at(2, run.toolComplete("call_1", ""));
    test.at(3, run.started(""));
    test.at(4, run.complete());
    expect(test.diagnostics().ignored.duplicate).toBe(1);
    const root = test.find("invoke_agent");
    const call = test.find("execute_tool");
    for (const { attributes } of [root, call]) expect(Object.values(attributes)).not.toContain("");
    const [approval] = test.spans().flatMap(({ events }) => events);
    expect(approval?.attributes).toEqual({
      "entelix.approval.outcome": "approved",
      "gen_ai.tool.call.id": "call_1",
    });
  });

  it("of a run that another event had to open leaves that without one", () => {
    const test = bench();
    test.at(0, run.toolStart("call_1"));
    test.at(1, run.started(""));
    test.at(2, run.complete());
    expect(test.find("invoke_agent").attributes["gen_ai.agent.name"]).toBeUndefined();
  });
});

describe("what comes twice, or too late", () => {
  it("a second start of an open run is a duplicate", () => {
    const test = bench();
    test.at(0, run.started("first"));
    test.at(1, run.started("second"));
    test.at(2, run.complete());
    expect(test.find("invoke_agent first").start).toBe("2026-04-29T12:00:00Z");
    expect(test.spans()).toHaveLength(1);
    expect(test.diagnostics()).toMatchObject({ runsStarted: 1, ignored: { duplicate: 1 } });
  });

  it.each([["complete"], ["failed"]] as const)(
    "a start after %s is a duplicate, even of a later time",
    (terminal) => {
      const test = bench();
      test.at(0, run.started());
      test.at(1, run[terminal]());
      test.at(0, run.started());
      test.at(5, run.started());
      expect(test.spans()).toHaveLength(1);
      expect(test.diagnostics().ignored.duplicate).toBe(2);
    },
  );

  it("a second terminal changes nothing, whichever it is", () => {
    const test = bench();
    test.at(0, run.started());
    test.at(1, run.interrupted());
    test.at(2, run.failed());
    test.at(3, run.complete());
    test.at(4, run.interrupted());
    expect(test.spans()).toHaveLength(1);
    expect(test.find("invoke_agent react")).toMatchObject({
      status: "unset",
      end: "2026-04-29T12:00:01Z",
      attributes: { "entelix.run.outcome": "interrupted" },
    });
    expect(test.diagnostics().ignored.second_terminal).toBe(3);
  });

  it("an end before the start is moved to the start, and counted", () => {
    const test = bench();
    test.at(5, run.started());
    test.at(4, run.failed());
    const span = test.find("invoke_agent react");
    expect([span.start, span.end]).toEqual(["2026-04-29T12:00:05Z", "2026-04-29T12:00:05Z"]);
    expect(test.diagnostics().adjustments.clamped).toBe(1);
  });
});

describe("run ids", () => {
  it("that are empty make no span", () => {
    const test = bench();
    const empty = new RunEvents("");
    test.at(0, empty.started());
    test.at(1, empty.toolStart("call_1"));
    test.at(2, empty.toolComplete("call_1"));
    test.at(3, empty.approved("call_1"));
    test.at(4, empty.denied("call_1"));
    test.at(5, empty.complete());
    expect([...test.started.keys()]).toEqual([]);
    expect(test.diagnostics().ignored.empty_run_id).toBe(6);
  });

  it("in upper case are the same run", () => {
    const test = bench();
    const upper = new RunEvents(RUN.toUpperCase());
    test.at(0, upper.started());
    test.at(1, run.toolStart("call_1"));
    test.at(2, upper.toolComplete("call_1"));
    test.at(3, run.complete());
    expect(test.spans()).toHaveLength(2);
    expect(test.find("invoke_agent react").attributes["entelix.run_id"]).toBe(RUN);
  });

  it("that are no UUIDs are told apart by their case", () => {
    const test = bench();
    test.at(0, new RunEvents("r1").started("small"));
    test.at(0, new RunEvents("R1").started("large"));
    test.at(1, new RunEvents("r1").complete());
    test.at(1, new RunEvents("R1").complete());
    expect(test.find("invoke_agent small").trace).toBe("6dbcf892fc24da1baefbc0f8eacc3072");
    expect(test.find("invoke_agent large").trace).not.toBe("6dbcf892fc24da1baefbc0f8eacc3072");
  });
});
