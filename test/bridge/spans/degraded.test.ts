import { describe, expect, it } from "vitest";
import { Bridge } from "../../../src/bridge/bridge.ts";
import { isOwnGraphEvent, MemorySessionLog } from "../../../src/entries/audit.ts";
import type { AgentEvent } from "../../../src/index.ts";
import { RunEvents, second } from "../../support/run-events.ts";
import { collectSpans, toTrees } from "../../support/spans.ts";

const run = new RunEvents("018f3c7a-0000-7000-8000-000000000001");
const CHILD = "018f3c7a-0000-7000-8000-000000000002";

/** What span and end row of the run say, after these events, one a second. */
async function degraded(...events: readonly AgentEvent[]) {
  const log = new MemorySessionLog();
  const { provider, spans } = collectSpans();
  const bridge = new Bridge({ mode: "replay", audit: log, tracerProvider: provider });
  for (const [n, event] of [run.started(), ...events].entries()) {
    void bridge.send(event, { timestamp: second(n), thread_id: "th" });
  }
  await bridge.shutdown();
  const rows = await log.loadSince({ tenant_id: "acme", thread_id: "th" }, 0);
  const ends = rows.flatMap(({ event, run_id }) =>
    run_id === run.run_id && isOwnGraphEvent(event) && event.kind === "entelix.run_ended"
      ? [event.degraded]
      : [],
  );
  const node = toTrees(spans())[0];
  return {
    span: node?.attributes["entelix.run.degraded"],
    row: ends.at(-1),
    status: node?.status,
    outcome: node?.attributes["entelix.run.outcome"],
  };
}

const calls = (...ids: readonly string[]) => ids.map((id) => run.toolStart(id));

describe("a run that completes", () => {
  it("is degraded by a tool whose last call failed, and no failure", async () => {
    const said = await degraded(
      ...calls("c1"),
      run.toolComplete("c1"),
      ...calls("c2"),
      run.toolError("c2"),
      run.toolStart("p1", "pay"),
      run.toolError("p1", { tool: "pay" }),
      run.complete(),
    );
    expect(said).toEqual({
      span: ["fetch", "pay"],
      row: ["fetch", "pay"],
      status: "unset",
      outcome: "complete",
    });
  });

  it.each<[string, readonly AgentEvent[]]>([
    [
      "a retry that succeeded",
      [...calls("c1"), run.toolError("c1"), ...calls("c2"), run.toolComplete("c2")],
    ],
    ["a denial", [run.denied("c1")]],
    ["a cancelled call", [...calls("c1"), run.toolCancelled("c1")]],
    ["an interrupted call", [...calls("c1"), run.toolInterrupted("c1")]],
    ["a call that is still open", calls("c1")],
    ["nothing at all", []],
  ])("is not degraded by %s", async (_, events) => {
    expect(await degraded(...events, run.complete())).toMatchObject({
      span: undefined,
      row: undefined,
    });
  });

  it("is not by the calls of its children", async () => {
    const child = new RunEvents(CHILD);
    const said = await degraded(
      ...calls("c1"),
      child.started("expert", run.run_id),
      child.toolStart("x1"),
      child.toolError("x1"),
      child.complete(),
      run.toolComplete("c1"),
      run.complete(),
    );
    expect(said.span).toBeUndefined();
  });

  it("is not by calls before its pause, of which another process knows nothing", async () => {
    const said = await degraded(
      ...calls("c1"),
      run.toolError("c1"),
      run.interrupted(),
      run.started(),
      run.complete(),
    );
    expect(said).toMatchObject({ row: undefined, outcome: "interrupted" });
  });
});

describe("a run that does not complete", () => {
  it.each([["failed", run.failed()] as const, ["interrupted", run.interrupted()] as const])(
    "is not degraded: %s",
    async (outcome, end) => {
      const said = await degraded(...calls("c1"), run.toolError("c1"), end);
      expect(said).toMatchObject({ span: undefined, row: undefined, outcome });
    },
  );
});
