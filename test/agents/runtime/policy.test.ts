import { describe, expect, it } from "vitest";
import { runAgent } from "../../../src/agents/runtime/run-agent.ts";
import {
  interrupt,
  isInterruption,
  isRunEnded,
  isToolDenied,
} from "../../../src/agents/runtime/run-errors.ts";
import type {
  ApprovalDecision,
  PendingTool,
  TerminalToolErrors,
} from "../../../src/agents/runtime/run-policy.ts";
import { LONG_WAIT_MS } from "../../../src/agents/runtime/verdict.ts";
import { AgentError, type AgentEventSink, isAgentError } from "../../../src/index.ts";
import { forever, rejection, Told } from "./said.ts";

const fail = (error: unknown): never => {
  throw error;
};
const base = { agent: "support", tenant: "acme" };

describe("terminal tool errors", () => {
  const refused = AgentError.http(401, "key expired");

  it.each([
    ["by kind", ["auth"] as const],
    ["by predicate", ({ tool, kind }: { tool: string; kind: string }) => tool + kind === "payauth"],
  ])("end the run though its function goes on: %s", async (_name, terminalToolErrors) => {
    const sink = new Told();
    let late: unknown;
    const run = runAgent({ sink, ...base, terminalToolErrors }, async (run) => {
      await rejection(
        run.tool("pay", () => {
          throw refused;
        }),
      );
      late = await rejection(run.tool("other", () => 1));
      return "all well";
    });
    const error = await rejection(run);
    expect(isAgentError(error) && error.detail).toMatchObject({
      type: "tool_error_terminal",
      kind: "auth",
      toolName: "pay",
      source: refused,
    });
    expect(sink.said()).toEqual([
      "started support",
      "tool_start pay",
      "tool_error pay auth upstream_unauthorized",
      "failed tool_error_terminal",
    ]);
    expect(sink.only("failed").kind).toEqual({
      type: "tool_error_terminal",
      kind: "auth",
      tool_name: "pay",
    });
    await new Promise((resolve) => setImmediate(resolve));
    expect(isRunEnded(late)).toBe(true);
  });

  it("do not end the run by a predicate that fails, which is reported", async () => {
    const errors: unknown[] = [];
    const undecided = new Error("undecided");
    const answers = [() => "no", async () => false, () => fail(undecided)];
    for (const terminalToolErrors of answers as unknown as readonly TerminalToolErrors[]) {
      const onError = (error: unknown) => errors.push(error);
      const run = runAgent({ sink: new Told(), ...base, terminalToolErrors, onError }, (run) =>
        run.tool("pay", () => fail(refused)).catch(() => "all well"),
      );
      expect(await run).toBe("all well");
    }
    const wrong = "terminalToolErrors: expected true or false, got";
    expect(errors).toEqual([
      new TypeError(`${wrong} string`),
      new TypeError(`${wrong} a promise`),
      undecided,
    ]);
  });

  it("reach the caller from a sub-agent with the leaf's tool, and end every level", async () => {
    const sink = new Told();
    const run = runAgent({ sink, ...base, terminalToolErrors: ["internal"] }, (run) =>
      run.tool("ask", () =>
        runAgent({ agent: "expert" }, (expert) =>
          expert.tool("parse", () => {
            throw new TypeError("x is not a function");
          }),
        ),
      ),
    );
    const error = await rejection(run);
    expect(isAgentError(error) && error.message).toBe(
      "tool parse terminal (internal): config error: x is not a function",
    );
    expect(sink.said()).toEqual([
      "started support",
      "tool_start ask",
      "started expert",
      "tool_start parse",
      "tool_error parse internal unclassified",
      "failed tool_error_terminal",
      "tool_error ask internal config_error",
      "failed tool_error_terminal",
    ]);
  });

  it("of a sub-agent's own policy end the runs above it too", async () => {
    const sink = new Told();
    const run = runAgent({ sink, ...base }, async (run) => {
      await rejection(
        run.tool("ask", () =>
          runAgent({ agent: "expert", terminalToolErrors: ["auth"] }, (expert) =>
            expert.tool("pay", () => {
              throw refused;
            }),
          ),
        ),
      );
    });
    const error = await rejection(run);
    expect(isAgentError(error) && error.detail).toMatchObject({ toolName: "pay", source: refused });
    expect(sink.said().slice(-3)).toEqual([
      "failed tool_error_terminal",
      "tool_error ask auth upstream_unauthorized",
      "failed tool_error_terminal",
    ]);
  });

  it("are what the caller gets, whatever the function throws while the sink is told", async () => {
    const sink = new Told();
    const slow: AgentEventSink = {
      async send(event, envelope) {
        await new Promise((resolve) => setImmediate(resolve));
        sink.send(event, envelope);
      },
    };
    const run = runAgent({ sink: slow, ...base, terminalToolErrors: ["auth"] }, async (run) => {
      await rejection(
        run.tool("pay", () => {
          throw refused;
        }),
      );
      throw new Error("something else");
    });
    const error = await rejection(run);
    expect(isAgentError(error) && error.detail.type).toBe("tool_error_terminal");
    expect(sink.said().at(-1)).toBe("failed tool_error_terminal");
  });

  it("cut off what else is open, whose sub-agents end first", async () => {
    const sink = new Told();
    const cut: unknown[] = [];
    const run = runAgent({ sink, ...base, terminalToolErrors: ["auth"] }, (run) =>
      Promise.all([
        run
          .tool("ask", ({ signal }) => {
            signal.addEventListener("abort", () => cut.push("heard"));
            return runAgent({ agent: "expert" }, (expert) => expert.tool("think", forever));
          })
          .catch((error: unknown) => cut.push(isAgentError(error) && error.detail.type)),
        run.tool("pay", async () => {
          await new Promise((resolve) => setImmediate(resolve));
          throw refused;
        }),
      ]),
    );
    await rejection(run);
    expect(sink.said().slice(-6)).toEqual([
      "tool_start think",
      "tool_error pay auth upstream_unauthorized",
      "tool_error think internal cancelled",
      "failed cancelled",
      "tool_error ask internal cancelled",
      "failed tool_error_terminal",
    ]);
    await new Promise((resolve) => setImmediate(resolve));
    expect(cut).toEqual(["heard", "cancelled"]);
  });
});

describe("approval", () => {
  const asked = async (decision: unknown, sink = new Told()) => {
    const pending: PendingTool[] = [];
    let called = 0;
    const outcome = await runAgent(
      {
        sink,
        ...base,
        threadId: "t1",
        approve: async (call) => {
          pending.push(call);
          await Promise.resolve();
          if (decision instanceof Error) throw decision;
          // What an approver in JavaScript may answer.
          return decision as ApprovalDecision;
        },
      },
      (run) =>
        run.tool("pay", { input: { sum: 3 }, id: "call_1", version: "1" }, () => {
          called += 1;
          return "paid";
        }),
    ).then(
      (state) => ({ state, error: undefined }),
      (error: unknown) => ({ state: undefined, error }),
    );
    return { sink, pending, called, ...outcome };
  };

  it("precedes an approved call", async () => {
    const { sink, pending, state, called } = await asked("approved");
    expect([state, called]).toEqual(["paid", 1]);
    expect(sink.said()).toEqual([
      "started support",
      "tool_call_approved pay",
      "tool_start pay",
      "tool_complete pay",
      "complete",
    ]);
    expect(pending).toMatchObject([
      {
        tool: "pay",
        version: "1",
        toolUseId: "call_1",
        input: { sum: 3 },
        tenantId: "acme",
        threadId: "t1",
      },
    ]);
  });

  it("says so while the decision takes long", async () => {
    const { sink, called } = await asked(
      new Promise((resolve) => setTimeout(resolve, LONG_WAIT_MS + 50, "approved")),
    );
    expect(called).toBe(1);
    expect(sink.said().slice(1, 4)).toEqual([
      "tool_call_asked pay",
      "tool_call_approved pay",
      "tool_start pay",
    ]);
  });

  it("says nothing of a call that needs none", async () => {
    const { sink, called } = await asked("exempt");
    expect(called).toBe(1);
    expect(sink.said()[1]).toBe("tool_start pay");
  });

  it("denies: no start, and a typed error that the model may read", async () => {
    const { sink, called, error } = await asked({ denied: "too much" });
    expect(called).toBe(0);
    expect(isToolDenied(error) && [error.tool, error.reason, error.message]).toEqual([
      "pay",
      "too much",
      "approver rejected tool 'pay' dispatch: too much",
    ]);
    expect(sink.said()).toEqual([
      "started support",
      "tool_call_denied pay: too much",
      "failed internal",
    ]);
    expect(sink.only("failed").envelope.wire_code).toBe("invalid_request");
  });

  it("leaves it to others: the run pauses", async () => {
    const { sink, called, error } = await asked("external");
    expect(called).toBe(0);
    expect(isInterruption(error)).toBe(true);
    expect(sink.said()).toEqual(["started support", "interrupted approval_pending"]);
    const { kind, payload, run_id } = sink.only("interrupted");
    expect(kind).toEqual({ type: "approval_pending", tool_use_id: "call_1" });
    expect(payload).toEqual({ run_id, tool_use_id: "call_1", tool: "pay", input: { sum: 3 } });
  });

  it.each([undefined, null, true, "yes", {}, { denied: 3 }])(
    "makes no call when the answer is %j",
    async (decision) => {
      const { sink, called, error } = await asked(decision);
      expect(called).toBe(0);
      expect(String(error)).toContain(
        'approve: expected "approved", "exempt", "external", { denied: reason } or',
      );
      expect(sink.said()[1]).toMatch(/^failed/);
    },
  );

  it("makes no call when the approver fails, or pauses", async () => {
    const failed = await asked(AgentError.config("no approver"));
    expect([failed.called, failed.sink.said()[1]]).toEqual([0, "failed internal"]);
    const paused = await asked(interrupt({ type: "custom" }, "who?"));
    expect([paused.called, paused.sink.said()[1]]).toEqual([0, "interrupted custom"]);
  });

  it("is asked for a sub-agent's tools too, and a call may bring its own", async () => {
    const sink = new Told();
    const tools: string[] = [];
    const approve = ({ tool }: PendingTool) => {
      tools.push(tool);
      return "approved" as const;
    };
    await runAgent({ sink, ...base, approve }, async (run) => {
      await run.tool("own", { approve: () => "exempt" }, () => 1);
      await runAgent({ agent: "expert" }, (expert) => expert.tool("below", () => 1));
    });
    expect(tools).toEqual(["below"]);
  });

  it("that never comes is no reason to miss a deadline", async () => {
    const sink = new Told();
    const options = { sink, ...base, deadlineMs: 5, approve: forever };
    const error = await rejection(runAgent(options, (run) => run.tool("pay", () => 1)));
    expect(isAgentError(error) && error.detail.type).toBe("deadline_exceeded");
    expect(sink.said()).toEqual(["started support", "failed deadline_exceeded"]);
  });
});

describe("the types of an approver", () => {
  it("take an async function that returns a decision, and know the tool's input", async () => {
    const sink = new Told();
    await runAgent(
      { sink, agent: "support", tenant: "acme", approve: async () => "approved" },
      async (run) => {
        await run.tool("a", () => 1);
        const approve = async ({ input }: { input: { amount: number } }) =>
          input.amount > 100 ? { denied: "too much" } : "approved";
        await run.tool("pay", { input: { amount: 3 }, approve }, ({ input }) => input.amount);
        const options = {
          input: { amount: 900 },
          approve: async (call: PendingTool<{ amount: number }>) =>
            call.input.amount > 100 ? { denied: "too much" } : "approved",
        };
        await rejection(run.tool("pay", options, () => 1));
        await run.tool(
          "pay",
          {
            input: { amount: 1 },
            approve: ({ input }) => (input.amount > 0 ? "exempt" : "external"),
          },
          () => 1,
        );
      },
    );
    expect(sink.said().filter((line) => line.startsWith("tool_call"))).toEqual([
      "tool_call_approved a",
      "tool_call_approved pay",
      "tool_call_denied pay: too much",
    ]);
  });
});
