import { describe, expect, it } from "vitest";
import { call, confirm, done, lines, Reader, result, start, turnComplete } from "./reader.ts";

/** As agent-sdk 0.18 tells it: two calls ask at once, and the one that still waits asks again. */
const ASKED_AGAIN = lines(
  start(),
  call("a"),
  confirm("a"),
  call("b"),
  confirm("b"),
  result("a"),
  call("b"),
  confirm("b"),
  result("b"),
  turnComplete(),
  done,
);

describe("a call that still waits for a human when the agent resumes", () => {
  it("is one call, though it is told to start once more", () => {
    const { signals } = new Reader().read(...ASKED_AGAIN).end();
    const calls = signals.flatMap((signal) =>
      "callId" in signal ? [`${signal.signal} ${signal.callId}`] : [],
    );
    expect(calls).toEqual([
      "call_opens a",
      "call_opens b",
      "call_approved a",
      "call_closes a",
      "call_approved b",
      "call_closes b",
    ]);
  });

  it("has one row of its call, and one of each time it asked", () => {
    const reader = new Reader().read(...ASKED_AGAIN);
    expect(reader.rows.map(({ event }) => event.kind)).toEqual([
      "tool_call",
      "interrupt",
      "tool_call",
      "interrupt",
      "tool_result",
      "interrupt",
      "tool_result",
    ]);
    expect(reader.mapping.unprojected.get("tool_call_start")).toBeUndefined();
  });

  it("is another call where its id comes back after its end", () => {
    const again = lines(start(), call("a"), confirm("a"), result("a"), call("a"), result("a"));
    const { signals } = new Reader().read(...again);
    expect(signals.filter(({ signal }) => signal === "call_opens")).toHaveLength(2);
  });
});
