/** The finish reason if it is unknown. */
export const UNKNOWN_REASON = "unknown";

/** The conventions' words for the providers' words, in lower case. */
const REASONS: ReadonlyMap<string, string> = new Map([
  ["stop", "stop"],
  ["end_turn", "stop"],
  ["stop_sequence", "stop"],
  ["completed", "stop"],
  ["complete", "stop"],
  ["finish_reason_stop", "stop"],
  ["eos", "stop"],
  ["eos_token", "stop"],
  ["length", "length"],
  ["max_tokens", "length"],
  ["max_output_tokens", "length"],
  ["model_length", "length"],
  ["model_context_window_exceeded", "length"],
  ["finish_reason_max_tokens", "length"],
  ["content_filter", "content_filter"],
  ["content-filter", "content_filter"],
  ["content_filtered", "content_filter"],
  ["guardrail_intervened", "content_filter"],
  ["refusal", "content_filter"],
  ["safety", "content_filter"],
  ["recitation", "content_filter"],
  ["blocklist", "content_filter"],
  ["prohibited_content", "content_filter"],
  ["spii", "content_filter"],
  ["image_safety", "content_filter"],
  ["image_prohibited_content", "content_filter"],
  ["error_toxic", "content_filter"],
  ["tool_call", "tool_call"],
  ["tool_calls", "tool_call"],
  ["tool-calls", "tool_call"],
  ["tool_use", "tool_call"],
  ["function_call", "tool_call"],
  ["error", "error"],
  ["failed", "error"],
  ["malformed_function_call", "error"],
  ["unexpected_tool_call", "error"],
]);

/** The conventions' word for a finish reason, or the provider's own word if there is none. */
export function finishReasonOf(given: unknown): string {
  if (typeof given !== "string" || given === "") return UNKNOWN_REASON;
  return REASONS.get(given.toLowerCase()) ?? given;
}
