import { describe, expect, it } from "vitest";
import { runAgent } from "../../../src/agents/runtime/run-agent.ts";
import { interrupt, isInterruption } from "../../../src/agents/runtime/run-errors.ts";
import {
  type AgentEvent,
  type AgentEventSink,
  type EventEnvelope,
  isAgentError,
  setUnclassifiedWarning,
} from "../../../src/index.ts";
import { forever, rejection, Told } from "./said.ts";

const base = { agent: "support", tenant: "acme" };
const down = new Error("the sink is down");

/** Fails at events of some types, as a function that throws or as a promise that rejects. */
class Failing extends Told {
  readonly #types: readonly AgentEvent["type"][];
  readonly #how: "throws" | "rejects" | "hangs";
  constructor(how: "throws" | "rejects" | "hangs", ...types: AgentEvent["type"][]) {
    super();
    this.#how = how;
    this.#types = types;
  }

  override send(event: AgentEvent, envelope?: EventEnvelope): void | Promise<void> {
    if (!this.#types.includes(event.type)) return super.send(event, envelope);
    if (this.#how === "throws") throw down;
    return this.#how === "rejects" ? Promise.reject(down) : forever();
  }
}

describe.each(["throws", "rejects"] as const)("a sink that %s", (how) => {
  it("at started stops the run before its function, and hears of no end", async () => {
    const sink = new Failing(how, "started");
    const warned: string[] = [];
    setUnclassifiedWarning((message) => warned.push(message));
    let called = false;
    const error = await rejection(
      runAgent({ sink, ...base, deadlineMs: 60_000 }, () => {
        called = true;
      }),
    );
    setUnclassifiedWarning(() => {});
    expect([error, called, sink.said(), warned]).toEqual([down, false, [], []]);
  });

  it("at complete has its error given to the caller", async () => {
    const sink = new Failing(how, "complete");
    expect(await rejection(runAgent({ sink, ...base }, () => 1))).toBe(down);
    expect(sink.said()).toEqual(["started support"]);
  });

  it("elsewhere is counted, and the run goes on", async () => {
    const sink = new Failing(
      how,
      ...(["tool_start", "tool_complete", "tool_call_approved", "model_start"] as const),
      ...(["model_complete", "tool_error", "model_error"] as const),
    );
    const heard: unknown[] = [];
    const onError = (error: unknown) => {
      heard.push(error);
      throw new Error("the hook is down too");
    };
    const lost = await runAgent(
      { sink, ...base, onError, approve: () => "approved" },
      async (run) => {
        const fail = () => {
          throw down;
        };
        await run.tool("a", () => 1);
        await rejection(run.tool("a", fail));
        await run.model("m", () => 1);
        await rejection(run.model("m", fail));
        return run.lostEvents;
      },
    );
    expect([lost, heard.length]).toEqual([10, 10]);
    expect(sink.said()).toEqual(["started support", "complete"]);
  });

  it.each([
    ["failed", new Error("the agent's own"), "failed"],
    ["interrupted", interrupt(), "interrupted"],
  ] as const)("at %s does not hide the run's error", async (_name, thrown, type) => {
    const sink = new Failing(how, type);
    const error = await rejection(
      runAgent({ sink, ...base }, () => {
        throw thrown;
      }),
    );
    expect(error).toBe(thrown);
  });
});

describe("a sink that takes its time", () => {
  it("is told one event after the other, and of each when it happened", async () => {
    const taken: string[] = [];
    let busy = 0;
    const sink: AgentEventSink = {
      async send(event, envelope) {
        busy += 1;
        expect(busy).toBe(1);
        await new Promise((resolve) => setTimeout(resolve, 2));
        taken.push(`${envelope?.sequence} ${event.type}`);
        busy -= 1;
      },
    };
    await runAgent({ sink, ...base }, (run) =>
      Promise.all([run.tool("a", () => 1), run.tool("b", () => 2), run.model("m", () => 3)]),
    );
    expect(taken.map((line) => line.split(" ")[0])).toEqual([
      "0",
      "1",
      "2",
      "3",
      "4",
      "5",
      "6",
      "7",
    ]);
    expect(taken.slice(0, 4)).toEqual([
      "0 started",
      "1 tool_start",
      "2 tool_start",
      "3 model_start",
    ]);
    expect(taken.at(-1)).toBe("7 complete");
  });

  it("has taken a call's start before the call is made", async () => {
    const order: string[] = [];
    const sink: AgentEventSink = {
      async send(event) {
        await new Promise((resolve) => setTimeout(resolve, 2));
        order.push(event.type);
      },
    };
    await runAgent({ sink, ...base }, async (run) => {
      await run.tool("a", () => order.push("called a"));
      await run.model("m", () => order.push("called m"));
    });
    expect(order).toEqual([
      "started",
      "tool_start",
      "called a",
      "tool_complete",
      "model_start",
      "called m",
      "model_complete",
      "complete",
    ]);
  });
});

describe("a sink that calls the run off while it is called", () => {
  const ways = {
    "and returns": (send: () => void) => send(),
    "and takes its time": async (send: () => void) => {
      await new Promise((resolve) => setTimeout(resolve, 2));
      send();
    },
    "and throws": (send: () => void) => {
      send();
      throw down;
    },
  };
  it.each(Object.entries(ways))("%s has that event before those of the end", async (_, way) => {
    const controller = new AbortController();
    const types: string[] = [];
    let calls = 0;
    const sink: AgentEventSink = {
      send(event) {
        if (event.type !== "tool_start") {
          types.push(event.type);
          return undefined;
        }
        controller.abort();
        return way(() => types.push(event.type));
      },
    };
    const { signal } = controller;
    const run = runAgent({ sink, ...base, signal }, (run) => run.tool("a", () => (calls += 1)));
    const error = await rejection(run);
    expect(isAgentError(error) && error.detail.type).toBe("cancelled");
    expect(types).toEqual(["started", "tool_start", "tool_error", "failed"]);
    expect(calls).toBe(0);
  });
});

describe("a sink that hangs", () => {
  const types = ["started", "tool_start", "tool_complete", "complete"] as const;
  it.each(types)("at %s is no reason to miss a deadline", async (type) => {
    const sink = new Failing("hangs", type);
    const options = { sink, ...base, deadlineMs: 5, graceMs: 1 };
    const error = await rejection(runAgent(options, (run) => run.tool("a", () => 1)));
    expect(isAgentError(error) && error.detail.type).toBe("deadline_exceeded");
    const before = sink.said().length;
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(sink.said()).toHaveLength(before);
  });

  it("at the end of a run that failed is waited for as long as the grace lasts", async () => {
    const heard: unknown[] = [];
    const options = { ...base, graceMs: 5, onError: (error: unknown) => heard.push(error) };
    const failed = runAgent({ ...options, sink: new Failing("hangs", "failed") }, () => {
      throw down;
    });
    expect(await rejection(failed)).toBe(down);
    const paused = runAgent({ ...options, sink: new Failing("hangs", "interrupted") }, () => {
      throw interrupt();
    });
    expect(isInterruption(await rejection(paused))).toBe(true);
    expect(heard.map(String)).toEqual(
      Array(2).fill("Error: sink: took no event for 5 ms after the run had ended"),
    );
  });

  it("is sent what it missed once it answers, in order, if it took the start", async () => {
    let answer = () => {};
    const types: string[] = [];
    const sink: AgentEventSink = {
      send(event) {
        types.push(event.type);
        if (event.type !== "started") return undefined;
        return new Promise<void>((resolve) => {
          answer = resolve;
        });
      },
    };
    await rejection(runAgent({ sink, ...base, deadlineMs: 3, graceMs: 1 }, () => 1));
    expect(types).toEqual(["started"]);
    answer();
    await new Promise((resolve) => setImmediate(resolve));
    expect(types).toEqual(["started", "failed"]);
  });

  it("is sent nothing more if it then refuses the start", async () => {
    let refuse = (_: unknown) => {};
    const types: string[] = [];
    const sink: AgentEventSink = {
      send(event) {
        types.push(event.type);
        return new Promise<void>((_resolve, reject) => {
          refuse = reject;
        });
      },
    };
    await rejection(runAgent({ sink, ...base, deadlineMs: 3, graceMs: 1 }, () => 1));
    refuse(down);
    await new Promise((resolve) => setImmediate(resolve));
    expect(types).toEqual(["started"]);
  });
});
