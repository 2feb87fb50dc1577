import { describe, expect, it } from "vitest";
import type { ViewSpan } from "../../../src/view/format.ts";
import { spanTree } from "../../../src/view/model/span-tree.ts";
import { waitsOf } from "../../../src/view/model/waits.ts";
import { at, runSpan, toolSpan } from "../support/view-span.ts";

function waits(spans: readonly ViewSpan[]) {
  const found = waitsOf(spanTree(spans));
  return Object.fromEntries([...found].map(([{ id }, own]) => [id, own]));
}

const approval = (ms: number, callId: string) => ({
  name: "entelix.approval",
  time_ns: at(ms),
  attributes: { "gen_ai.tool.name": "search", "gen_ai.tool.call.id": callId },
});
const waited = (wait_ms: number, callId = "c1") => ({
  attributes: {
    "gen_ai.tool.name": "search",
    "gen_ai.tool.call.id": callId,
    "entelix.approval.wait_ms": wait_ms,
  },
});

describe("the waits for people", () => {
  it("of an approved call end at its approval, before its span", () => {
    const events = [approval(60, "c1"), approval(70, "c2"), approval(500, "c1")];
    expect(
      waits([
        runSpan("run", undefined, { from: 0, to: 600 }, { events }),
        toolSpan("call", "run", { from: 62, to: 80 }, waited(50)),
      ]),
    ).toEqual({ call: [{ kind: "approval", start: 10, end: 60 }] });
  });

  it("end at the start of the call where no event names the time", () => {
    expect(
      waits([
        runSpan("run", undefined, { from: 0, to: 600 }),
        toolSpan("call", "run", { from: 62, to: 80 }, waited(50)),
      ]),
    ).toEqual({ call: [{ kind: "approval", start: 12, end: 62 }] });
  });

  it("are those for people, not for a rule", () => {
    const { attributes } = waited(50);
    const byRule = { attributes: { ...attributes, "entelix.approval.by": "policy" } };
    expect(
      waits([
        runSpan("run", undefined, { from: 0, to: 600 }),
        toolSpan("call", "run", { from: 62, to: 80 }, byRule),
      ]),
    ).toEqual({});
  });

  it("lie within the span of a call that asked after its start", () => {
    const events = [{ name: "entelix.approval_asked", time_ns: at(20), attributes: {} }];
    expect(
      waits([
        runSpan("run", undefined, { from: 0, to: 600 }),
        toolSpan("call", "run", { from: 10, to: 100 }, { ...waited(50), events }),
      ]),
    ).toEqual({ call: [{ kind: "approval", start: 20, end: 70 }] });
  });

  it("of a denied call end with it", () => {
    const { attributes } = waited(30);
    const denied = { attributes: { ...attributes, "entelix.approval.outcome": "denied" } };
    expect(
      waits([
        runSpan("run", undefined, { from: 0, to: 600 }),
        toolSpan("call", "run", { from: 40, to: 50 }, denied),
      ]),
    ).toEqual({ call: [{ kind: "approval", start: 20, end: 50 }] });
  });

  it("lie before a run that began when the person had decided", () => {
    expect(
      waits([
        runSpan("before", undefined, { from: 0, to: 10 }),
        runSpan("run", undefined, { from: 500, to: 600 }, { run_id: "resumed" }),
        toolSpan("call", "run", { from: 510, to: 520 }, waited(9000)),
      ]),
    ).toEqual({ call: [{ kind: "approval", start: -8500, end: 500 }] });
  });

  it("lie between the segments of a run that paused, not after a loss", () => {
    const outcome = (word: string) => ({ attributes: { "entelix.run.outcome": word } });
    expect(
      waits([
        runSpan("one", undefined, { from: 0, to: 10 }, outcome("interrupted")),
        runSpan("two", undefined, { from: 100, to: 120 }, outcome("abandoned")),
        runSpan("three", undefined, { from: 300, to: 310 }, outcome("complete")),
      ]),
    ).toEqual({ two: [{ kind: "pause", start: 10, end: 100 }] });
  });

  it("began before a segment where the run was given up meanwhile", () => {
    const outcome = (word: string) => ({ attributes: { "entelix.run.outcome": word } });
    const waitsAfter = (word: string) =>
      waits([
        runSpan("one", undefined, { from: 0, to: 10 }, outcome(word)),
        runSpan("two", undefined, { from: 300, to: 310 }),
        toolSpan("call", "two", { from: 302, to: 305 }, waited(297)),
      ]);
    expect(waitsAfter("abandoned")).toEqual({ call: [{ kind: "approval", start: 10, end: 302 }] });
    // The wait of the call is that pause.
    expect(waitsAfter("interrupted")).toEqual({ two: [{ kind: "pause", start: 10, end: 300 }] });
  });
});
