import { describe, expect, it } from "vitest";
import { RunIds } from "../../../src/entries/context.ts";
import { subtractMs } from "../../../src/events/door.ts";
import { bench, RunEvents } from "../../support/run-events.ts";

const RUN = "018f3c7a-0000-7000-8000-000000000002";
const run = new RunEvents(RUN);
const callId = (id: string, occurrence = 1) =>
  RunIds.fromUuid(RUN)?.childSpanId("t", id, occurrence);

describe("a tool call", () => {
  it("carries what its events say, and no content", () => {
    const test = bench();
    test.at(0, run.started("react"));
    test.at(1, { ...run.toolStart("call_1", "double", { n: 21 }), tool_version: "1.2.0" });
    test.at(2, run.toolComplete("call_1", "double", 1000, { doubled: 42 }));
    test.at(3, run.complete());
    expect(test.find("execute_tool double")).toMatchObject({
      span_id: callId("call_1"),
      parent: "8000000000000002",
      status: "unset",
      attributes: {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "double",
        "gen_ai.tool.call.id": "call_1",
        "gen_ai.tool.type": "function",
        "gen_ai.agent.name": "react",
        "entelix.run_id": RUN,
        "entelix.tenant_id": "acme",
        "entelix.tool.version": "1.2.0",
        "entelix.tool.outcome": "complete",
      },
    });
    expect(Object.keys(test.find("execute_tool double").attributes)).toHaveLength(9);
    expect(test.find("invoke_agent react").attributes).toEqual({
      "gen_ai.operation.name": "invoke_agent",
      "gen_ai.agent.name": "react",
      "entelix.run_id": RUN,
      "entelix.tenant_id": "acme",
      "entelix.run.outcome": "complete",
      "entelix.run.tool_calls": 1,
    });
  });

  it("that failed has the error kind, the envelope and the operator's text", () => {
    const test = bench();
    test.at(0, run.started());
    test.at(1, run.toolStart("call_1"));
    test.at(
      2,
      run.toolError("call_1", {
        error: "429: slow down",
        kind: "rate_limit",
        envelope: {
          wire_code: "rate_limited",
          wire_class: "client",
          retry_after_secs: 30,
          provider_status: 429,
        },
      }),
    );
    test.at(3, run.complete());
    const call = test.find("execute_tool fetch");
    expect([call.status, call.description]).toEqual(["error", "429: slow down"]);
    expect(call.attributes).toMatchObject({
      "error.type": "rate_limit",
      "entelix.tool.error_kind": "rate_limit",
      "entelix.tool.outcome": "error",
      "entelix.error.wire_code": "rate_limited",
      "entelix.error.wire_class": "client",
      "entelix.error.retry_after_secs": 30,
      "entelix.error.provider_status": 429,
    });
    expect(test.find("invoke_agent react").attributes["entelix.run.tool_errors"]).toBe(1);
  });

  it("of an older agent gets its error kind from the envelope", () => {
    const test = bench();
    const { kind: _, ...older } = run.toolError("call_1", {
      envelope: { wire_code: "auth_failed", wire_class: "client" },
    });
    test.at(1, older);
    expect(test.find("execute_tool fetch").attributes["error.type"]).toBe("auth");
  });

  it("that was cancelled is no failure of the tool", () => {
    const test = bench();
    test.at(0, run.started());
    test.at(1, run.toolStart("call_1"));
    test.at(2, run.toolCancelled("call_1"));
    test.at(3, run.complete());
    const call = test.find("execute_tool fetch");
    expect(call).toMatchObject({
      status: "unset",
      attributes: {
        "entelix.tool.outcome": "cancelled",
        "entelix.error.wire_code": "cancelled",
        "entelix.error.message": "called off",
      },
    });
    expect(call.attributes).not.toHaveProperty("error.type");
    expect(call.attributes).not.toHaveProperty("entelix.tool.error_kind");
    expect(test.find("invoke_agent react").attributes).not.toHaveProperty(
      "entelix.run.tool_errors",
    );
  });

  it("of a Rust agent with the wire code of a cancellation is an error, as before", () => {
    const test = bench();
    test.at(0, run.started());
    test.at(1, run.toolStart("call_1"));
    const envelope = { wire_code: "cancelled", wire_class: "client" } as const;
    test.at(2, run.toolError("call_1", { envelope, kind: "internal" }));
    expect(test.find("execute_tool fetch")).toMatchObject({
      status: "error",
      attributes: { "entelix.tool.outcome": "error", "error.type": "internal" },
    });
  });

  it("that raised an interrupt is a pause: Unset, no error.type, the text in an attribute", () => {
    const test = bench();
    test.at(0, run.started());
    test.at(1, run.toolStart("call_1"));
    test.at(2, run.toolInterrupted("call_1"));
    test.at(3, run.interrupted());
    const call = test.find("execute_tool fetch");
    expect([call.status, call.description]).toEqual(["unset", undefined]);
    expect(call.attributes).toMatchObject({
      "entelix.tool.outcome": "interrupted",
      "entelix.error.message": "dispatch interrupted",
    });
    expect(call.attributes).not.toHaveProperty("error.type");
    expect(call.attributes).not.toHaveProperty("entelix.tool.error_kind");
    expect(test.find("invoke_agent react").attributes).not.toHaveProperty(
      "entelix.run.tool_errors",
    );
  });
});

describe("a tool end without its start", () => {
  it("makes the span from end minus duration", () => {
    const test = bench();
    test.at(0, run.started());
    test.at(5, run.toolComplete("call_1", "fetch", 1500));
    test.at(6, run.complete());
    const call = test.find("execute_tool fetch");
    expect([call.start, call.end]).toEqual(["2026-04-29T12:00:03.500Z", "2026-04-29T12:00:05Z"]);
    expect(call.parent).toBe("8000000000000002");
    expect(call.span_id).toBe(callId("call_1"));
  });

  it("keeps nanoseconds of the end, and takes a bigint for the duration", () => {
    const test = bench();
    test.at(0, run.started());
    const timestamp = "2026-04-29T12:00:05.000000007Z";
    test.sink.send({ ...run.toolComplete("call_1"), duration_ms: 2000n }, { timestamp });
    expect(test.find("execute_tool fetch").start).toBe("2026-04-29T12:00:03.000000007Z");
    expect(test.find("execute_tool fetch").end).toBe(timestamp);
  });

  it("counts a duration that is none as zero, and never starts before 1970", () => {
    const test = bench();
    test.at(0, run.started());
    test.at(1, run.toolComplete("none", "none", Number.NaN));
    test.at(1, run.toolComplete("negative", "negative", -5));
    test.at(1, run.toolComplete("endless", "endless", 1e300));
    expect(test.find("execute_tool none").start).toBe("2026-04-29T12:00:01Z");
    expect(test.find("execute_tool negative").start).toBe("2026-04-29T12:00:01Z");
    expect(test.find("execute_tool endless").start).toBe("1970-01-01T00:00:00Z");
  });

  it("in a time before 1970, which no span can have, ends by the clock", () => {
    const test = bench();
    const from = Date.now() - 5;
    const timestamp = "1969-12-31T23:59:50Z";
    test.sink.send(run.toolComplete("call_1", "fetch", 60_000), { timestamp });
    const call = test.find("execute_tool fetch");
    expect(Date.parse(call.end)).toBeGreaterThanOrEqual(from);
    expect(Date.parse(call.end) - Date.parse(call.start)).toBe(60_000);
    expect(test.diagnostics().adjustments.clamped).toBe(0);
    expect(subtractMs([-10, 0], 60_000)).toEqual([-10, 0]);
  });
});
