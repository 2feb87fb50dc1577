import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  ClosedCalls,
  ClosedRuns,
  type RunMemory,
} from "../../../src/bridge/lifecycle/closed-runs.ts";
import { Call } from "../../../src/bridge/lifecycle/part.ts";
import { Run } from "../../../src/bridge/lifecycle/run.ts";
import { Tree } from "../../../src/bridge/lifecycle/tree.ts";
import { RunIds } from "../../../src/entries/context.ts";

/** A handle is text; one that starts with "derived" is kept as a number. */
const memory: RunMemory<string> = {
  condense: (run) => (run.handle?.startsWith("derived") === true ? 7 : (run.handle ?? 0)),
  restore: (run, kept) => (typeof kept === "number" ? `derived ${run.runId} ${kept}` : kept),
};

function idsOf(name: string): RunIds {
  return RunIds.hashed("", name);
}

const IDS = idsOf("of the calls");

function closed(name: string, more: Partial<Run<string>> = {}): Run<string> {
  const tree = new Tree<string>([0, 0]);
  const run = new Run<string>("acme", name, idsOf(name), [0, 0], tree);
  return Object.assign(run, { open: false, outcome: "complete", handle: "derived" }, more);
}

function keep(size: number) {
  const forgotten: string[] = [];
  const calls = new ClosedCalls(64);
  const runs = new ClosedRuns<string>(size, calls, memory, {
    run: (run) => void forgotten.push(`run ${run.runId}`),
    inOtherTrace: (traceId) => void forgotten.push(`placed ${traceId}`),
  });
  return { runs, calls, forgotten };
}

describe("the closed runs", () => {
  it("are found by their bytes until as many others have closed, whatever opens again between", () => {
    const step = fc.record({
      what: fc.constantFrom("add", "add", "take"),
      name: fc.nat(11),
      whole: fc.boolean(),
      look: fc.boolean(),
    });
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 6 }),
        fc.array(step, { maxLength: 80 }),
        (size, steps) => {
          const { runs } = keep(size);
          const slots: (string | undefined)[] = Array.from({ length: size });
          let next = 0;
          for (const [n, step] of steps.entries()) {
            const name = `r${step.name}`;
            const at = slots.indexOf(name);
            if (step.what === "take" && at >= 0) {
              const run = runs.get(idsOf(name), name);
              if (run === undefined) throw new Error("it is there");
              runs.take(run);
              slots[at] = undefined;
            } else if (step.what === "add" && at < 0) {
              const run = closed(name, step.whole ? { outcome: "interrupted" } : {});
              const full = runs.add(run);
              expect(full).toBe(slots[next] !== undefined);
              slots[next] = name;
              next = (next + 1) % size;
            }
            // How many have closed since one was last looked for decides how they are found.
            if (!step.look && n + 1 < steps.length) continue;
            for (let n = 0; n <= 11; n++) {
              const here = slots.includes(`r${n}`);
              expect(runs.tenantOf(idsOf(`r${n}`))).toBe(here ? "acme" : undefined);
              expect(runs.get(idsOf(`r${n}`), `r${n}`)?.runId).toBe(here ? `r${n}` : undefined);
            }
          }
        },
      ),
    );
  });

  it("that may go on are kept as they are", () => {
    const { runs } = keep(2);
    const paused = closed("paused", { outcome: "interrupted", threadId: "th-1" });
    runs.add(paused);
    expect(runs.get(idsOf("paused"), "paused")).toBe(paused);
  });

  it.each(["complete", "failed"] as const)(
    "that are over (%s) come back with what counts",
    (outcome) => {
      const { runs } = keep(2);
      runs.add(
        closed("child", {
          outcome,
          agent: "react",
          segment: 3,
          traceId: "t".repeat(32),
          parentRunId: "parent",
          rootRunId: "root",
          root: false,
          handle: "odd",
        }),
      );
      runs.add(closed("plain", { outcome }));
      const child = runs.get(idsOf("child"), "child");
      expect(child).toMatchObject({
        open: false,
        outcome,
        tenantId: "acme",
        agent: "react",
        segment: 3,
        traceId: "t".repeat(32),
        parentRunId: "parent",
        rootRunId: "root",
        root: false,
        handle: "odd",
      });
      const plain = runs.get(idsOf("plain"), "plain");
      expect(plain).toMatchObject({
        outcome,
        agent: undefined,
        segment: 1,
        traceId: idsOf("plain").traceId,
        rootRunId: "plain",
        root: true,
        handle: "derived plain 7",
      });
      expect(runs.get(idsOf("child"), "child")).toBe(child);
    },
  );

  it("tell of each run and each trace that they forget", () => {
    const { runs, forgotten } = keep(2);
    runs.add(closed("plain"));
    runs.add(closed("child", { traceId: "trace 1" }));
    runs.add(closed("paused child", { outcome: "abandoned", traceId: "trace 2" }));
    runs.add(closed("filler"));
    runs.add(closed("filler 2"));
    expect(forgotten).toEqual(["placed trace 1", "run paused child", "placed trace 2"]);
  });

  it("do not tell of a run that opens again", () => {
    const { runs, forgotten } = keep(1);
    const paused = closed("paused", { outcome: "interrupted", traceId: "trace" });
    runs.add(paused);
    runs.take(paused);
    runs.take(paused);
    expect(runs.add(closed("next"))).toBe(false);
    expect(forgotten).toEqual([]);
  });

  it("find a run among many whose ids end alike", () => {
    const size = 300;
    const { runs } = keep(size);
    const uuid = (n: number) => `${String(n).padStart(8, "0")}-9dad-11d1-80b4-00c04fd430c8`;
    const ids = Array.from({ length: size }, (_, n) => RunIds.fromUuid(uuid(n + 1)));
    for (const [n, one] of ids.entries()) {
      if (one === undefined) throw new Error("a UUID");
      const run = new Run<string>(`tenant ${n}`, uuid(n + 1), one, [0, 0], new Tree([0, 0]));
      runs.add(Object.assign(run, { outcome: "complete", handle: "derived" }));
    }
    for (const [n, one] of ids.entries()) {
      expect(one === undefined ? one : runs.tenantOf(one)).toBe(`tenant ${n}`);
    }
  });
});

describe("the calls of closed runs", () => {
  const call = (id: string, occurrence: number) =>
    new Call<string>(id, "fetch", undefined, occurrence, [0, 0], IDS);

  it("are known by run, with the highest occurrence of each id", () => {
    const calls = new ClosedCalls(16);
    const first = calls.position;
    calls.add(call("x", 1));
    calls.add(call("", 1));
    calls.add(call("x", 3));
    const second = calls.position;
    calls.add(call("x", 2));
    const end = calls.position;
    expect(calls.occurrences(IDS, "x", first, second)).toBe(3);
    expect(calls.occurrences(IDS, "", first, second)).toBe(1);
    expect(calls.occurrences(IDS, "x", second, end)).toBe(2);
    expect(calls.occurrences(IDS, "y", first, end)).toBe(0);
    expect(calls.occurrences(IDS, "x", end, end)).toBe(0);
  });

  it("are forgotten when as many others have come", () => {
    const calls = new ClosedCalls(16);
    calls.add(call("old", 1));
    for (let n = 0; n < 15; n++) calls.add(call(`call_${n}`, 1));
    expect(calls.occurrences(IDS, "old", 0, 1)).toBe(1);
    calls.add(call("one more", 1));
    expect(calls.occurrences(IDS, "old", 0, 1)).toBe(0);
    expect(calls.occurrences(IDS, "call_0", 1, 2)).toBe(1);
  });
});
