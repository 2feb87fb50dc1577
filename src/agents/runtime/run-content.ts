import {
  type EventDetails,
  type InterruptionKind,
  messagesOrValue,
  outputMessages,
  property,
} from "../../events/door.ts";

// Values that are not messages are sent unchanged. The reader formats them.

/** Adds the run's input to the details of `started`. */
export function askedIn(input: unknown, further?: EventDetails): EventDetails | undefined {
  if (input === undefined || input === null) return further;
  return { ...further, input: messagesOrValue(input, "user") };
}

/** Adds the run's output, or the question of its pause, to the details of its end. */
export function answerIn(output: unknown, further?: EventDetails): EventDetails | undefined {
  if (output === undefined || output === null) return further;
  return { ...further, output: messagesOrValue(output, "assistant") };
}

/**
 * The details of a pause, with the run's question. Calls that wait for approval have the form of a model's tool
 * calls.
 */
export function questionIn(kind: InterruptionKind, payload: unknown): EventDetails | undefined {
  if (kind.type !== "approval_pending") return answerIn(payload);
  const waiting = Array.isArray(payload) ? payload : [payload];
  const calls = waiting.map((call: unknown) => ({
    type: "function_call",
    callId: property(call, "tool_use_id"),
    name: property(call, "tool"),
    arguments: property(call, "input"),
  }));
  // An interruption from the agent's own code may have another payload.
  return calls.length > 0 && calls.every(({ name }) => typeof name === "string")
    ? { output: outputMessages(calls, ["tool_call"]) }
    : answerIn(payload);
}
