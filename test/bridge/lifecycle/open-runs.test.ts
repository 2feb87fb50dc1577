import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Run } from "../../../src/bridge/lifecycle/run.ts";
import { OpenRuns } from "../../../src/bridge/lifecycle/run-table.ts";
import { Tree } from "../../../src/bridge/lifecycle/tree.ts";
import { RunIds } from "../../../src/entries/context.ts";

const run = (runId: string) =>
  new Run<string>("acme", runId, RunIds.hashed("acme", runId), [0, 0], new Tree([0, 0]));

describe("the open runs", () => {
  it("are found by id, however many are open and in whichever order they come and go", () => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 5 }), { maxLength: 60 }), (keys) => {
        const open = new OpenRuns<string>();
        const model = new Map<string, Run<string>>();
        for (const key of keys) {
          const id = `run ${key}`;
          const known = model.get(id);
          if (known === undefined) {
            const opened = run(id);
            open.add(opened);
            model.set(id, opened);
          } else {
            expect(open.delete(known)).toBe(true);
            model.delete(id);
            expect(open.delete(known)).toBe(false);
          }
          for (let n = 0; n <= 6; n++) expect(open.get(`run ${n}`)).toBe(model.get(`run ${n}`));
        }
      }),
    );
  });

  it("do not lose a run to another one of its id", () => {
    const open = new OpenRuns<string>();
    const [first, second, other] = [run("a"), run("b"), run("b")];
    open.add(first);
    open.add(second);
    expect(open.delete(other)).toBe(false);
    expect(open.get("b")).toBe(second);
  });
});
