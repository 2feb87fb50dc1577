import { describe, expect, it } from "vitest";
import type { AgentRun } from "../../../src/agents/runtime/agent-run.ts";
import { runAgent } from "../../../src/agents/runtime/run-agent.ts";
import { interrupt, isInterruption } from "../../../src/agents/runtime/run-errors.ts";
import type { RunOptions } from "../../../src/agents/runtime/run-options.ts";
import type { PendingTool } from "../../../src/agents/runtime/run-policy.ts";
import { AgentError } from "../../../src/index.ts";
import { forever, rejection, Told } from "./said.ts";

const base = { agent: "support", tenant: "acme" };

const tick = () => new Promise((resolve) => setImmediate(resolve));

/** Does it once what comes first has been done. */
async function later(work: () => void): Promise<void> {
  await tick();
  await tick();
  await tick();
  work();
}

describe("a pause", () => {
  it("is no failure: the run ends interrupted, and its caller has the payload", async () => {
    const sink = new Told();
    const kind = { type: "scheduled_pause", phase: "before", node: "plan" } as const;
    const error = await rejection(
      runAgent({ sink, ...base }, () => {
        throw interrupt(kind, { ask: 1 });
      }),
    );
    expect(isInterruption(error) && error.detail).toMatchObject({ kind, payload: { ask: 1 } });
    expect(sink.said()).toEqual(["started support", "interrupted scheduled_pause"]);
    expect(sink.only("interrupted")).toMatchObject({ kind, payload: { ask: 1 } });
  });

  it("inside a tool ends the tool call first, as upstream does, and no function can stop it", async () => {
    const sink = new Told();
    const error = await rejection(
      runAgent({ sink, ...base }, async (run) => {
        await rejection(
          run.tool("ask", () => {
            throw interrupt();
          }),
        );
        return "swallowed";
      }),
    );
    expect(isInterruption(error)).toBe(true);
    expect(sink.said()).toEqual([
      "started support",
      "tool_start ask",
      "tool_error ask internal interrupted",
      "interrupted custom",
    ]);
    expect(sink.only("tool_error").error).toBe("dispatch interrupted for human review");
  });

  it("waits for the calls that are open, and lets none begin", async () => {
    const sink = new Told();
    let refused: unknown;
    const run = runAgent({ sink, ...base }, async (run) => {
      const slow = run.tool("slow", async () => {
        await new Promise((resolve) => setTimeout(resolve, 10));
        refused = await rejection(run.tool("more", () => 1));
        return "done";
      });
      await run.tool("ask", () => {
        throw interrupt();
      });
      await slow;
    });
    expect(isInterruption(await rejection(run))).toBe(true);
    expect(isInterruption(refused)).toBe(true);
    expect(sink.said()).toEqual([
      "started support",
      "tool_start slow",
      "tool_start ask",
      "tool_error ask internal interrupted",
      "tool_complete slow",
      "interrupted custom",
    ]);
  });

  it("is no failure either when the function makes another error of it", async () => {
    const sink = new Told();
    const run = runAgent({ sink, ...base }, async (run) => {
      void run.tool("slow", () => new Promise((resolve) => setTimeout(resolve, 5)));
      await rejection(
        run.tool("ask", () => {
          throw interrupt();
        }),
      );
      throw new Error("the tool failed");
    });
    expect(isInterruption(await rejection(run))).toBe(true);
    expect(sink.said().slice(-2)).toEqual(["tool_complete slow", "interrupted custom"]);
  });

  it("waits no longer than its grace, and not for decisions", async () => {
    const sink = new Told();
    const approve = ({ tool }: PendingTool) => (tool === "pay" ? forever() : "exempt");
    const run = runAgent({ sink, ...base, approve, graceMs: 5 }, async (run) => {
      void run.tool("slow", forever);
      const pay = rejection(run.tool("pay", () => 1));
      await Promise.resolve();
      const ask = run.tool("ask", () => {
        throw interrupt();
      });
      expect(isInterruption(await pay)).toBe(true);
      await ask;
    });
    expect(isInterruption(await rejection(run))).toBe(true);
    expect(sink.said().slice(-3)).toEqual([
      "tool_error ask internal interrupted",
      "tool_error slow internal cancelled",
      "interrupted custom",
    ]);
  });

  const ends: [string, Partial<RunOptions<undefined>>, (run: AgentRun) => Promise<unknown>][] = [
    ["the deadline", { deadlineMs: 5 }, () => forever()],
    [
      "a limit on tokens",
      { budget: { totalTokens: 1 } },
      (run) => run.model("m", (call) => later(() => call.report({ usage: { input_tokens: 2 } }))),
    ],
    [
      "a limit on cost",
      { budget: { costUsd: "0.01" } },
      (run) => run.tool("pays", () => later(() => run.addCost("0.02"))),
    ],
    [
      "a terminal tool error",
      { terminalToolErrors: ["internal"] },
      (run) =>
        run.tool("fails", () =>
          later(() => {
            throw new Error("down");
          }),
        ),
    ],
  ];
  for (const [what, options, open] of ends) {
    it(`stays one when ${what} ends the wait, and calls sub-agents off`, async () => {
      const sink = new Told();
      const run = runAgent({ sink, ...base, ...options }, async (run) => {
        void open(run);
        void run.tool("delegate", () => runAgent({ agent: "expert" }, forever));
        await tick();
        await run.tool("ask", () => {
          throw interrupt();
        });
      });
      expect(isInterruption(await rejection(run))).toBe(true);
      const ended = sink.said().filter((line) => /^failed|delegate internal|^inter/.test(line));
      expect(ended).toEqual([
        what === "the deadline" ? "failed deadline_exceeded" : "failed cancelled",
        "tool_error delegate internal cancelled",
        "interrupted custom",
      ]);
    });
  }

  it("counts what calls that are still open cost", async () => {
    const sink = new Told();
    let usage: unknown;
    const run = runAgent({ sink, ...base }, async (run) => {
      const pays = run.tool("pays", () => later(() => run.addCost("0.02")));
      void rejection(run.tool("ask", () => Promise.reject(interrupt())));
      await pays;
      usage = run.usage;
    });
    expect(isInterruption(await rejection(run))).toBe(true);
    await tick();
    expect(sink.said().slice(-2)).toEqual(["tool_complete pays", "interrupted custom"]);
    expect(usage).toMatchObject({ cost_usd: "0.02" });
  });

  it("of a sub-agent pauses the runs above it", async () => {
    const sink = new Told();
    const error = await rejection(
      runAgent({ sink, ...base }, (run) =>
        run.tool("delegate", () =>
          runAgent({ agent: "expert", approve: () => "external" }, (expert) =>
            expert.tool("pay", { id: "c1" }, () => 1),
          ),
        ),
      ),
    );
    expect(isInterruption(error) && error.detail.kind).toEqual({
      type: "approval_pending",
      tool_use_id: "c1",
    });
    expect(sink.said()).toEqual([
      "started support",
      "tool_start delegate",
      "started expert",
      "interrupted approval_pending",
      "tool_error delegate internal interrupted",
      "interrupted approval_pending",
    ]);
  });

  it("is told from other errors", () => {
    expect(isInterruption(interrupt())).toBe(true);
    for (const other of [undefined, null, new Error("x"), AgentError.cancelled()]) {
      expect(isInterruption(other)).toBe(false);
    }
  });
});
