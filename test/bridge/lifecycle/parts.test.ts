import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Call } from "../../../src/bridge/lifecycle/part.ts";
import { Parts } from "../../../src/bridge/lifecycle/parts.ts";
import { RunIds } from "../../../src/entries/context.ts";
import { runs } from "../../support/runs.ts";

const IDS = RunIds.hashed("acme", "r1");

const call = (id: string, name = "a", version?: string, key?: string) =>
  new Call<string>(id, name, version, 1, [0, 0], IDS, key);

const id = fc.constantFrom("x", "y", "", "\0a", "name a", "id x");
const name = fc.constantFrom("a", "b");
const version = fc.constantFrom(undefined, "1");
const key = fc.constantFrom(undefined, undefined, "k1", "k2");

type Step =
  | { type: "add"; id: string; name: string; version: string | undefined; key: string | undefined }
  | { type: "remove"; at: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ type: fc.constant("add" as const), id, name, version, key }),
  },
  { weight: 2, arbitrary: fc.record({ type: fc.constant("remove" as const), at: fc.nat(200) }) },
);

/** Does the steps on the real list and on a plain array, which must agree after each. */
function run(steps: readonly Step[]): void {
  const calls = new Parts<Call<string>>();
  const model: Call<string>[] = [];
  for (const step of steps) {
    if (step.type === "add") {
      const added = call(step.id, step.name, step.version, step.key);
      calls.add(added);
      model.push(added);
    } else if (model.length > 0) {
      const [removed] = model.splice(step.at % model.length, 1);
      if (removed !== undefined) calls.remove(removed);
    }
    expect(calls.size).toBe(model.length);
    expect(calls.oldest).toBe(model[0]);
    expect(calls.newest).toBe(model.at(-1));
    for (const key of ["k1", "k2"]) {
      expect(calls.newestOf(key)).toBe(model.findLast((one) => one.key === key));
    }
    for (const id of ["x", "y", "", "\0a", "name a", "id x", "never"]) {
      expect(calls.newestOf(id)).toBe(
        model.findLast((one) => one.id === id && one.key === undefined) ??
          model.findLast((one) => one.id === id),
      );
      for (const name of ["a", "b"]) {
        for (const key of [undefined, "k1", "k2"]) {
          const isIt = (one: Call<string>) => one.id === id && one.key === key;
          expect(calls.oldestOf(id, name, key)).toBe(
            model.find((one) => isIt(one) && (id !== "" || one.name === name)),
          );
        }
        for (const version of [undefined, "1"]) {
          if (id === "") continue;
          expect(calls.has(id, (one) => one.name === name && one.version === version)).toBe(
            model.some((one) => one.id === id && one.name === name && one.version === version),
          );
        }
      }
    }
  }
}

describe("the open calls of a run", () => {
  it("are a plain list while they are few", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 25 }), (steps) => run(steps)),
      { numRuns: runs(100) },
    );
  });

  it("are the same list when they are many, and when they get few again", () => {
    const many = Array.from({ length: 40 }, (_, n): Step => {
      const ids = ["x", "y", "", "\0a"];
      const name = n % 3 ? "a" : "b";
      const key = n % 5 === 4 ? "k1" : undefined;
      return { type: "add", id: ids[n % 4] ?? "x", name, version: undefined, key };
    });
    const rest = fc.array(step, { maxLength: 60 });
    fc.assert(
      fc.property(rest, (steps) => run([...many, ...steps])),
      { numRuns: 40 },
    );
    const none = Array.from({ length: 40 }, (): Step => ({ type: "remove", at: 7 }));
    run([...many, ...none, ...many]);
  });

  it("link only what is open", () => {
    const calls = new Parts<Call<string>>();
    const [first, second, third] = [call("x"), call("y"), call("z")];
    for (const one of [first, second, third]) calls.add(one);
    calls.remove(second);
    expect([second.previous, second.next]).toEqual([undefined, undefined]);
    expect([first.next, third.previous]).toEqual([third, first]);
  });
});
