import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { AgentRun } from "../../../src/agents/runtime/agent-run.ts";
import { costOf, type Price, type PricedCall } from "../../../src/agents/runtime/price.ts";
import { runAgent } from "../../../src/agents/runtime/run-agent.ts";
import type { ModelCallUsage } from "../../../src/entries/events.ts";
import { readDecimal } from "../../../src/events/door.ts";
import { rejection, Told } from "./said.ts";

const usage: ModelCallUsage = { input_tokens: 10, output_tokens: 2 };
const call: PricedCall = { provider: "openai", model: "m", responseModel: "m-1", usage };
const base = { agent: "support", tenant: "acme", runId: "r" };

/** What a hook's answer becomes, and what it was reported as. */
function read(price: Price) {
  const reports: unknown[] = [];
  const cost = costOf(price, call, (error) => void reports.push(String(error)));
  return { cost, reports };
}

/** A call that said what it used. */
const ask = (run: AgentRun, reported: ModelCallUsage = usage) =>
  run.model("small-1", { provider: "openai" }, (model) => {
    model.report({ usage: reported, responseModel: "small-1-0613" });
  });

const costsOf = (sink: Told) =>
  sink.events.flatMap((event) => (event.type === "model_complete" ? [event.cost_usd] : []));

describe("the answer of a price hook", () => {
  it("is a decimal text as it is, or a number in at most 12 places", () => {
    const answers: readonly (readonly [string | number, string])[] = [
      ["0.0031", "0.0031"],
      ["0.300", "0.300"],
      ["12", "12"],
      [0.1 + 0.2, "0.3"],
      [1e-7, "0.0000001"],
      [1.23456789012e-3, "0.00123456789"],
      [1e-13, "0"],
      [10, "10"],
      [100.5, "100.5"],
      [0, "0"],
    ];
    for (const [given, cost] of answers) {
      expect(read(() => given)).toEqual({ cost, reports: [] });
    }
  });

  it("may be that nobody knows", () => {
    expect(read(() => undefined)).toEqual({ cost: undefined, reports: [] });
    expect(costOf(undefined, call, undefined)).toBeUndefined();
  });

  it("that is no price is reported, and counts as not known", () => {
    const wrong: readonly (readonly [unknown, string])[] = [
      ["-1", '"-1"'],
      ["1e3", '"1e3"'],
      ["$1", '"$1"'],
      [-0.5, "-0.5"],
      [Number.NaN, "NaN"],
      [Number.POSITIVE_INFINITY, "Infinity"],
      [1e21, "1e+21"],
      [{}, "object"],
      [3n, "bigint"],
    ];
    for (const [given, got] of wrong) {
      const expected = `TypeError: price: expected a decimal text or a number from 0, got ${got}`;
      expect(read((() => given) as Price)).toEqual({ cost: undefined, reports: [expected] });
    }
  });

  it("that is thrown or promised is reported, and nothing is left unhandled", async () => {
    const thrown = read(() => {
      throw new Error("no list");
    });
    expect(thrown).toEqual({ cost: undefined, reports: ["Error: no list"] });
    const promised = read((async () => {
      throw new Error("later");
    }) as unknown as Price);
    await new Promise((resolve) => setImmediate(resolve));
    expect(promised).toEqual({
      cost: undefined,
      reports: ["TypeError: price: expected a decimal text or a number, got a promise"],
    });
  });

  it("is readable as a decimal, whatever number it was", () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 1e20, noNaN: true }), (price) => {
        const { cost, reports } = read(() => price);
        expect(reports).toEqual([]);
        expect(readDecimal(cost)).toBeDefined();
        expect(Math.abs(Number(cost) - price)).toBeLessThanOrEqual(Math.max(5e-13, price * 1e-15));
      }),
    );
  });
});

describe("a run with a price", () => {
  it("asks once for each call that said what it used, and adds up exactly", async () => {
    const sink = new Told();
    const asked: PricedCall[] = [];
    const price: Price = (priced) => {
      asked.push(priced);
      return "0.1";
    };
    await runAgent({ sink, ...base, price }, async (run) => {
      await ask(run);
      await ask(run);
      await run.model("small-1", () => "says nothing");
      await rejection(
        run.model("small-1", () => {
          throw new Error("down");
        }),
      );
      run.addCost("0.05");
    });
    const told = { provider: "openai", model: "small-1", responseModel: "small-1-0613", usage };
    expect(asked).toEqual([told, told]);
    const costs = costsOf(sink);
    expect(costs).toEqual(["0.1", "0.1", undefined]);
    expect(sink.only("complete").usage?.cost_usd).toBe("0.25");
  });

  it("has it in the runs that it starts, unless they have their own", async () => {
    const sink = new Told();
    await runAgent({ sink, ...base, price: () => "1" }, async () => {
      await runAgent({ agent: "a" }, (run) => ask(run));
      await runAgent({ agent: "b", price: () => "2" }, (run) => ask(run));
    });
    const costs = costsOf(sink);
    expect(costs).toEqual(["1", "2"]);
  });

  it("ends when its budget is exceeded by it", async () => {
    const sink = new Told();
    const budget = { costUsd: "0.15" };
    const failed = runAgent({ sink, ...base, budget, price: () => 0.1 }, async (run) => {
      await ask(run);
      await ask(run);
    });
    await rejection(failed);
    expect(sink.only("failed").envelope.breach).toEqual({
      axis: "cost_usd",
      limit: "0.15",
      observed: "0.2",
    });
  });

  it("vouches for a cost of zero, and for that alone", async () => {
    for (const [price, cost, known] of [
      ["0.00", "0.00", true],
      ["0.01", "0.01", undefined],
    ] as const) {
      const sink = new Told();
      await runAgent({ sink, ...base, price: () => price }, (run) => ask(run));
      expect(sink.only("complete").usage?.cost_usd).toBe(cost);
      for (const type of ["model_complete", "complete"] as const) {
        const sent = sink.items.find(({ event }) => event.type === type);
        expect(sent?.envelope?.details?.cost_known).toBe(known);
      }
    }
  });

  it("refuses one that is no function", async () => {
    const price = "0.1" as unknown as Price;
    const error = await rejection(runAgent({ sink: new Told(), ...base, price }, () => {}));
    expect(error).toMatchObject({ message: "price: expected a function, got string" });
  });
});

describe("a run without a price", () => {
  it("says no cost, even with a budget", async () => {
    const sink = new Told();
    await runAgent({ sink, ...base, budget: { costUsd: "1" } }, async (run) => {
      await ask(run, { ...usage, cache_read_input_tokens: 4, cache_write_input_tokens: 2n });
      expect(run.usage).not.toHaveProperty("cost_usd");
    });
    expect(sink.only("complete").usage).toEqual({
      requests: 1,
      input_tokens: 10,
      output_tokens: 2,
      tool_calls: 0,
      cache_read_input_tokens: 4,
      cache_write_input_tokens: 2,
    });
  });
});
