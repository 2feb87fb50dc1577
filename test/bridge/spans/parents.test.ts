import { describe, expect, it } from "vitest";
import { RunIds } from "../../../src/entries/context.ts";
import { bench, RunEvents } from "../../support/run-events.ts";

const TOP = "018f3c7a-0000-7000-8000-000000000001";
const CHILD = "018f3c7a-0000-7000-8000-000000000002";
const LEAF = "018f3c7a-0000-7000-8000-000000000003";
const top = new RunEvents(TOP);
const child = new RunEvents(CHILD);
const leaf = new RunEvents(LEAF);
const topCall = (id: string, occurrence = 1) =>
  RunIds.fromUuid(TOP)?.childSpanId("t", id, occurrence);
const TRACE = TOP.replaceAll("-", "");

describe("a child run", () => {
  it("sits under the only tool call that is open in its parent, and says that this is inferred", () => {
    const test = bench();
    test.at(0, top.started("top"));
    test.at(1, top.toolStart("call_1"));
    test.at(2, child.started("child", TOP));
    test.at(3, child.complete());
    expect(test.find("invoke_agent child")).toMatchObject({
      trace: TRACE,
      parent: topCall("call_1"),
      attributes: { "entelix.parent_run_id": TOP, "entelix.parent.inferred": true },
    });
  });

  it("sits under the run when no call is open, or two are", () => {
    const test = bench();
    test.at(0, top.started("top"));
    test.at(1, child.started("none", TOP));
    test.at(2, top.toolStart("call_1"));
    test.at(2, top.toolStart("call_2"));
    test.at(3, leaf.started("two", TOP));
    test.at(4, leaf.complete());
    test.at(4, child.complete());
    for (const name of ["invoke_agent none", "invoke_agent two"]) {
      expect(test.find(name).parent).toBe("8000000000000001");
      expect(test.find(name).attributes).not.toHaveProperty("entelix.parent.inferred");
    }
  });

  it("sits under the call that its envelope names, open or ended", () => {
    const test = bench();
    test.at(0, top.started("top"));
    test.at(1, top.toolStart("call_1"));
    test.at(1, top.toolStart("call_2"));
    test.at(2, child.started("child", TOP), { parent_tool_use_id: "call_2" });
    test.at(3, top.toolComplete("call_1"));
    test.at(4, leaf.started("leaf", TOP), { parent_tool_use_id: "call_1" });
    test.at(5, leaf.complete());
    test.at(5, child.complete());
    expect(test.find("invoke_agent child").parent).toBe(topCall("call_2"));
    expect(test.find("invoke_agent leaf").parent).toBe(topCall("call_1"));
    expect(test.find("invoke_agent leaf").attributes).not.toHaveProperty("entelix.parent.inferred");
  });

  it.each([
    ["its envelope", { parent_tool_use_id: null }],
    ["the traceparent", { traceparent: `00-${TRACE}-8000000000000001-01` }],
  ])("sits under the run where %s says so, though one call is open", (_, envelope) => {
    const test = bench();
    test.at(0, top.started("top"));
    test.at(1, top.toolStart("call_1"));
    test.at(2, child.started("child", TOP), envelope);
    test.at(3, child.complete());
    const { parent, attributes } = test.find("invoke_agent child");
    expect(parent).toBe("8000000000000001");
    expect(attributes).not.toHaveProperty("entelix.parent.inferred");
  });

  it("whose parent was never seen sits under that where its envelope says that no call started it", () => {
    const test = bench();
    const envelope = { root_run_id: TOP, parent_tool_use_id: null };
    test.at(2, child.started("child", TOP), envelope);
    test.at(3, child.complete());
    expect(test.find("invoke_agent child")).toMatchObject({
      trace: TRACE,
      parent: "8000000000000001",
    });
  });

  it("sits under the newest call of that id, where it repeats", () => {
    const test = bench();
    test.at(0, top.started("top"));
    for (let turn = 0; turn < 2; turn++) {
      test.at(1 + turn, top.toolStart("search#0"));
      test.at(1.5 + turn, top.toolComplete("search#0"));
    }
    test.at(4, child.started("child", TOP), { parent_tool_use_id: "search#0" });
    test.at(5, child.complete());
    expect(test.find("invoke_agent child").parent).toBe(topCall("search#0", 2));
  });

  it("sits under a named call whose start is late or lost, not under one that happens to be open", () => {
    const test = bench();
    test.at(0, top.started("top"));
    test.at(1, top.toolStart("call_1"));
    test.at(3, child.started("child", TOP), { parent_tool_use_id: "call_2" });
    test.at(2, top.toolStart("call_2"));
    test.at(4, child.complete());
    test.at(5, top.toolComplete("call_2"));
    expect(test.find("invoke_agent child").parent).toBe(topCall("call_2"));
    expect(test.find("invoke_agent child").attributes).not.toHaveProperty(
      "entelix.parent.inferred",
    );
  });

  it("that starts after its parent's end sits under the ended parent, in its trace", () => {
    const test = bench();
    test.at(0, top.started("top"));
    test.at(1, top.toolStart("call_1"));
    test.at(2, top.complete());
    test.at(3, child.started("child", TOP));
    test.at(4, leaf.started("leaf", CHILD), { parent_tool_use_id: "call_9" });
    test.at(5, leaf.complete());
    test.at(6, child.complete());
    expect(test.find("invoke_agent child")).toMatchObject({
      trace: TRACE,
      parent: "8000000000000001",
      end: "2026-04-29T12:00:06Z",
    });
    expect(test.find("invoke_agent leaf").trace).toBe(TRACE);
  });

  it("that ends after its parent keeps its own end", () => {
    const test = bench();
    test.at(0, top.started("top"));
    test.at(1, child.started("child", TOP));
    test.at(2, top.complete());
    test.at(9, child.failed());
    expect(test.find("invoke_agent child")).toMatchObject({
      end: "2026-04-29T12:00:09Z",
      status: "error",
    });
    expect(test.find("invoke_agent top").end).toBe("2026-04-29T12:00:02Z");
  });

  it("of a segment after the first sits under that segment", () => {
    const test = bench();
    test.at(0, top.started("top"));
    test.at(1, top.interrupted());
    test.at(2, top.started("top"));
    test.at(3, child.started("child", TOP));
    test.at(4, child.complete());
    test.at(5, top.complete());
    expect(test.find("invoke_agent child").parent).toBe(
      RunIds.fromUuid(TOP)?.childSpanId("s", "2"),
    );
  });
});

describe("a parent run that was never seen", () => {
  it("gives the ids of a root, marked as missing; the run counts as a root", () => {
    const test = bench();
    test.at(0, child.started("child", TOP));
    test.at(1, child.complete());
    expect(test.find("invoke_agent child")).toMatchObject({
      trace: TRACE,
      parent: "8000000000000001",
      attributes: { "entelix.parent_run_id": TOP, "entelix.parent.missing": true },
    });
    expect(test.diagnostics().adjustments.missing_parents).toBe(1);
  });

  it("gives, with the root's run id, its span in the root's trace", () => {
    const test = bench();
    test.at(0, leaf.started("leaf", CHILD), { root_run_id: TOP });
    test.at(1, leaf.complete());
    expect(test.find("invoke_agent leaf")).toMatchObject({
      trace: TRACE,
      parent: "8000000000000002",
      attributes: { "entelix.parent_run_id": CHILD },
    });
    expect(test.find("invoke_agent leaf").attributes).not.toHaveProperty("entelix.parent.missing");
    expect(test.diagnostics().adjustments.missing_parents).toBe(0);
  });

  it("gives the span of its call, where the envelope names that", () => {
    const test = bench();
    test.at(0, child.started("child", TOP), { root_run_id: TOP, parent_tool_use_id: "call_1" });
    test.at(1, child.complete());
    expect(test.find("invoke_agent child").parent).toBe(topCall("call_1"));
  });

  it("that is no UUID is hashed with the tenant", () => {
    const test = bench();
    test.at(0, child.started("child", "r1"));
    test.at(1, child.complete());
    expect(test.find("invoke_agent child")).toMatchObject({
      trace: "6dbcf892fc24da1baefbc0f8eacc3072",
      parent: "aefbc0f8eacc3072",
    });
  });

  it("agrees with the parent when that comes after all", () => {
    const test = bench();
    test.at(1, child.started("child", TOP));
    test.at(0, top.started("top"));
    test.at(2, child.complete());
    test.at(3, top.complete());
    expect(test.trees()).toMatchObject([{ span: "invoke_agent top", children: [{ run: CHILD }] }]);
  });

  it("agrees with the root's true trace, where that came from outside", () => {
    const test = bench();
    const outside = "00-11112222333344445555666677778888-aaaabbbbccccdddd-01";
    test.at(0, top.started("top"), { traceparent: outside });
    test.at(1, leaf.started("leaf", CHILD), { root_run_id: TOP });
    test.at(2, leaf.complete());
    test.at(3, top.complete());
    expect(test.find("invoke_agent leaf").trace).toBe("11112222333344445555666677778888");
  });
});

describe("the root's run id in an envelope", () => {
  it("that is the run's own, in whatever case, changes nothing", () => {
    for (const root_run_id of [TOP, TOP.toUpperCase()]) {
      const test = bench();
      test.at(0, top.started("top"), { root_run_id });
      test.at(1, top.complete());
      expect(test.find("invoke_agent top")).toMatchObject({ trace: TRACE, parent: undefined });
    }
  });

  it("places a run that says nothing of its parent under the root", () => {
    const test = bench();
    test.at(0, top.started("top"));
    test.at(1, child.toolStart("call_1"), { root_run_id: TOP });
    test.at(2, child.complete());
    test.at(3, top.complete());
    expect(test.find("invoke_agent").parent).toBe("8000000000000001");
    expect(test.find("invoke_agent").trace).toBe(TRACE);
  });

  it("keeps the tree of a run with an unknown parent alive", () => {
    const test = bench({ limits: { maxAgeMs: 10_000 } });
    test.at(0, top.started("top"));
    test.at(1, leaf.started("leaf", CHILD), { root_run_id: TOP });
    for (let n = 1; n < 6; n++) test.at(n * 8, leaf.toolStart(`call_${n}`));
    expect(test.diagnostics().openRuns).toBe(2);
  });
});

describe("parents in a circle", () => {
  it("of one: a run that names itself is a root", () => {
    const test = bench();
    test.at(0, top.started("top", TOP.toUpperCase()));
    test.at(1, top.complete());
    const span = test.find("invoke_agent top");
    expect([span.trace, span.parent]).toEqual([TRACE, undefined]);
    expect(span.attributes).not.toHaveProperty("entelix.parent_run_id");
  });

  it("of two or three: the run that comes last is the top, linked to the parent it named", () => {
    for (const last of [child, leaf]) {
      const test = bench();
      test.at(0, child.started("second", TOP));
      if (last === leaf) test.at(1, leaf.started("third", CHILD));
      test.at(2, top.started("top", last.run_id));
      for (const run of [top, child, leaf]) test.at(3, run.complete());
      const span = test.find("invoke_agent top");
      expect([span.trace, span.parent]).toEqual([TRACE, undefined]);
      expect(span.linkKinds).toEqual(["late_parent"]);
      expect(span.attributes["entelix.parent_run_id"]).toBe(last.run_id);
      expect(test.find("invoke_agent second").parent).toBe("8000000000000001");
    }
  });
});

describe("roots in a circle", () => {
  it("leave the run that comes last as the root of its trace", () => {
    const test = bench();
    test.at(0, child.toolStart("call_1"), { root_run_id: TOP });
    test.at(1, top.toolStart("call_1"), { root_run_id: CHILD });
    for (const run of [top, child]) test.at(2, run.complete());
    const [root, ...more] = test.trees();
    expect(more).toEqual([]);
    expect(root).toMatchObject({ run: TOP, trace: TRACE, parent: undefined });
    expect(root?.children.map((node) => node.run)).toContain(CHILD);
  });
});

describe("a traceparent", () => {
  const outside = "00-11112222333344445555666677778888-aaaabbbbccccdddd-01";

  it("is the parent of a root run, which joins that trace", () => {
    const test = bench();
    test.at(0, top.started("top"), { traceparent: outside, tracestate: "vendor=1" });
    test.at(1, top.toolStart("call_1"));
    test.at(2, child.started("child", TOP));
    test.at(3, child.complete());
    test.at(4, top.complete());
    expect(test.find("invoke_agent top")).toMatchObject({
      trace: "11112222333344445555666677778888",
      parent: "aaaabbbbccccdddd",
      span_id: "8000000000000001",
    });
    expect(test.find("execute_tool fetch").span_id).toBe(topCall("call_1"));
    expect(test.find("invoke_agent child").trace).toBe("11112222333344445555666677778888");
    expect(test.spans()[0]?.parentSpanContext?.isRemote ?? false).toBe(false);
    const [root] = test.spans().filter((span) => span.name === "invoke_agent top");
    expect(root?.parentSpanContext?.traceState?.serialize()).toBe("vendor=1");
  });

  it("vouches for a parent that was never seen", () => {
    const test = bench();
    test.at(0, child.started("child", TOP), { traceparent: outside });
    test.at(1, child.complete());
    const span = test.find("invoke_agent child");
    expect([span.trace, span.parent]).toEqual([
      "11112222333344445555666677778888",
      "aaaabbbbccccdddd",
    ]);
    expect(span.attributes).not.toHaveProperty("entelix.parent.missing");
  });

  it("counts less than a parent run that is known", () => {
    const test = bench();
    test.at(0, top.started("top"));
    test.at(1, child.started("child", TOP), { traceparent: outside });
    test.at(2, child.complete());
    expect(test.find("invoke_agent child").trace).toBe(TRACE);
  });

  it.each([
    "",
    "garbage",
    "00-00000000000000000000000000000000-aaaabbbbccccdddd-01",
    "00-11112222333344445555666677778888-0000000000000000-01",
    "ff-11112222333344445555666677778888-aaaabbbbccccdddd-01",
    "00-11112222333344445555666677778888-aaaabbbbccccdddd-01-more",
    "00-1111222233334444555566667777888G-aaaabbbbccccdddd-01",
  ])("that is malformed is none: %s", (traceparent) => {
    const test = bench();
    test.at(0, top.started("top"), { traceparent });
    test.at(1, top.complete());
    expect(test.find("invoke_agent top")).toMatchObject({ trace: TRACE, parent: undefined });
  });

  it("of a later version may have more behind its flags", () => {
    const test = bench();
    const traceparent = "01-11112222333344445555666677778888-aaaabbbbccccdddd-01-more";
    test.at(0, top.started("top"), { traceparent });
    test.at(1, top.complete());
    expect(test.find("invoke_agent top").trace).toBe("11112222333344445555666677778888");
  });

  it.each([TRACE, "11112222333344445555666677778888"])(
    "that names the run's own span is none, in whatever trace (%s)",
    (trace) => {
      const test = bench();
      test.at(0, top.started("top"), { traceparent: `00-${trace}-8000000000000001-01` });
      test.at(1, top.complete());
      expect(test.find("invoke_agent top")).toMatchObject({ trace: TRACE, parent: undefined });
    },
  );
});

describe("the operator's resolver", () => {
  const given = {
    traceId: "11112222333344445555666677778888",
    spanId: "aaaabbbbccccdddd",
    traceFlags: 1,
  };

  it("is asked for roots and for unknown parents, not for known ones, nor beside a traceparent", () => {
    const asked: string[] = [];
    const test = bench({
      resolveParent: (event) => {
        asked.push(event.run_id);
        return given;
      },
    });
    test.at(0, top.started("top"));
    test.at(1, child.started("child", TOP));
    test.at(2, leaf.started("leaf", "unknown"));
    const fourth = new RunEvents("018f3c7a-0000-7000-8000-000000000004");
    test.at(3, fourth.started("fourth"), {
      traceparent: "00-99992222333344445555666677778888-aaaabbbbccccdddd-01",
    });
    for (const run of [top, child, leaf, fourth]) test.at(4, run.complete());
    expect(asked).toEqual([TOP, LEAF]);
    expect(test.find("invoke_agent top")).toMatchObject({
      trace: given.traceId,
      parent: given.spanId,
    });
    expect(test.find("invoke_agent leaf")).toMatchObject({
      trace: given.traceId,
      parent: given.spanId,
    });
    expect(test.find("invoke_agent child").parent).toBe("8000000000000001");
    expect(test.find("invoke_agent fourth").trace).toBe("99992222333344445555666677778888");
  });

  it.each([
    [
      "throws",
      () => {
        throw new Error("no");
      },
      1,
    ],
    ["gives nothing", () => undefined, 0],
    ["gives an invalid context", () => ({ traceId: "x", spanId: "y", traceFlags: 1 }), 0],
  ])("that %s leaves the run to the rules", (_name, resolveParent, failures) => {
    const test = bench({ resolveParent });
    test.at(0, top.started("top"));
    test.at(1, top.complete());
    expect(test.find("invoke_agent top")).toMatchObject({ trace: TRACE, parent: undefined });
    expect(test.diagnostics().hookFailures).toBe(failures);
    expect(test.reports).toHaveLength(failures);
  });
});
