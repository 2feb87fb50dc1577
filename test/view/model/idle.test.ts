import { describe, expect, it } from "vitest";
import { idleTimes } from "../../../src/view/model/idle.ts";
import { runModel } from "../../../src/view/model/run-model.ts";
import { at, runDetail, runSpan, toolSpan, viewSpan } from "../support/view-span.ts";

const idle = (spans: Parameters<typeof runDetail>[0], now = 1000) =>
  idleTimes(runModel(runDetail(spans)), now);

/** A call that started when it had waited for so long. */
const approved = (id: string, parent: string, from: number, to: number, wait_ms: number) =>
  toolSpan(id, parent, { from, to }, { attributes: { "entelix.approval.wait_ms": wait_ms } });

describe("the times in which a run only waits", () => {
  it("are its waits, without what went on meanwhile", () => {
    const spans = [
      runSpan("run", undefined, { from: 0, to: 1000 }),
      approved("t1", "run", 500, 600, 400),
      toolSpan("t2", "run", { from: 200, to: 300 }),
    ];
    expect(idle(spans)).toEqual([
      { from: 100, to: 200 },
      { from: 300, to: 500 },
    ]);
  });

  it("count once where two calls wait", () => {
    const spans = [
      runSpan("run", undefined, { from: 0, to: 1000 }),
      approved("t1", "run", 500, 600, 400),
      approved("t2", "run", 700, 710, 600),
    ];
    expect(idle(spans)).toEqual([
      { from: 100, to: 500 },
      { from: 600, to: 700 },
    ]);
  });

  it("are also those in which a run or call has a child that waits", () => {
    const spans = [
      runSpan("run", undefined, { from: 0, to: 1000 }),
      toolSpan("t1", "run", { from: 10, to: 900 }),
      runSpan("child", "t1", { from: 20, to: 890 }),
      approved("t2", "child", 500, 600, 400),
    ];
    expect(idle(spans)).toEqual([{ from: 100, to: 500 }]);
  });

  it("are not those in which a call goes on, also with spans inside", () => {
    const spans = [
      runSpan("run", undefined, { from: 0, to: 1000 }),
      viewSpan("node", "run", { from: 10, to: 900 }, { kind: "step" }),
      approved("t1", "node", 500, 600, 400),
      toolSpan("t2", "node", { from: 50, to: 400 }),
      viewSpan("http", "t2", { from: 60, to: 70 }, { kind: "other" }),
    ];
    expect(idle(spans)).toEqual([{ from: 400, to: 500 }]);
  });

  it("are those of a call that is asked about after its start", () => {
    const asked = { name: "entelix.approval_asked", time_ns: at(200), attributes: {} };
    const spans = [
      runSpan("run", undefined, { from: 0, to: 1000 }),
      toolSpan(
        "t1",
        "run",
        { from: 100, to: 900 },
        { attributes: { "entelix.approval.wait_ms": 500 }, events: [asked] },
      ),
    ];
    expect(idle(spans)).toEqual([{ from: 200, to: 700 }]);
  });

  it("end where an open call began", () => {
    const spans = [
      runSpan("run", undefined, { from: 0, to: 1000 }),
      approved("t1", "run", 500, 600, 400),
      { ...viewSpan("m", "run", { from: 450, to: 450 }, { kind: "model" }), end_ns: null },
    ];
    expect(idle(spans)).toEqual([{ from: 100, to: 450 }]);
  });

  it("are none where nobody was waited for", () => {
    const spans = [
      runSpan("run", undefined, { from: 0, to: 1000 }),
      toolSpan("t1", "run", { from: 500, to: 600 }),
    ];
    expect(idle(spans)).toEqual([]);
  });
});
