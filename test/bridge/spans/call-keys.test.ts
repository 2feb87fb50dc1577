import { describe, expect, it } from "vitest";
import { MemorySessionLog } from "../../../src/entries/audit.ts";
import { Bridge } from "../../../src/index.ts";
import { replayed } from "../../replay/dialects/graph/replayed.ts";
import { recordedAndReplayed, type Sent } from "../../support/recorded-and-replayed.ts";
import { bench, flat, RunEvents, second } from "../../support/run-events.ts";
import { collectSpans, type SpanNode, toTrees } from "../../support/spans.ts";

const run = new RunEvents("018f3c7a-0000-7000-8000-000000000012");
const child = new RunEvents("018f3c7a-0000-7000-8000-000000000013");
const keyed = { details: { call_key: "k2" } };
const of = (tool_use_id: string) => ({ details: { tool_use_id } });

describe("open calls of one ID, of which one has a key", () => {
  function called() {
    const test = bench({ captureContent: true });
    test.at(0, run.started());
    test.at(1, run.toolStart("x", "fetch", "first"));
    test.at(2, run.toolStart("x", "fetch", "second"), keyed);
    return test;
  }
  const inputs = (test: ReturnType<typeof bench>) =>
    flat(test.trees())
      .filter(({ span }) => span === "execute_tool fetch")
      .map(({ attributes, end }) => [attributes["gen_ai.tool.call.arguments"], end?.slice(17, 19)]);

  it("end by that key, and without one the other ends", () => {
    const test = called();
    test.at(3, run.toolComplete("x"), keyed);
    test.at(4, run.toolComplete("x"));
    test.at(5, run.complete());
    expect(inputs(test)).toEqual([
      ["first", "04"],
      ["second", "03"],
    ]);
  });

  it("end in the order of their starts as well", () => {
    const test = called();
    test.at(3, run.toolComplete("x"));
    test.at(4, run.toolComplete("x"), keyed);
    test.at(5, run.complete());
    expect(inputs(test)).toEqual([
      ["first", "03"],
      ["second", "04"],
    ]);
  });

  it("each have the calls, steps and runs of their code", () => {
    const test = called();
    test.at(3, run.toolStart("in-1", "inner"), of("x"));
    test.at(3, run.toolStart("in-2", "inner"), of("k2"));
    test.at(4, child.started("helper", run.run_id), { parent_tool_use_id: "x", ...of("k2") });
    test.at(5, child.complete());
    test.at(6, run.toolComplete("x"), keyed);
    test.at(7, run.toolComplete("x"));
    test.at(8, run.complete());
    const [first, second] = test.trees()[0]?.children ?? [];
    expect(first?.children.map(({ span }) => span)).toEqual(["execute_tool inner"]);
    expect(second?.children.map(({ span }) => span)).toEqual([
      "execute_tool inner",
      "invoke_agent helper",
    ]);
  });

  it("each have their own decision", () => {
    const test = bench({ captureContent: true });
    const by = (by: "user" | "policy", call_key?: string) => ({
      details: { ...(call_key === undefined ? {} : { call_key }), decision: { by } },
    });
    test.at(0, run.started());
    test.at(1, run.approved("x"), by("user"));
    test.at(2, run.approved("x"), by("policy", "k2"));
    test.at(3, run.toolStart("x", "fetch", "second"), keyed);
    test.at(4, run.toolStart("x", "fetch", "first"));
    test.at(5, run.complete());
    const deciders = flat(test.trees())
      .filter(({ span }) => span === "execute_tool fetch")
      .map(({ attributes }) => [
        attributes["gen_ai.tool.call.arguments"],
        attributes["entelix.approval.by"],
      ]);
    expect(deciders).toEqual([
      ["second", "policy"],
      ["first", "user"],
    ]);
  });

  it("wait for their own decisions", () => {
    const test = called();
    test.at(3, run.asked("x"), keyed);
    test.at(4, run.toolComplete("x"));
    expect(test.sink.openRuns()[0]?.waitsFor.kind).toBe("approval");
    test.at(5, run.toolComplete("x"), keyed);
    expect(test.sink.openRuns()[0]?.waitsFor.kind).not.toBe("approval");
  });

  it("come the same from a recording, with any number of calls", async () => {
    const starts = Array.from({ length: 20 }, (_, n): Sent => {
      const more = n === 0 ? {} : { details: { call_key: `k${n}` } };
      return [run.toolStart("x", "fetch", n), more];
    });
    const ends = starts.map(
      ([, more], n): Sent => [run.toolComplete("x", "fetch", 0, n), more ?? {}],
    );
    const events: Sent[] = [[run.started()], ...starts, ...ends.reverse(), [run.complete()]];
    await recordedAndReplayed(events, { captureContent: true });
  });

  it("come the same from the audit log, whose rows name the spans", async () => {
    const spans = collectSpans();
    const log = new MemorySessionLog();
    const bridge = new Bridge({ mode: "replay", tracerProvider: spans.provider, audit: log });
    const thread = { tenant_id: "acme", thread_id: "t1" };
    const events: Sent[] = [
      [run.started()],
      [run.toolStart("x", "fetch", "first")],
      [run.toolStart("x", "fetch", "second"), keyed],
      [run.toolComplete("x", "fetch", 1000, "of the second"), keyed],
      [run.toolComplete("x", "fetch", 3000, "of the first")],
      [run.complete()],
    ];
    for (const [n, [event, more]] of events.entries()) {
      await bridge.send(event, {
        timestamp: second(n),
        event_id: `e${n}`,
        thread_id: "t1",
        ...more,
      });
    }
    await bridge.shutdown();
    const lines = (await log.loadSince(thread, 0)).map(
      ({ event: _, event_text, ...attributes }) => {
        return `${JSON.stringify(attributes).slice(0, -1)},"event":${event_text}}`;
      },
    );
    const again = await replayed(lines);
    const times = (trees: readonly SpanNode[]) =>
      flat(trees)
        .filter(({ span }) => span === "execute_tool fetch")
        .map(({ end, span_id, start }) => [span_id, start, end]);
    expect(times(again.trees)).toEqual(times(toTrees(spans.spans())));
  });

  it("are found by their key for the code inside them", () => {
    const { provider } = collectSpans();
    const bridge = new Bridge({ tracerProvider: provider });
    const { run_id, tenant_id } = run;
    const within = (tool_use_id: string) =>
      bridge.runContext(tenant_id, run_id, tool_use_id)?.traceparent;
    void bridge.send(run.started());
    void bridge.send(run.toolStart("x"), {});
    const first = within("x");
    void bridge.send(run.toolStart("x"), { event_id: "e2", ...keyed });
    expect(within("x")).toBe(first);
    expect(within("k2")).not.toBe(first);
    expect(bridge.runContext(tenant_id, run_id, "k2")?.parent_tool_use_id).toBe("x");
  });
});
