import { describe, expect, it } from "vitest";
import { runAgent } from "../../../src/agents/runtime/run-agent.ts";
import type { RunOptions } from "../../../src/agents/runtime/run-options.ts";
import { FanOutSink } from "../../../src/entries/sinks.ts";
import { Bridge, isAgentError } from "../../../src/index.ts";
import { collectSpans, toTrees } from "../../support/spans.ts";
import { rejection, Told } from "./said.ts";

const base = { agent: "support", tenant: "acme" };

/** A run that asks the same until it is ended, at most 30 times. */
async function asking(
  options: Partial<RunOptions<undefined>>,
  answer: (n: number) => unknown = () => "no",
) {
  const told = new Told();
  const { provider, spans } = collectSpans();
  const sink = new FanOutSink([told, new Bridge({ tracerProvider: provider })]);
  let calls = 0;
  const work = runAgent({ sink, ...base, ...options }, async (run) => {
    for (; calls < 30; ) {
      calls += 1;
      await run.tool("search", { input: { q: "x" } }, () => answer(calls));
    }
  });
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  const { attributes } = toTrees(spans())[0] ?? { attributes: undefined };
  return { calls, error, told, attributes };
}

describe("a run whose tool calls are in a loop", () => {
  it("ends with the call at which the loop is found", async () => {
    const { attributes, calls, error, told } = await asking({ onLoop: "end" });
    expect(calls).toBe(7);
    const breach = { axis: "tool_loop", limit: 5, observed: 5 };
    expect(isAgentError(error) && error.detail).toMatchObject({
      type: "usage_limit_exceeded",
      breach,
    });
    expect(told.said().slice(-2)).toEqual(["tool_complete search", "failed usage_limit_exceeded"]);
    expect(told.only("failed")).toMatchObject({
      error: "run budget exceeded on tool_loop axis: observed 5, limit 5",
      envelope: { breach },
    });
    expect(attributes).toMatchObject({
      "entelix.run.loop": "repeat",
      "entelix.run.loop.count": 5,
      "entelix.failure.kind": "usage_limit_exceeded",
      "entelix.breach.axis": "tool_loop",
      "entelix.breach.limit": "5",
    });
  });

  it("ends by calls that fail, whatever its code does with the errors", async () => {
    const told = new Told();
    const run = runAgent({ sink: told, ...base, onLoop: "end" }, async (run) => {
      const fail = () => Promise.reject(new Error("no such host"));
      for (let n = 0; n < 30; n++) {
        await run.tool("fetch", { input: { url: "u" } }, fail).catch(() => {});
      }
    });
    expect(await rejection(run)).toMatchObject({ detail: { type: "usage_limit_exceeded" } });
    expect(told.said().filter((one) => one.startsWith("tool_error"))).toHaveLength(7);
  });

  it("goes on by default, and the bridge reports it", async () => {
    const { attributes, calls, error } = await asking({});
    expect([calls, error]).toEqual([30, undefined]);
    expect(attributes).toMatchObject({
      "entelix.run.outcome": "complete",
      "entelix.run.loop": "repeat",
      "entelix.run.loop.count": 28,
    });
  });

  it("ends by the limits that it is given", async () => {
    const shorter = await asking({ onLoop: "end", loops: { repeat: 3 } });
    expect(shorter.calls).toBe(5);
    const loops = { repeat: 0, poll: 4 };
    expect((await asking({ onLoop: "end", loops })).calls).toBe(6);
    expect((await asking({ onLoop: "end", loops }, (n) => n)).error).toBeUndefined();
  });

  it("ends in a sub-agent that has the option from its parent, unless it has its own", async () => {
    const inside = async (options: Partial<RunOptions<undefined>>) =>
      runAgent({ sink: new Told(), ...base, onLoop: "end" }, () =>
        runAgent({ agent: "expert", ...options }, async (run) => {
          for (let n = 0; n < 9; n++) await run.tool("t", { input: 1 }, () => 1);
          return "done";
        }),
      );
    expect(await rejection(inside({}))).toMatchObject({ detail: { type: "usage_limit_exceeded" } });
    expect(await inside({ onLoop: "continue" })).toBe("done");
    expect(await inside({ loops: { repeat: 20 } })).toBe("done");
  });

  it("refuses options that are none", async () => {
    const start = (options: object) => runAgent({ sink: new Told(), ...base, ...options }, () => 1);
    const wrong = 'onLoop: expected continue or end, got "stop"';
    expect(await rejection(Promise.resolve().then(() => start({ onLoop: "stop" })))).toMatchObject({
      message: wrong,
    });
  });
});
