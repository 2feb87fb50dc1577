import { describe, expect, it } from "vitest";
import type { TelemetryOptions } from "../../../src/bridge/telemetry-options.ts";
import type { DecisionDetails } from "../../../src/entries/events.ts";
import { bench, RunEvents } from "../../support/run-events.ts";

const run = new RunEvents("018f3c7a-0000-7000-8000-000000000002");
const APPROVAL = "entelix.approval.";

/** What the span of a call says of the decision about it, and the run's span of the approval. */
function decided(
  decision: unknown,
  { denied = false, ...options }: TelemetryOptions & { denied?: boolean } = {},
) {
  const test = bench(options);
  // Senders in plain JavaScript are not held to the types.
  const details = { decision: decision as DecisionDetails };
  test.at(0, run.started());
  if (denied) test.at(1, run.denied("call_1", "pay", "too much"), { details });
  else {
    test.at(1, run.approved("call_1", "pay"), { details });
    test.at(2, run.toolStart("call_1", "pay"));
    test.at(3, run.toolComplete("call_1", "pay"));
  }
  test.at(4, run.complete());
  const [span] = test.spans().filter(({ name }) => name === "invoke_agent react");
  return {
    call: approvalOf(test.find("execute_tool pay").attributes),
    event: approvalOf(span?.events[0]?.attributes ?? {}),
    run: span?.attributes ?? {},
  };
}

function approvalOf(attributes: Readonly<Record<string, unknown>>) {
  const ours = Object.entries(attributes).filter(([name]) => name.startsWith(APPROVAL));
  return Object.fromEntries(ours.map(([name, value]) => [name.slice(APPROVAL.length), value]));
}

const BY_EVE = {
  outcome: "edited",
  by: "user",
  person: "eve",
  reason: "half is enough",
  wait_ms: 1200.4,
  proposed_input: { amount: 900 },
} as const;

describe("a decision about a call", () => {
  it("is on the call and on the run, without content and person", () => {
    const expected = { outcome: "edited", by: "user", wait_ms: 1200 };
    expect(decided(BY_EVE)).toMatchObject({ call: expected, event: expected });
    expect(Object.keys(decided(BY_EVE).call)).toHaveLength(3);
  });

  it("has its content where that is captured, redacted", () => {
    const redact = (value: unknown, { attribute }: { attribute: string }) =>
      attribute === "entelix.approval.reason" ? "[hidden]" : value;
    const { call, event } = decided(BY_EVE, { captureContent: true, redact });
    expect(call).toMatchObject({ reason: "[hidden]", proposed_input: '{"amount":900}' });
    expect(event).not.toHaveProperty("reason");
  });

  it("names the person only where that is wanted", () => {
    const { call, event } = decided(BY_EVE, { approvalPerson: true });
    expect([call, event]).toMatchObject([{ person: "eve" }, { person: "eve" }]);
    const denied = decided({ by: "user", person: "eve" }, { denied: true, approvalPerson: true });
    expect(denied.call).toEqual({ outcome: "denied", by: "user", person: "eve" });
  });

  it("of a denial is on its span, with the reason of the event", () => {
    const decision = { by: "policy", wait_ms: 5, reason: "of the details" };
    const { call, run: span } = decided(decision, { denied: true, captureContent: true });
    expect(call).toEqual({ outcome: "denied", by: "policy", wait_ms: 5, reason: "too much" });
    expect(span["entelix.run.denied_calls"]).toBe(1);
  });

  it("may be an answer in place of the tool: that is no denial", () => {
    const { call, run: span } = decided({ outcome: "answered", by: "user" }, { denied: true });
    expect(call).toEqual({ outcome: "answered", by: "user" });
    expect(span).not.toHaveProperty("entelix.run.denied_calls");
    expect(span["entelix.run.tool_calls"]).toBe(1);
  });

  it("that contradicts its event, or is none, counts as far as it can be read", () => {
    expect(decided({ outcome: "denied" }).call).toEqual({ outcome: "approved" });
    expect(decided({ outcome: "edited" }, { denied: true }).call).toEqual({ outcome: "denied" });
    const odd = { outcome: 3, by: "chance", person: "", reason: {}, wait_ms: -1 };
    expect(decided(odd, { approvalPerson: true }).call).toEqual({ outcome: "approved" });
    for (const none of [null, "yes", 7, undefined]) {
      expect(decided(none).call).toEqual({ outcome: "approved" });
    }
  });
});
