import { describe, expect, it } from "vitest";
import {
  changedByPerson,
  costLines,
  decisionLines,
  runTitle,
  withoutSteps,
} from "../../../src/view/commands/demo/summary.ts";
import { msOf } from "../../../src/view/model/formats.ts";
import { aRun, at } from "../support/fake-runs.ts";

const DECISION = {
  call_id: "call_1",
  tool: "refund",
  outcome: "edited",
  at_ms: 0,
  person: "ann@acme.test",
  wait_ms: 134_000,
};

const paused = aRun("paused", {
  outcome: "interrupted",
  resumed: true,
  question: "Refund me \u001b[31m41.90.",
});
const resumed = aRun("resumed", {
  start_ns: at(150),
  resumed_from: "paused",
  decisions: [DECISION],
});
const waiting = aRun("waiting", {
  tenant_id: "initech",
  start_ns: at(300),
  end_ns: at(310),
  outcome: "interrupted",
  question: "My desk is broken.",
  asked: "refund 249",
});

describe("the decisions", () => {
  it("are in the order of their runs, with the question of the paused run, and safe for a terminal", () => {
    expect(decisionLines([waiting, resumed, paused], msOf(at(350)))).toEqual([
      "tenant   decision                                     question",
      "acme     ann@acme.test edited refund after 2 min      Refund me \\x1b[31m41.90.",
      "initech  waits for a person since 40.0 s: refund 249  My desk is broken.",
    ]);
  });

  it("are no table where nobody decided", () => {
    expect(decisionLines([aRun("a")], 0)).toEqual([]);
  });

  it("lead to the conversation in which a person changed a call", () => {
    expect(changedByPerson([waiting, resumed, paused])).toEqual([paused, resumed]);
    expect(changedByPerson([waiting, paused])).toEqual([]);
  });
});

describe("the cost", () => {
  it("is the exact sum of a tenant's runs, without those below another one", () => {
    const used = { input_tokens: 1_000, output_tokens: 20, cost_usd: "0.1" };
    const runs = [
      aRun("a", used),
      aRun("b", { ...used, cost_usd: "0.2" }),
      aRun("child", { ...used, parent_run_id: "a" }),
      aRun("c", { tenant_id: "globex" }),
    ];
    expect(costLines(runs)).toEqual([
      "tenant  runs  input tokens  output tokens  cost",
      "acme       2          2000             40  $0.30",
      "globex     1             0              0  unknown",
    ]);
  });
});

describe("a trace without steps", () => {
  it("has what happened in a step below the run, at any depth", () => {
    const span = (spanId: string, parentSpanId: string | undefined, operation?: string) => ({
      traceId: "t",
      spanId,
      parentSpanId,
      name: spanId,
      start: [0, 0] as const,
      end: [1, 0] as const,
      failed: false,
      message: undefined,
      attributes: { "gen_ai.operation.name": operation },
      events: [],
      links: [],
    });
    const spans = [
      span("chat", "inner", "chat"),
      span("inner", "outer"),
      span("outer", "run"),
      span("search", "outer", "retrieval"),
      span("run", "elsewhere", "invoke_agent"),
    ];
    expect(withoutSteps(spans).map(({ parentSpanId, spanId }) => [spanId, parentSpanId])).toEqual([
      ["chat", "run"],
      ["search", "run"],
      ["run", "elsewhere"],
    ]);
  });
});

describe("the title of a trace", () => {
  it("is its question, or who decided, or its run", () => {
    expect(runTitle(paused)).toBe("acme: Refund me \u001b[31m41.90.");
    expect(runTitle(resumed)).toBe("acme: ann@acme.test edited refund after 2 min");
    expect(runTitle(aRun("a"))).toBe("acme: a");
  });
});
