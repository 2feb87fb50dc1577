import {
  type InterruptionKind,
  messagesOrValue,
  outputMessages,
  property,
} from "../../events/door.ts";

// Values that are not messages are sent unchanged. The reader formats them.

/** The content of a run's input or output. `undefined`: there is none. */
export function contentOf(value: unknown, role: "user" | "assistant"): unknown {
  return value === undefined || value === null ? undefined : messagesOrValue(value, role);
}

/** The question of a pause. Calls that wait for approval have the form of a model's tool calls. */
export function questionIn(kind: InterruptionKind, payload: unknown): unknown {
  if (kind.type !== "approval_pending") return contentOf(payload, "assistant");
  const waiting = Array.isArray(payload) ? payload : [payload];
  const calls = waiting.map((call: unknown) => ({
    type: "function_call",
    callId: property(call, "tool_use_id"),
    name: property(call, "tool"),
    arguments: property(call, "input"),
  }));
  // An interruption from the agent's own code may have another payload.
  return calls.length > 0 && calls.every(({ name }) => typeof name === "string")
    ? outputMessages(calls, ["tool_call"])
    : contentOf(payload, "assistant");
}
