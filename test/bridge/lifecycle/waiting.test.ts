import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { LifecycleLimits } from "../../../src/bridge/lifecycle/limits.ts";
import { childrenIn, type WaitKind, waitOf } from "../../../src/bridge/lifecycle/waiting.ts";
import type { Instant } from "../../../src/entries/events.ts";
import type { RunEnd } from "../../../src/events/door.ts";
import { runs } from "../../support/runs.ts";
import { FakeDriver } from "./fake-driver.ts";
import { TestLifecycle } from "./test-lifecycle.ts";

const at = (seconds: number): Instant => [seconds, 0];
const PAUSED: RunEnd = {
  outcome: "interrupted",
  kind: { type: "approval_pending", tool_use_id: "x" },
};

/** A lifecycle with an open run. */
function start(limits: Partial<LifecycleLimits> = {}) {
  const lifecycle = new TestLifecycle(new FakeDriver(), limits);
  lifecycle.startRun("acme", "r", at(1), "top");
  return {
    lifecycle,
    ask: (seconds: number, callId: string, name = "f") =>
      lifecycle.say({
        signal: "call_asked",
        tenantId: "acme",
        runId: "r",
        at: at(seconds),
        callId,
        name,
      }),
    wait: (runId = "r") => {
      const run = lifecycle.runs.find("acme", runId);
      if (run === undefined || !run.open) return undefined;
      const { kind, name, since } = waitOf(run, childrenIn(run.tree));
      return [kind, name, since[0]];
    },
  };
}

describe("a run whose call somebody was asked about", () => {
  it.each([
    ["approval", (l: TestLifecycle) => l.approveCall("acme", "r", at(9), "c"), "nothing"],
    ["denial", (l: TestLifecycle) => l.denyCall("acme", "r", at(9), "c"), "nothing"],
    ["start", (l: TestLifecycle) => l.startCall("acme", "r", at(9), "c"), "tool"],
    ["end", (l: TestLifecycle) => l.endCall("acme", "r", at(9), "c"), "nothing"],
  ])("waits for an approval until the call's %s", (_, settle, then) => {
    const { ask, lifecycle, wait } = start();
    ask(5, "c", "pay");
    expect(wait()).toEqual(["approval", "pay", 5]);
    settle(lifecycle);
    expect(wait()?.[0]).toBe(then);
  });

  it("waits for it above all else, and for the one that was asked for first", () => {
    const { ask, lifecycle, wait } = start();
    lifecycle.startCall("acme", "r", at(2), "b", "search");
    lifecycle.startModelCall("acme", "r", at(3), "m");
    ask(7, "d", "mail");
    ask(5, "c", "pay");
    expect(wait()).toEqual(["approval", "pay", 5]);
    lifecycle.approveCall("acme", "r", at(8), "c");
    expect(wait()).toEqual(["approval", "mail", 7]);
    lifecycle.denyCall("acme", "r", at(9), "d");
    expect(wait()).toEqual(["tool", "search", 2]);
  });

  it("waits again when it is asked again", () => {
    const { ask, lifecycle, wait } = start();
    ask(5, "c");
    lifecycle.startCall("acme", "r", at(6), "c");
    lifecycle.endCall("acme", "r", at(7), "c");
    ask(8, "c");
    expect(wait()).toEqual(["approval", "f", 8]);
  });

  it("does not go on waiting in its next segment", () => {
    const { ask, lifecycle, wait } = start();
    ask(5, "c");
    lifecycle.endRun("acme", "r", at(6), PAUSED);
    expect(wait()).toBeUndefined();
    lifecycle.startRun("acme", "r", at(9), "top");
    expect(wait()?.[0]).toBe("nothing");
    // The same question, redelivered after the pause.
    ask(5, "c");
    expect(wait()?.[0]).toBe("nothing");
  });

  it("forgets the question that came first when there are too many, which counts", () => {
    const { ask, lifecycle, wait } = start({ openCalls: 2 });
    for (const n of [1, 2, 3]) ask(n + 4, `c${n}`, `tool ${n}`);
    expect(wait()).toEqual(["approval", "tool 2", 6]);
    expect(lifecycle.counters.adjustments.forgotten_approvals).toBe(1);
  });
});

describe("a parent of a child that waits for an approval", () => {
  it("waits for the child while that is open", () => {
    const { lifecycle, wait } = start();
    lifecycle.startCall("acme", "r", at(2), "d", "delegate");
    lifecycle.parentContext = { parentCallId: "d" };
    lifecycle.startRun("acme", "k", at(3), "expert", "r");
    const asked = { tenantId: "acme", runId: "k", at: at(4), callId: "c", name: "pay" };
    lifecycle.say({ signal: "call_asked", ...asked });
    expect([wait("k"), wait()]).toEqual([
      ["approval", "pay", 4],
      ["child", "expert", 3],
    ]);
  });

  it.each([
    ["d", "approval"],
    [undefined, "approval"],
    ["other", "tool"],
  ])("waits for an approval once the child has paused under call %s: %s", (parentCallId, kind) => {
    const { lifecycle, wait } = start();
    lifecycle.startCall("acme", "r", at(2), "d", "delegate");
    lifecycle.parentContext = { parentCallId };
    lifecycle.startRun("acme", "k", at(3), "expert", "r");
    lifecycle.endRun("acme", "k", at(5), PAUSED);
    expect(wait()?.slice(0, 2)).toEqual([kind, "delegate"]);
    lifecycle.endCall("acme", "r", at(9), "d", "delegate");
    expect(wait()?.[0]).toBe("nothing");
  });
});

describe("a parent of a child that was asked about and goes on", () => {
  const pausedChild = () => {
    const told = start();
    const { lifecycle } = told;
    lifecycle.startCall("acme", "r", at(2), "d", "delegate");
    lifecycle.parentContext = { parentCallId: "d" };
    lifecycle.startRun("acme", "k", at(3), "expert", "r");
    lifecycle.endRun("acme", "k", at(5), PAUSED);
    expect(told.wait()?.[0]).toBe("approval");
    return told;
  };

  it("waits for the child, and then for the tool", () => {
    const { lifecycle, wait } = pausedChild();
    lifecycle.parentContext = { parentCallId: "d", resumedFromRunId: "k" };
    lifecycle.startRun("acme", "k2", at(7), "expert", "r");
    expect(wait()).toEqual(["child", "expert", 7]);
    lifecycle.endRun("acme", "k2", at(8), { outcome: "complete" });
    expect(wait()?.slice(0, 2)).toEqual(["tool", "delegate"]);
  });

  it("goes on waiting for the approval while a child that continues none is open beside it", () => {
    const { lifecycle, wait } = pausedChild();
    lifecycle.startRun("acme", "other", at(7), "expert", "r");
    expect(wait()?.[0]).toBe("approval");
  });
});

describe("what a run waits for", () => {
  /** What a run of two calls and a model call may tell, one event a second. */
  const kinds = ["ask", "approve", "deny", "start", "end", "model", "answer"] as const;
  const step = fc.record({ kind: fc.constantFrom(...kinds), call: fc.constantFrom("a", "b") });
  type Step = { readonly kind: (typeof kinds)[number]; readonly call: string };

  function tell({ ask, lifecycle }: ReturnType<typeof start>, { kind, call }: Step, when: number) {
    const now = at(when);
    switch (kind) {
      case "ask":
        return ask(when, call, call);
      case "approve":
        return lifecycle.approveCall("acme", "r", now, call, call);
      case "deny":
        return lifecycle.denyCall("acme", "r", now, call, call);
      case "start":
        return lifecycle.startCall("acme", "r", now, call, call);
      case "end":
        return lifecycle.endCall("acme", "r", now, call, call);
      case "model":
        return lifecycle.startModelCall("acme", "r", now, `m${when}`);
      default:
        return lifecycle.endModelCall("acme", "r", now, `m${when}`);
    }
  }

  it("is what the last events of its calls say", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 20 }), (steps) => {
        const told = start();
        const asked = new Set<string>();
        const open: string[] = [];
        let models = 0;
        for (const [n, one] of steps.entries()) {
          tell(told, one, n + 10);
          const { kind, call } = one;
          // A start of a call that is open is a duplicate, and says nothing.
          const repeats = kind === "start" && open.includes(call);
          if (kind === "ask") asked.add(call);
          else if (kind === "model") models++;
          else if (kind !== "answer" && !repeats) asked.delete(call);
          if (kind === "start" && !repeats) open.push(call);
          if (kind === "end" && open.includes(call)) open.splice(open.indexOf(call), 1);
          const expected: WaitKind =
            asked.size > 0 ? "approval" : open[0] ? "tool" : models > 0 ? "model" : "nothing";
          expect(told.wait()?.[0]).toBe(expected);
          if (expected === "tool") expect(told.wait()?.[1]).toBe(open[0]);
        }
      }),
      { numRuns: runs(500) },
    );
  });

  /** A call that is asked about, perhaps decided, started, ended: in this order by its times. */
  const life = fc.constantFrom<readonly Step["kind"][]>(
    ["ask"],
    ["ask", "approve"],
    ["ask", "deny"],
    ["ask", "approve", "start"],
    ["ask", "start"],
    ["ask", "approve", "start", "end"],
    ["start", "end"],
    ["start"],
  );

  it("does not depend on the order in which events come, or on how often questions do", () => {
    fc.assert(
      fc.property(
        fc.array(life, { minLength: 1, maxLength: 4 }),
        fc.infiniteStream(fc.nat()),
        (lives, random) => {
          let when = 10;
          const events = lives.flatMap((kindsOf, n) =>
            kindsOf.map((kind) => ({ kind, call: `c${n}`, when: when++ })),
          );
          const pick = () => Number(random.next().value);
          // Questions come anywhere, and twice; a call's own start and end keep their order, as the
          // lifecycle itself needs it.
          const asks = events.filter(({ kind }) => kind === "ask");
          const shuffled = events.filter(({ kind }) => kind !== "ask");
          for (const ask of [...asks, ...asks]) {
            shuffled.splice(pick() % (shuffled.length + 1), 0, ask);
          }
          const [straight, mixed] = [start(), start()];
          for (const event of events) tell(straight, event, event.when);
          for (const event of shuffled) tell(mixed, event, event.when);
          const kindOf = (told: typeof mixed) => told.wait()?.slice(0, 2);
          expect(kindOf(mixed)).toEqual(kindOf(straight));
        },
      ),
      { numRuns: runs(500) },
    );
  });
});
