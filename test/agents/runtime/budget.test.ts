import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { UsageBudget } from "../../../src/agents/runtime/budget.ts";
import { runAgent } from "../../../src/agents/runtime/run-agent.ts";
import { addDecimals, formatDecimal, isGreater, parseDecimal } from "../../../src/events/door.ts";
import { isAgentError } from "../../../src/index.ts";
import { rejection, Told } from "./said.ts";

const base = { agent: "support", tenant: "acme" };

async function breachOf(promise: Promise<unknown>) {
  const error = await rejection(promise);
  if (!isAgentError(error) || error.detail.type !== "usage_limit_exceeded") throw error;
  return error.detail.breach;
}

const tokens = (input_tokens: number | bigint, output_tokens: number | bigint) => ({
  usage: { input_tokens, output_tokens },
});

describe("a budget", () => {
  it("refuses the tool call after the last, and the run has failed whatever follows", async () => {
    const sink = new Told();
    let called = 0;
    const run = runAgent({ sink, ...base, budget: { toolCalls: 2 } }, async (run) => {
      for (let n = 0; n < 5; n++) await run.tool("a", () => (called += 1)).catch(() => {});
      return "all well";
    });
    expect(await breachOf(run)).toEqual({ axis: "tool_calls", limit: 2, observed: 2 });
    expect(called).toBe(2);
    expect(sink.said().slice(-2)).toEqual(["tool_complete a", "failed usage_limit_exceeded"]);
    expect(sink.only("failed")).toMatchObject({
      error: "run budget exceeded on tool_calls axis: observed 2, limit 2",
      envelope: {
        wire_code: "quota_exceeded",
        breach: { axis: "tool_calls", limit: 2, observed: 2 },
      },
    });
  });

  it("counts calls before they are made, so that parallel ones do not pass together", async () => {
    let called = 0;
    const run = runAgent({ sink: new Told(), ...base, budget: { requests: 1 } }, (run) =>
      Promise.all([1, 2, 3].map(() => run.model("m", () => (called += 1)))),
    );
    expect(await breachOf(run)).toEqual({ axis: "requests", limit: 1, observed: 1 });
    expect(called).toBeLessThanOrEqual(1);
  });

  const axes = [
    ["input_tokens", { inputTokens: 10 }, { limit: 10, observed: 11 }],
    ["output_tokens", { outputTokens: 3n }, { limit: 3, observed: 4 }],
    ["total_tokens", { totalTokens: 14 }, { limit: 14, observed: 15 }],
  ] as const;
  it.each(axes)("ends the run by the answer that passes %s", async (axis, budget, figures) => {
    const sink = new Told();
    const run = runAgent({ sink, ...base, budget }, (run) =>
      run.model("m", (call) => call.report(tokens(11, 4))),
    );
    expect(await breachOf(run)).toEqual({ axis, ...figures });
    expect(sink.said()).toEqual([
      "started support",
      "model_start m",
      "model_complete m",
      "failed usage_limit_exceeded",
    ]);
  });

  it("lets pass what is just the limit", async () => {
    const sink = new Told();
    const budget = {
      inputTokens: 11,
      outputTokens: 4,
      totalTokens: 15,
      costUsd: "0.3",
      toolCalls: 1,
    };
    await runAgent({ sink, ...base, budget: { ...budget, requests: 1 } }, async (run) => {
      await run.model("m", (call) => call.report(tokens(11, 4)));
      await run.tool("a", () => 1);
      run.addCost("0.1");
      run.addCost("0.20");
    });
    expect(sink.only("complete").usage).toEqual({
      requests: 1,
      input_tokens: 11,
      output_tokens: 4,
      tool_calls: 1,
      cost_usd: "0.30",
    });
  });

  it("adds cost exactly, and ends the run by the charge that passes it", async () => {
    const sink = new Told();
    const run = runAgent({ sink, ...base, budget: { costUsd: "0.3" } }, async (run) => {
      run.addCost("0.1");
      run.addCost("0.2");
      expect(() => run.addCost("0.0000000000000000001")).toThrow("run budget exceeded on cost_usd");
    });
    expect(await breachOf(run)).toEqual({
      axis: "cost_usd",
      limit: "0.3",
      observed: "0.3000000000000000001",
    });
  });

  it("is shared with sub-agents, whose figures contain the run's", async () => {
    const sink = new Told();
    const run = runAgent({ sink, ...base, budget: { requests: 3 } }, async (run) => {
      await run.model("m", (call) => call.report(tokens(1, 1)));
      await runAgent({ agent: "expert" }, (expert) =>
        expert.model("m", (call) => call.report(tokens(2, 2))),
      );
      await run.model("m", (call) => call.report(tokens(4, 4)));
      await runAgent({ agent: "expert" }, (expert) => expert.model("m", () => 1));
    });
    expect((await breachOf(run)).axis).toBe("requests");
    const [first] = sink.events.filter((event) => event.type === "complete");
    expect(first?.usage).toMatchObject({ requests: 2, input_tokens: 3 });
    expect(sink.said().filter((line) => line.startsWith("failed"))).toEqual([
      "failed usage_limit_exceeded",
      "failed usage_limit_exceeded",
    ]);
  });

  it("of a sub-agent's own ends that run only; what it used counts above too", async () => {
    const sink = new Told();
    await runAgent({ sink, ...base }, async (run) => {
      run.addCost("1.5");
      await breachOf(
        runAgent({ agent: "expert", budget: { costUsd: "1" } }, (expert) => {
          expert.addCost("0.75");
          expert.addCost("0.5");
        }),
      );
      expect(run.usage?.cost_usd).toBe("2.75");
    });
    expect(sink.said().slice(-2)).toEqual(["failed usage_limit_exceeded", "complete"]);
  });

  it("that a sub-agent has used up refuses the next call of the run above", async () => {
    const run = runAgent({ sink: new Told(), ...base, budget: { totalTokens: 5 } }, async (run) => {
      await rejection(
        runAgent({ agent: "expert" }, (expert) =>
          expert.model("m", (call) => call.report(tokens(5, 5))),
        ),
      );
      await run.tool("a", () => 1);
    });
    expect(await breachOf(run)).toEqual({ axis: "total_tokens", limit: 5, observed: 10 });
  });

  it("asks nobody to approve what it has no room for", async () => {
    let asked = 0;
    const approve = () => {
      asked += 1;
      return "approved" as const;
    };
    const options = { sink: new Told(), ...base, budget: { toolCalls: 0 }, approve };
    await breachOf(runAgent(options, (run) => run.tool("a", () => 1)));
    expect(asked).toBe(0);
  });
});

describe("usage of a run", () => {
  it("is null without budget and report, and there with either", async () => {
    const usage = async (budget: object | undefined, report: boolean) => {
      const sink = new Told();
      await runAgent({ sink, ...base, budget }, (run) =>
        run.model("m", (call) => {
          if (report) call.report({ usage: { output_tokens: 2 } });
        }),
      );
      return sink.only("complete").usage;
    };
    const none = { requests: 1, input_tokens: 0, output_tokens: 0, tool_calls: 0 };
    expect(await usage(undefined, false)).toBeNull();
    expect(await usage({}, false)).toEqual(none);
    expect(await usage(undefined, true)).toEqual({ ...none, output_tokens: 2 });
  });

  it("counts an answer that failed, with what it reported", async () => {
    const sink = new Told();
    await runAgent({ sink, ...base, budget: {} }, async (run) => {
      await rejection(
        run.model("m", (call) => {
          call.report(tokens(5, 5));
          throw new Error("cut");
        }),
      );
    });
    expect(sink.only("complete").usage).toMatchObject({ requests: 1, input_tokens: 5 });
  });

  it("holds figures beyond 2^53", async () => {
    const sink = new Told();
    await runAgent({ sink, ...base }, async (run) => {
      await run.model("m", (call) => call.report(tokens(2n ** 53n, 1)));
      await run.model("m", (call) => call.report(tokens(1n, 1)));
    });
    expect(sink.only("complete").usage).toMatchObject({
      input_tokens: 2n ** 53n + 1n,
      output_tokens: 2,
    });
  });
});

describe("decimals", () => {
  const decimal = fc
    .tuple(fc.bigInt({ min: 0n, max: 10n ** 20n }), fc.integer({ min: 0, max: 20 }))
    .map(([digits, scale]) => formatDecimal({ digits, scale }));

  it("are read and written alike, and added exactly in any order", () => {
    fc.assert(
      fc.property(fc.array(decimal, { minLength: 1, maxLength: 8 }), (texts) => {
        const parsed = texts.map((text) => parseDecimal(text, "x"));
        expect(parsed.map(formatDecimal)).toEqual(texts);
        const sum = parsed.reduce(addDecimals);
        expect(formatDecimal([...parsed].reverse().reduce(addDecimals))).toBe(formatDecimal(sum));
        const whole = parsed.reduce(
          (total, { digits, scale: s }) => total + digits * 10n ** BigInt(20 - s),
          0n,
        );
        expect(sum.digits * 10n ** BigInt(20 - sum.scale)).toBe(whole);
        expect(isGreater(sum, { digits: whole, scale: 20 })).toBe(false);
        expect(isGreater({ digits: whole + 1n, scale: 20 }, sum)).toBe(true);
      }),
    );
  });

  it.each(["", "-1", "1e3", ".5", "5.", "1,5", " 1", "0x1", "NaN", 1, 0.1, null, undefined])(
    "are not %j",
    (value) => {
      expect(() => parseDecimal(value, "addCost")).toThrow("addCost: expected a decimal number");
    },
  );

  it("keep their scale", () => {
    const sum = (a: string, b: string) =>
      formatDecimal(addDecimals(parseDecimal(a, "a"), parseDecimal(b, "b")));
    expect([sum("0.30", "0"), sum("0.1", "0.2"), sum("0.05", "0.95"), sum("0", "0")]).toEqual([
      "0.30",
      "0.3",
      "1.00",
      "0",
    ]);
  });

  it("a limit above counts too", () => {
    const above = new UsageBudget({ toolCalls: 1 });
    const below = new UsageBudget({ toolCalls: 5 }, above);
    expect(below.takeToolCall()).toBeUndefined();
    expect(below.checkToolCall()).toEqual({ axis: "tool_calls", limit: 1, observed: 1 });
    expect(below.takeToolCall()).toEqual({ axis: "tool_calls", limit: 1, observed: 1 });
    expect(below.snapshot()?.tool_calls).toBe(1);
  });
});
