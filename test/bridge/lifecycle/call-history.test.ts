import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { CallHistory, type CallIdBudget } from "../../../src/bridge/lifecycle/call-history.ts";
import { ClosedCalls } from "../../../src/bridge/lifecycle/closed-runs.ts";
import { Call } from "../../../src/bridge/lifecycle/part.ts";
import { RunIds } from "../../../src/entries/context.ts";

const IDS = RunIds.hashed("acme", "r1");

const call = (id: string, occurrence = 1) =>
  new Call<string>(id, "fetch", undefined, occurrence, [0, 0], IDS);

const budgetOf = (most: number): CallIdBudget => ({ used: 0, most, forgotten: 0 });

describe("the history of a run's calls", () => {
  it("knows the last call of each id, as long as the bounds allow", () => {
    fc.assert(
      fc.property(
        fc.array(fc.nat(25), { maxLength: 120 }),
        fc.integer({ min: 1, max: 20 }),
        (keys, mostPerRun) => {
          const history = new CallHistory<string>();
          const budget = budgetOf(1e6);
          const last = new Map<string, Call<string>>();
          for (const key of keys) {
            const id = `call_${key}`;
            const made = call(id, (last.get(id)?.occurrence ?? 0) + 1);
            history.record(made, mostPerRun, budget);
            last.delete(id);
            last.set(id, made);
            for (const [id, one] of [...last].slice(-mostPerRun)) {
              expect(history.last(id)).toBe(one);
              expect(history.occurrences(id)).toBe(one.occurrence);
            }
            expect(history.last("never")).toBeUndefined();
          }
          const known = [...last.keys()].filter((id) => history.last(id) !== undefined).length;
          // The first eight are kept whatever the bound is.
          expect(known).toBeLessThanOrEqual(mostPerRun + Math.max(mostPerRun, 9));
          expect(budget.forgotten === 0).toBe(known === last.size);
          history.release(budget);
          expect(budget.used).toBe(0);
        },
      ),
    );
  });

  it("keeps to the budget of all runs, but for a few ids each", () => {
    const budget = budgetOf(50);
    const runs = Array.from({ length: 4 }, () => new CallHistory<string>());
    for (let n = 0; n < 400; n++) runs[n % 4]?.record(call(`call_${n}`), 10_000, budget);
    expect(budget.used).toBeLessThanOrEqual(50 + 4 * 2 * 9);
    expect(budget.forgotten).toBe(400 - budget.used);
    for (const run of runs) run.release(budget);
    expect(budget.used).toBe(0);
  });

  it("of the same id again and again takes no room", () => {
    const budget = budgetOf(1e6);
    const history = new CallHistory<string>();
    for (let n = 1; n <= 1000; n++) history.record(call("search#0", n), 10, budget);
    expect(budget.used).toBeLessThanOrEqual(9);
    expect(history.occurrences("search#0")).toBe(1000);
    expect(budget.forgotten).toBe(0);
  });

  it("goes on from what is left of a closed run", () => {
    for (const count of [3, 40]) {
      const calls = new ClosedCalls(64);
      const before = new CallHistory<string>();
      const budget = budgetOf(1e6);
      for (let n = 0; n < count; n++) before.record(call(`call_${n}`, n + 1), 1000, budget);
      before.moveTo(calls);
      before.release(budget);
      const after = new CallHistory<string>();
      after.restore(IDS, calls, 0, calls.position);
      expect(after.last("call_2")).toBeUndefined();
      expect(after.occurrences("call_2")).toBe(3);
      expect(after.occurrences("never")).toBe(0);
      after.record(call("call_2", 4), 1000, budget);
      expect(after.occurrences("call_2")).toBe(4);
    }
  });
});
