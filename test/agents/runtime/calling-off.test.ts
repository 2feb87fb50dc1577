import { afterEach, describe, expect, it, vi } from "vitest";
import type { AgentRun } from "../../../src/agents/runtime/agent-run.ts";
import { runAgent } from "../../../src/agents/runtime/run-agent.ts";
import { isRunEnded } from "../../../src/agents/runtime/run-errors.ts";
import { isAgentError } from "../../../src/index.ts";
import { forever, rejection, Told } from "./said.ts";

const base = { agent: "support", tenant: "acme" };

function detailOf(error: unknown): string | undefined {
  return isAgentError(error) ? error.detail.type : undefined;
}

afterEach(() => {
  vi.useRealTimers();
});

describe("a deadline", () => {
  it("ends a run that hangs, and the calls that are open in it", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
    const sink = new Told();
    const seen: string[] = [];
    const run = runAgent({ sink, ...base, deadlineMs: 60_000 }, async (run) => {
      void run.tool("hang", ({ signal }) => {
        signal.addEventListener("abort", () => seen.push(`tool ${detailOf(signal.reason)}`));
        return forever();
      });
      void run.model("small-1", forever);
      run.signal.addEventListener("abort", () => seen.push(`run ${detailOf(run.signal.reason)}`));
      await forever();
    });
    const caught = rejection(run);
    await vi.advanceTimersByTimeAsync(59_999);
    expect(sink.said().at(-1)).toBe("model_start small-1");
    await vi.advanceTimersByTimeAsync(1);
    expect(detailOf(await caught)).toBe("deadline_exceeded");
    expect(sink.said().slice(3)).toEqual([
      "tool_error hang internal deadline_exceeded",
      "model_error small-1 deadline_exceeded",
      "failed deadline_exceeded",
    ]);
    expect(sink.only("tool_error")).toMatchObject({
      error: "deadline exceeded: the run ended while the call was open",
      duration_ms: 60_000,
    });
    expect(seen).toEqual(["run deadline_exceeded", "tool deadline_exceeded"]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("is forgotten when the run ends before it", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    await runAgent({ sink: new Told(), ...base, deadlineMs: 1000 }, () => 1);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("of zero calls nothing that waits", async () => {
    const sink = new Told();
    const error = await rejection(runAgent({ sink, ...base, deadlineMs: 0 }, forever));
    expect(detailOf(error)).toBe("deadline_exceeded");
    expect(sink.said()).toEqual(["started support", "failed deadline_exceeded"]);
  });
});

describe("a signal", () => {
  it("that has fired ends the run before its function is called", async () => {
    const sink = new Told();
    let called = false;
    const signal = AbortSignal.abort();
    const error = await rejection(
      runAgent({ sink, ...base, signal }, () => {
        called = true;
      }),
    );
    expect([detailOf(error), called]).toEqual(["cancelled", false]);
    expect(sink.said()).toEqual(["started support", "failed cancelled"]);
  });

  it("cancels, with its reason as the cause", async () => {
    const sink = new Told();
    const controller = new AbortController();
    const reason = new Error("the user left");
    const run = runAgent({ sink, ...base, signal: controller.signal }, () => {
      controller.abort(reason);
      return forever();
    });
    const error = await rejection(run);
    expect(detailOf(error)).toBe("cancelled");
    expect(error instanceof Error && error.cause).toBe(reason);
    expect(sink.said()).toEqual(["started support", "failed cancelled"]);
  });

  it("that is a timeout is a deadline", async () => {
    const sink = new Told();
    const signal = AbortSignal.abort(new DOMException("too long", "TimeoutError"));
    expect(detailOf(await rejection(runAgent({ sink, ...base, signal }, forever)))).toBe(
      "deadline_exceeded",
    );
  });

  it("reaches sub-agents, which end first; one with none of its own keeps no listener", async () => {
    const sink = new Told();
    const controller = new AbortController();
    const { signal } = controller;
    const added = vi.spyOn(signal, "addEventListener");
    const removed = vi.spyOn(signal, "removeEventListener");
    const run = runAgent({ sink, ...base, signal }, (run) =>
      run.tool("ask", () =>
        runAgent({ agent: "expert" }, async (expert) => {
          void expert.tool("think", forever);
          controller.abort(new DOMException("too long", "TimeoutError"));
          await forever();
        }),
      ),
    );
    expect(detailOf(await rejection(run))).toBe("deadline_exceeded");
    expect(sink.said().slice(-4)).toEqual([
      "tool_error think internal deadline_exceeded",
      "failed deadline_exceeded",
      "tool_error ask internal deadline_exceeded",
      "failed deadline_exceeded",
    ]);
    expect([added.mock.calls.length, removed.mock.calls.length]).toEqual([1, 1]);
  });

  it("has one listener, however many runs share it, and none when they have ended", async () => {
    const sink = new Told();
    const controller = new AbortController();
    const { signal } = controller;
    const added = vi.spyOn(signal, "addEventListener");
    const removed = vi.spyOn(signal, "removeEventListener");
    const one = () => runAgent({ sink, ...base, signal }, (run) => run.tool("a", forever));
    await Promise.all(
      [1, 2, 3].map(() =>
        runAgent({ sink, ...base, signal }, () => new Promise((resolve) => setImmediate(resolve))),
      ),
    );
    expect([added.mock.calls.length, removed.mock.calls.length]).toEqual([1, 1]);
    const runs = [1, 2, 3].map(() => rejection(one()));
    controller.abort();
    expect((await Promise.all(runs)).map(detailOf)).toEqual(Array(3).fill("cancelled"));
    expect(added).toHaveBeenCalledTimes(2);
    const late = await rejection(one());
    expect(detailOf(late)).toBe("cancelled");
  });

  it("of a run warns of no leak, though many sub-agents listen to it", async () => {
    const warnings: string[] = [];
    const hear = (warning: Error) => warnings.push(warning.name);
    process.on("warning", hear);
    await runAgent({ sink: new Told(), ...base }, async (run) => {
      for (let n = 0; n < 30; n++) run.signal.addEventListener("abort", () => {});
      await Promise.all(Array.from({ length: 30 }, () => runAgent({ agent: "expert" }, () => 1)));
    });
    await new Promise((resolve) => setImmediate(resolve));
    process.off("warning", hear);
    expect(warnings).toEqual([]);
  });

  it("of a run that has ended calls nothing off", async () => {
    const controller = new AbortController();
    const sink = new Told();
    await runAgent({ sink, ...base, signal: controller.signal }, () => 1);
    controller.abort();
    expect(sink.said()).toEqual(["started support", "complete"]);
  });
});

describe("what goes on after the run's end", () => {
  it("is told nowhere, and new calls are refused", async () => {
    const sink = new Told();
    const late: unknown[] = [];
    let go = () => {};
    const gone = new Promise<void>((resolve) => {
      go = resolve;
    });
    let ended: Promise<void> = Promise.resolve();
    const run = runAgent({ sink, ...base, deadlineMs: 3 }, (run) => {
      ended = (async () => {
        await run
          .model("small-1", async (call) => {
            await gone;
            call.firstOutput();
            call.report({ usage: { input_tokens: 1 } });
          })
          .catch(() => gone);
        late.push(await rejection(run.tool("more", () => 1)));
        late.push(await rejection(run.model("small-1", () => 1)));
        try {
          run.addCost("1");
        } catch (error) {
          late.push(error);
        }
      })();
      return ended;
    });
    await rejection(run);
    const before = sink.said();
    go();
    await ended;
    expect(late.map(isRunEnded)).toEqual([true, true, true]);
    expect(String(late[0])).toMatch(/^RunEndedError: tool more: the run \S+ has ended$/);
    expect(sink.said()).toEqual(before);
    expect(before.slice(-2)).toEqual([
      "model_error small-1 deadline_exceeded",
      "failed deadline_exceeded",
    ]);
  });

  it("a tool that nobody awaited ends with the run, and its error ends no process", async () => {
    const sink = new Told();
    const unhandled: unknown[] = [];
    const hear = (error: unknown) => unhandled.push(error);
    process.on("unhandledRejection", hear);
    let aborted = false;
    let end = () => {};
    const over = new Promise<void>((resolve) => {
      end = resolve;
    });
    await runAgent({ sink, ...base }, async (run) => {
      void run.tool("forgotten", ({ signal }) => {
        signal.addEventListener("abort", () => {
          aborted = true;
        });
        return forever();
      });
      void run.tool("fails", () => {
        throw new Error("nobody hears");
      });
      void run.tool("late", async () => {
        await over;
        throw new Error("nobody hears");
      });
      await new Promise((resolve) => setImmediate(resolve));
      expect(run.signal.aborted).toBe(false);
    });
    expect(sink.said().slice(4)).toEqual([
      "tool_error fails internal unclassified",
      "tool_error forgotten internal cancelled",
      "tool_error late internal cancelled",
      "complete",
    ]);
    expect(aborted).toBe(true);
    const before = sink.said();
    end();
    await new Promise((resolve) => setTimeout(resolve, 15));
    process.off("unhandledRejection", hear);
    expect(unhandled).toEqual([]);
    expect(sink.said()).toEqual(before);
  });

  it("sub-agents that end while their parent waits for another end no process either", async () => {
    const sink = new Told();
    const unhandled: unknown[] = [];
    const hear = (error: unknown) => unhandled.push(error);
    process.on("unhandledRejection", hear);
    const ended = await rejection(
      runAgent({ sink, ...base, deadlineMs: 5 }, async () => {
        const first = runAgent({ agent: "first" }, forever);
        const second = runAgent({ agent: "second" }, forever);
        void runAgent({ agent: "forgotten" }, () => Promise.reject(new Error("nobody hears")));
        await first;
        await second;
      }),
    );
    await new Promise((resolve) => setTimeout(resolve, 5));
    process.off("unhandledRejection", hear);
    expect(detailOf(ended)).toBe("deadline_exceeded");
    expect(unhandled).toEqual([]);
    expect(sink.said()).toEqual([
      "started support",
      "started first",
      "started second",
      "started forgotten",
      "failed unclassified",
      "failed deadline_exceeded",
      "failed deadline_exceeded",
      "failed deadline_exceeded",
    ]);
  });

  it("a run's own face says what it was", async () => {
    let kept: AgentRun | undefined;
    await runAgent({ sink: new Told(), ...base, runId: "r1" }, (run) => {
      kept = run;
    });
    expect([kept?.runId, kept?.lostEvents, kept?.usage]).toEqual(["r1", 0, null]);
  });
});
