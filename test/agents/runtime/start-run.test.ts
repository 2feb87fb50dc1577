import { describe, expect, it } from "vitest";
import { runAgent, startRun } from "../../../src/agents/runtime/run-agent.ts";
import { interrupt, isInterruption, isRunEnded } from "../../../src/agents/runtime/run-errors.ts";
import { AgentError, isAgentError } from "../../../src/index.ts";
import { forever, rejection, Told } from "./said.ts";

const begin = async (options: object = {}) => {
  const sink = new Told();
  const run = await startRun({ sink, agent: "support", tenant: "acme", input: 3, ...options });
  return { sink, run };
};

describe("a run's handle", () => {
  it("completes it, once", async () => {
    const { sink, run } = await begin();
    expect(run.input).toBe(3);
    await run.tool("a", () => 1);
    await run.complete({ done: true });
    expect(isRunEnded(await rejection(run.complete()))).toBe(true);
    await run.fail(new Error("too late"));
    await run.interrupt();
    await run.close();
    expect(sink.said()).toEqual(["started support", "tool_start a", "tool_complete a", "complete"]);
    expect(sink.only("complete").state).toEqual({ done: true });
  });

  it("fails it", async () => {
    const { sink, run } = await begin();
    const error = AgentError.config("no model");
    await run.fail(error);
    expect(await rejection(run.complete())).toBe(error);
    expect(sink.said()).toEqual(["started support", "failed internal"]);
  });

  it("pauses it, also by failing with an interruption", async () => {
    const { sink, run } = await begin();
    await run.interrupt({ type: "custom" }, { ask: 1 });
    expect(isInterruption(await rejection(run.complete()))).toBe(true);
    expect(sink.only("interrupted").payload).toEqual({ ask: 1 });
    const other = await begin();
    await other.run.fail(interrupt());
    expect(other.sink.said()).toEqual(["started support", "interrupted custom"]);
  });

  it("cancels it, with its open calls and its sub-agents", async () => {
    const { sink, run } = await begin();
    const left = new Error("the client left");
    const child = run.within(() => runAgent({ agent: "child" }, () => forever()));
    void run.tool("open", forever);
    await new Promise((resolve) => setImmediate(resolve));
    await run.cancel(left);
    await rejection(child);
    expect(sink.said()).toEqual([
      "started support",
      "started child",
      "tool_start open",
      "failed cancelled",
      "tool_error open internal cancelled",
      "failed cancelled",
    ]);
    const ending = await rejection(run.complete());
    expect(ending).toMatchObject({ detail: { type: "cancelled" }, cause: left });
    expect(run.signal.aborted).toBe(true);
    await run.cancel();
    await run.close();
    expect(sink.said()).toHaveLength(6);
  });

  it("that is closed without a word fails it, unclassified: nobody knows what happened", async () => {
    const { sink, run } = await begin();
    void run.tool("open", forever);
    await run.close();
    expect(sink.said()).toEqual([
      "started support",
      "tool_start open",
      "tool_error open internal cancelled",
      "failed unclassified",
    ]);
    expect(sink.only("failed").error).toBe(
      "the run was closed before it ended: no complete, fail or interrupt was called",
    );
  });

  it("is disposed of by `await using`, whatever happens in the block", async () => {
    const sink = new Told();
    const block = async () => {
      await using run = await startRun({ sink, agent: "support", tenant: "acme" });
      await run.tool("a", () => 1);
      throw new Error("in between");
    };
    expect(String(await rejection(block()))).toBe("Error: in between");
    expect(sink.said().at(-1)).toBe("failed unclassified");
    const { sink: other, run } = await begin();
    {
      await using held = run;
      await held.complete();
    }
    expect(other.said()).toEqual(["started support", "complete"]);
  });

  it("hears of the deadline at its next call, and at complete", async () => {
    const { sink, run } = await begin({ deadlineMs: 3 });
    expect(isAgentError(await rejection(run.tool("hang", forever)))).toBe(true);
    expect(isRunEnded(await rejection(run.tool("late", () => 1)))).toBe(true);
    const error = await rejection(run.complete());
    expect(isAgentError(error) && error.detail.type).toBe("deadline_exceeded");
    expect(sink.said().at(-1)).toBe("failed deadline_exceeded");
  });

  it("makes what is started within it its sub-agent; so does a tool, and nothing else", async () => {
    const { sink, run } = await begin({ runId: "top" });
    const parents: (string | undefined)[] = [];
    const child = () => runAgent({ agent: "c" }, ({ parentRunId }) => parents.push(parentRunId));
    await run.within(child);
    await run.tool("ask", child);
    await runAgent({ agent: "c", sink, tenant: "acme" }, (r) => parents.push(r.parentRunId));
    await run.complete();
    expect(parents).toEqual(["top", "top", undefined]);
  });

  it("is not to be had when the sink refuses the start, or the run is called off", async () => {
    const down = new Error("down");
    const sink = {
      send() {
        throw down;
      },
    };
    expect(await rejection(startRun({ sink, agent: "a", tenant: "acme" }))).toBe(down);
    const told = new Told();
    const signal = AbortSignal.abort();
    const off = await rejection(startRun({ sink: told, agent: "a", tenant: "acme", signal }));
    expect(isAgentError(off) && off.detail.type).toBe("cancelled");
    expect(told.said()).toEqual(["started a", "failed cancelled"]);
  });
});
