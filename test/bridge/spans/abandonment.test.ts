import { describe, expect, it } from "vitest";
import { now } from "../../../src/events/door.ts";
import { bench, RunEvents, ZERO } from "../../support/run-events.ts";

const id = (n: number) => `018f3c7a-0000-7000-8000-${String(n).padStart(12, "0")}`;
const runs = Array.from({ length: 9 }, (_, n) => new RunEvents(id(n)));
const [, one, two, three, four] = runs.map((run) => run);
if (!one || !two || !three || !four) throw new Error("there are nine");
const DAY = 24 * 3600;

/** Names of the spans in the order of their end. */
const order = (test: ReturnType<typeof bench>) => test.spans().map((span) => span.name);

describe("the age limit", () => {
  it("closes a run that nothing was heard of for longer, as of when it was last heard", async () => {
    const test = bench();
    test.at(0, one.started("silent"));
    test.at(7, one.toolStart("call_1"));
    test.at(7 + DAY, two.started("next"));
    expect(test.spans()).toHaveLength(0);
    test.at(8 + DAY, two.complete());
    await test.sink.shutdown();
    expect(test.find("invoke_agent silent")).toMatchObject({
      status: "unset",
      end: "2026-04-29T12:00:07Z",
      attributes: {
        "entelix.run.outcome": "abandoned",
        "entelix.run.abandoned_reason": "age",
      },
    });
    expect(test.diagnostics().adjustments.aged_runs).toBe(1);
  });

  it("counts from the last event of the tree, so that a parent waits for its children", async () => {
    const test = bench({ limits: { maxAgeMs: 10_000 } });
    test.at(0, one.started("top"));
    test.at(1, two.started("child", id(1)));
    test.at(2, three.started("grandchild", id(2)));
    for (let n = 1; n < 8; n++) test.at(5 * n, three.toolStart(`call_${n}`));
    expect(test.diagnostics().openRuns).toBe(3);
    test.at(46, four.started("other"));
    await test.sink.shutdown();
    expect(order(test).filter((name) => name.startsWith("invoke"))).toEqual([
      "invoke_agent grandchild",
      "invoke_agent child",
      "invoke_agent top",
      "invoke_agent other",
    ]);
    expect(test.diagnostics().adjustments.aged_runs).toBe(3);
    expect(test.find("invoke_agent top").end).toBe("2026-04-29T12:00:35Z");
  });

  it.each(["complete", "failed", "interrupted"] as const)(
    "counts what a run that is over has left behind: it was %s",
    (end) => {
      const test = bench({ limits: { maxAgeMs: 10_000 } });
      test.at(0, one.started("top"));
      test.at(1, two.started("child", id(1)));
      test.at(2, three.started("grandchild", id(2)));
      test.at(3, three[end]());
      test.at(4, two[end]());
      test.at(5, four.started("in the background", id(3)));
      for (let n = 1; n < 6; n++) test.at(n * 8, four.toolStart(`call_${n}`));
      test.at(41, four.complete());
      test.at(42, one.complete());
      expect(test.diagnostics().adjustments.aged_runs).toBe(0);
      expect(test.find("invoke_agent top")).toMatchObject({
        start: "2026-04-29T12:00:00Z",
        end: "2026-04-29T12:00:42Z",
      });
    },
  );

  it("is an unknown event away too: it is a sign of life", async () => {
    const test = bench({ limits: { maxAgeMs: 10_000 } });
    test.at(0, one.started());
    const unknown: object = { type: "brand_new", run_id: id(1), tenant_id: "acme" };
    test.at(8, Object.assign(one.complete(), unknown));
    test.at(17, two.started());
    expect(test.diagnostics().openRuns).toBe(2);
    expect(test.diagnostics().ignored.unknown_type).toBe(1);
    test.at(29, three.started());
    await test.sink.shutdown();
    expect(test.find("invoke_agent react", "entelix.run_id", id(1)).end).toBe(
      "2026-04-29T12:00:08Z",
    );
  });

  it("closes it while the input goes on, when 2,048 events of others have come", () => {
    const test = bench({ limits: { maxAgeMs: 10_000 } });
    test.at(0, one.started("silent"));
    test.at(1, two.started("busy"));
    for (let n = 2; n < 2_048; n++) test.at(n, two.toolStart(`call_${n}`));
    expect(test.diagnostics()).toMatchObject({ openRuns: 2, adjustments: { aged_runs: 0 } });
    test.at(2_049, two.toolStart("one more"));
    test.at(2_050, two.toolStart("and one that closes"));
    expect(test.diagnostics()).toMatchObject({ openRuns: 1, adjustments: { aged_runs: 1 } });
  });

  it("takes no run for silent because others are later by more than that", () => {
    const test = bench({ limits: { maxAgeMs: 10_000 } });
    test.at(0, one.started("an hour behind"));
    test.at(3600, two.started("now"));
    test.at(1, one.toolStart("call_1"));
    test.at(3605, two.toolStart("call_1"));
    test.at(2, one.complete());
    test.at(3606, two.complete());
    expect(test.diagnostics()).toMatchObject({ openRuns: 0, adjustments: { aged_runs: 0 } });
    expect(test.find("invoke_agent an hour behind")).toMatchObject({
      end: "2026-04-29T12:00:02Z",
      attributes: { "entelix.run.outcome": "complete" },
    });
  });

  it("is one of the run's own events, whatever the time of others", async () => {
    const test = bench({ limits: { maxAgeMs: 10_000 } });
    test.at(3600, two.started("now"));
    test.at(0, one.started("an hour behind"));
    test.at(11, one.complete());
    await test.sink.shutdown();
    const segments = test.spans().filter((span) => span.name === "invoke_agent an hour behind");
    expect(segments.map(({ attributes }) => attributes["entelix.run.outcome"])).toEqual([
      "abandoned",
      "complete",
    ]);
  });

  it("goes by event time in a replay: the process may take as long as it likes", () => {
    const test = bench({ limits: { maxAgeMs: 1 } });
    test.at(0, one.started());
    test.at(0, two.started());
    expect(test.diagnostics().openRuns).toBe(2);
  });
});

describe("the limit on open runs", () => {
  it("closes the one that was silent longest", () => {
    const test = bench({ limits: { openRuns: 2 } });
    test.at(0, one.started("one"));
    test.at(1, two.started("two"));
    test.at(2, one.toolStart("call_1"));
    test.at(3, three.started("three"));
    expect(test.find("invoke_agent two")).toMatchObject({
      end: "2026-04-29T12:00:01Z",
      status: "unset",
      attributes: {
        "entelix.run.outcome": "abandoned",
        "entelix.run.abandoned_reason": "limit",
      },
    });
    expect(test.diagnostics()).toMatchObject({ openRuns: 2, adjustments: { evicted_runs: 1 } });
  });

  it("is paid for by the tenant that has the most, however old the runs of others are", () => {
    const test = bench({ limits: { openRuns: 4 } });
    test.at(0, new RunEvents(id(1), "small").started("small 1"));
    test.at(1, new RunEvents(id(2), "small").started("small 2"));
    for (let n = 3; n < 20; n++) {
      test.at(n, new RunEvents(id(n), "flood").started(`flood ${n}`));
    }
    expect(order(test)).toEqual(
      Array.from({ length: 15 }, (_, n) => `invoke_agent flood ${n + 3}`),
    );
    test.at(20, new RunEvents(id(1), "small").complete());
    expect(test.find("invoke_agent small 1")).toMatchObject({
      attributes: { "entelix.run.outcome": "complete" },
    });
    expect(test.diagnostics()).toMatchObject({ openRuns: 3, adjustments: { evicted_runs: 15 } });
  });

  it("takes a leaf before its parent, though the parent was silent longer", () => {
    const test = bench({ limits: { openRuns: 3 } });
    test.at(0, one.started("top"));
    test.at(1, two.started("child", id(1)));
    test.at(1, two.approved("call_1"));
    test.at(2, three.started("other"));
    test.at(3, four.started("fourth"));
    expect(order(test)).toEqual(["invoke_agent child"]);
    test.at(4, new RunEvents(id(5)).started("fifth"));
    expect(order(test)).toEqual(["invoke_agent child", "invoke_agent top"]);
  });

  it("holds with one run and its chain of children, too", () => {
    const test = bench({ limits: { openRuns: 1 } });
    test.at(0, one.started("top"));
    test.at(1, two.started("child", id(1)));
    expect(test.diagnostics().openRuns).toBe(1);
    test.at(2, three.started("grandchild", id(2)));
    expect(test.diagnostics().openRuns).toBe(1);
    test.at(3, two.complete());
    test.at(4, one.complete());
    expect(test.diagnostics().openRuns).toBe(0);
    expect([...test.ended.values()].every((count) => count === 1)).toBe(true);
  });

  it("leaves a true terminal to the next segment", () => {
    const test = bench({ limits: { openRuns: 1 } });
    test.at(0, one.started("one"));
    test.at(1, two.started("two"));
    test.at(2, one.failed());
    const outcomes = test
      .trees()
      .map((span) => [span.span, span.attributes["entelix.run.outcome"]]);
    expect(outcomes).toEqual([
      ["invoke_agent one", "abandoned"],
      ["invoke_agent two", "abandoned"],
      ["invoke_agent one", "failed"],
    ]);
  });
});

describe("the limit on closed runs", () => {
  it("forgets the one that ended first, and counts it", () => {
    const test = bench({ limits: { closedRuns: 2 } });
    for (const run of [one, two, three]) {
      test.at(0, run.started());
      test.at(1, run.complete());
    }
    expect(test.diagnostics().adjustments.forgotten_runs).toBe(1);
    test.at(1, two.complete());
    test.at(1, three.complete());
    expect(test.diagnostics().ignored.second_terminal).toBe(2);
    test.at(9, one.complete());
    expect(test.diagnostics().adjustments.unseen_starts).toBe(1);
  });
});

describe("shutdown", () => {
  it("closes what is open: calls, children, parents, in this order", async () => {
    const test = bench();
    test.at(0, one.started("top"));
    test.at(1, one.toolStart("call_1", "dispatch"));
    test.at(2, two.started("child", id(1)));
    test.at(3, two.toolStart("call_1", "work"));
    await test.sink.shutdown();
    expect(order(test)).toEqual([
      "execute_tool work",
      "invoke_agent child",
      "execute_tool dispatch",
      "invoke_agent top",
    ]);
    for (const name of ["invoke_agent top", "invoke_agent child"]) {
      expect(test.find(name)).toMatchObject({
        status: "unset",
        end: "2026-04-29T12:00:03Z",
        attributes: {
          "entelix.run.outcome": "abandoned",
          "entelix.run.abandoned_reason": "end_of_input",
        },
      });
    }
    expect(test.diagnostics().openRuns).toBe(0);
  });

  it("of a live sink says so, and ends the spans at that time", async () => {
    const test = bench({ mode: "live" });
    test.sink.send(one.started());
    // Tests that ran before in this process may have set the clock that the bridge follows.
    const [seconds, nanos] = now();
    const before = seconds * 1000 + nanos / 1e6;
    await test.sink.shutdown();
    const span = test.find("invoke_agent react");
    expect(span.attributes["entelix.run.abandoned_reason"]).toBe("shutdown");
    expect(Date.parse(span.end)).toBeGreaterThanOrEqual(before - 2);
  });

  it("counts what comes after it, and makes no span of it", async () => {
    const test = bench();
    await test.sink.shutdown();
    test.at(0, one.started());
    test.at(1, one.complete());
    expect([...test.started.keys()]).toEqual([]);
    expect(test.diagnostics()).toMatchObject({ events: 2, ignored: { after_shutdown: 2 } });
  });

  it("comes once, twice, or by `await using`", async () => {
    const test = bench();
    {
      await using sink = test.sink;
      sink.send(one.started(), { timestamp: [ZERO, 0] });
    }
    await Promise.all([test.sink.shutdown(), test.sink.shutdown()]);
    expect([...test.ended.values()]).toEqual([1]);
  });

  it("closes a deep chain and a wide tree without children left behind", async () => {
    const test = bench();
    for (let n = 100; n < 400; n++) {
      test.at(n, new RunEvents(id(n)).started(`deep ${n}`, n === 100 ? null : id(n - 1)));
    }
    for (let n = 400; n < 700; n++) {
      test.at(n, new RunEvents(id(n)).started(`wide ${n}`, n === 400 ? null : id(400)));
    }
    await test.sink.shutdown();
    const names = order(test);
    expect(names).toHaveLength(600);
    for (let n = 101; n < 400; n++) {
      expect(names.indexOf(`invoke_agent deep ${n}`)).toBeLessThan(
        names.indexOf(`invoke_agent deep ${n - 1}`),
      );
    }
    expect(names.indexOf("invoke_agent wide 400")).toBeGreaterThan(
      Math.max(...names.map((name, at) => (/wide (?!400)/.test(name) ? at : 0))),
    );
  });
});
