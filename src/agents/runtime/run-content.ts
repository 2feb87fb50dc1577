import {
  type EventDetails,
  type InterruptionKind,
  messagesOrValue,
  outputMessages,
  property,
} from "../../events/door.ts";

// What is no message is sent as it is: writing its JSON is the business of whoever shows it.

/** The details of a `started`, with what the run was asked, where it has an input. */
export function askedIn(input: unknown, further?: EventDetails): EventDetails | undefined {
  if (input === undefined || input === null) return further;
  return { ...further, input: messagesOrValue(input, "user") };
}

/** The details of a run's end, with what it answered, or what it asks where it paused. */
export function answerIn(output: unknown, further?: EventDetails): EventDetails | undefined {
  if (output === undefined || output === null) return further;
  return { ...further, output: messagesOrValue(output, "assistant") };
}

/** The details of a pause, with what the run asks: calls that wait for approval as a model asks for them. */
export function questionIn(kind: InterruptionKind, payload: unknown): EventDetails | undefined {
  if (kind.type !== "approval_pending") return answerIn(payload);
  const waiting = Array.isArray(payload) ? payload : [payload];
  const calls = waiting.map((call: unknown) => ({
    type: "function_call",
    callId: property(call, "tool_use_id"),
    name: property(call, "tool"),
    arguments: property(call, "input"),
  }));
  // An interruption that the agent's own code made may have another payload.
  return calls.length > 0 && calls.every(({ name }) => typeof name === "string")
    ? { output: outputMessages(calls, ["tool_call"]) }
    : answerIn(payload);
}
