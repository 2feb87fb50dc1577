import { describe, expect, it } from "vitest";
import { EventIds } from "../../src/audit/event-ids.ts";
import type { Instant } from "../../src/entries/events.ts";
import type { AgentEvent } from "../../src/index.ts";

const RUN = { run_id: "018f3c7a-0000-7000-8000-000000000002", tenant_id: "acme" };
const approved = (tool_use_id: string): AgentEvent => ({
  type: "tool_call_approved",
  ...RUN,
  tool_use_id,
  tool: "t",
});

/** A tool call that is approved at a time. */
type Approval = readonly [string, Instant];

const A: Approval = ["a", [10, 1]];
const B: Approval = ["b", [10, 2]];

function idsOf(events: readonly Approval[], clocked = false) {
  const ids = new EventIds(false);
  return events.map(([call, at]) => ids.of(approved(call), at, { clocked }, false).event_id);
}

describe("the IDs of events that were sent without one", () => {
  it("are the same in whatever order the events come, equal ones among them", () => {
    const sorted = idsOf([A, A, B]);
    expect(new Set(sorted).size).toBe(3);
    expect(new Set(idsOf([A, B, A]))).toEqual(new Set(sorted));
    expect(new Set(idsOf([B, A, A]))).toEqual(new Set(sorted));
  });

  it("are the same whether the time is the sender's or this process's clock", () => {
    expect(idsOf([A, B], true)).toEqual(idsOf([A, B]));
  });

  it("are the first of their kind for an event that came before", () => {
    const ids = new EventIds(false);
    const first = ids.of(approved("a"), A[1], {}, false);
    expect(ids.of(approved("a"), A[1], {}, true)).toEqual(first);
    expect(first).toEqual({ event_id: expect.any(String), unnamed: true, is_new: false });
  });
});
