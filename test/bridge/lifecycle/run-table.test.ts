import { describe, expect, it } from "vitest";
import { Run } from "../../../src/bridge/lifecycle/run.ts";
import { RunTable } from "../../../src/bridge/lifecycle/run-table.ts";
import { Tree } from "../../../src/bridge/lifecycle/tree.ts";
import { RunIds } from "../../../src/entries/context.ts";
import { FakeDriver } from "./fake-driver.ts";

const A = "018f3c7a-0000-7000-8000-00000000000a";
const B = "018f3c7a-0000-7000-8000-00000000000b";
const hex = (uuid: string) => uuid.replaceAll("-", "");

function table(mostClosed = 10) {
  const budget = { used: 0, most: 1000, forgotten: 0 };
  const runs = new RunTable<string>(mostClosed, budget, new FakeDriver());
  return {
    runs,
    open(tenant: string, runId: string, traceId?: string): Run<string> {
      const { ids } = runs.identify(tenant, runId);
      const run = new Run<string>(tenant, runId, ids, [0, 0], new Tree([0, 0]));
      if (traceId !== undefined) run.traceId = traceId;
      runs.add(run);
      return run;
    },
    close(run: Run<string>, outcome: "complete" | "interrupted" = "complete"): boolean {
      run.open = false;
      run.outcome = outcome;
      return runs.remember(run);
    },
  };
}

describe("the table of runs", () => {
  it("finds a tenant's run, open or closed, and nobody else's", () => {
    const { runs, open, close } = table();
    const mine = open("acme", A);
    expect(runs.find("acme", A)).toBe(mine);
    expect(runs.find("globex", A)).toBeUndefined();
    const named = open("acme", "r1");
    close(mine);
    close(named, "interrupted");
    expect(runs.find("acme", A)).toMatchObject({ runId: A, open: false, outcome: "complete" });
    expect(runs.find("acme", A.toUpperCase())).toMatchObject({ runId: A });
    expect(runs.find("acme", "r1")).toBe(named);
    expect(runs.find("globex", A)).toBeUndefined();
    expect(runs.find("globex", "r1")).toBeUndefined();
  });

  it("finds each tenant's run of a shared id", () => {
    const { runs, open, close } = table();
    const mine = open("acme", A);
    const theirs = open("globex", A);
    expect([mine.ids.traceId, theirs.ids.traceId]).toEqual([
      hex(A),
      RunIds.hashed("globex", A).traceId,
    ]);
    expect([runs.find("acme", A), runs.find("globex", A)]).toEqual([mine, theirs]);
    close(mine);
    expect(runs.find("globex", A)).toBe(theirs);
    close(theirs);
    expect(runs.find("acme", A)).toMatchObject({ tenantId: "acme" });
    expect(runs.find("globex", A)).toMatchObject({ tenantId: "globex" });
  });

  it("has the UUID's ids for one tenant, also when that one's run opens again beside another's", () => {
    const { runs, open, close } = table();
    const first = open("initech", A);
    close(first, "interrupted");
    const other = open("acme", A);
    runs.recall(first);
    close(other);
    expect(runs.find("globex", A)).toBeUndefined();
    const { conflict, ids } = runs.identify("globex", A);
    expect([conflict, ids.traceId]).toEqual([true, RunIds.hashed("globex", A).traceId]);
  });

  it("knows whose a run id is, open or by its UUID", () => {
    const { runs, open, close } = table();
    expect(runs.ownerOf(A)).toBeUndefined();
    const run = open("acme", A);
    expect(runs.ownerOf(A)).toBe(run);
    close(run);
    expect(runs.ownerOf(A)).toMatchObject({ tenantId: "acme", runId: A });
    const first = open("acme", "r1");
    open("globex", "r1");
    close(first);
    expect(runs.ownerOf("r1")).toMatchObject({ tenantId: "globex" });
  });

  it("opens a closed run again, and forgets it no more", () => {
    const { runs, open, close } = table(1);
    const paused = open("acme", A);
    close(paused, "interrupted");
    paused.open = true;
    runs.recall(paused);
    expect(runs.findFirstOpen("acme", A)).toBe(paused);
    expect(close(open("acme", B))).toBe(false);
    expect(runs.find("acme", A)).toBe(paused);
    expect(close(open("acme", "r1"))).toBe(true);
    expect(runs.find("acme", B)).toBeUndefined();
  });
});

describe("a trace", () => {
  it("is its root run's tenant's: open, closed, until it is forgotten", () => {
    for (const runId of [A, "r1"]) {
      const { runs, open, close } = table(1);
      const run = open("acme", runId);
      expect(runs.isForeignTrace("globex", run.traceId)).toBe(true);
      expect(runs.isForeignTrace("acme", run.traceId)).toBe(false);
      close(run);
      expect(runs.isForeignTrace("globex", run.traceId)).toBe(true);
      close(open("acme", B));
      expect(runs.isForeignTrace("globex", run.traceId)).toBe(false);
    }
  });

  it("is the tenant's whose runs are in it, until the last is forgotten", () => {
    const trace = "1".repeat(32);
    for (const outcome of ["complete", "interrupted"] as const) {
      const { runs, open, close } = table(2);
      const [first, second] = [open("acme", A, trace), open("acme", "r1", trace)];
      close(first, outcome);
      close(second, outcome);
      close(open("acme", "x"));
      expect(runs.isForeignTrace("globex", trace)).toBe(true);
      close(open("acme", "y"));
      expect(runs.isForeignTrace("globex", trace)).toBe(false);
    }
  });

  it("of zeros or of ones only is nobody's", () => {
    const { runs } = table();
    expect(runs.isForeignTrace("acme", "0".repeat(32))).toBe(false);
    expect(runs.isForeignTrace("acme", "f".repeat(32))).toBe(false);
  });
});

describe("a run id in its canonical form", () => {
  it("has the letters of a UUID in lower case, and is else as it was", () => {
    const { runs } = table();
    expect(runs.canonical("018F3C7A-0000-7000-8000-00000000000A")).toBe(A);
    expect(runs.canonical("R1")).toBe("R1");
    expect(runs.canonical("X18F3C7A-0000-7000-8000-00000000000A")).toBe(
      "X18F3C7A-0000-7000-8000-00000000000A",
    );
    expect(runs.canonical("FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF")).toBe(
      "FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF",
    );
  });
});
