/** A tool call in a model's answer. */
export interface AskedCall {
  readonly toolCallId: string;
  readonly toolName: string;
  /** Content. */
  readonly input: unknown;
  readonly isProviders: boolean;
}

/** A run of the AI SDK 6: data from its spans, in addition to its `CallState`. */
export interface SpanRun {
  readonly callId: string;
  readonly operationId: string;
  /** A stream continues after its code returned. */
  readonly isStream: boolean;
  /** The tool calls of the last answer that have no span. */
  asked: AskedCall[];
  /** The last finish reason. */
  lastReason: string | undefined;
  /** Whether the call's settings show outputs. `undefined`: not known yet. */
  showsOutputs: boolean | undefined;
  /** The tools that the model was last offered, by name. */
  tools: () => unknown;
  /** The content of the last step, if an integration reported it. */
  content: unknown;
}

export function spanRun(callId: string, operationId: string): SpanRun {
  return {
    callId,
    operationId,
    isStream: operationId.startsWith("ai.stream"),
    asked: [],
    lastReason: undefined,
    showsOutputs: undefined,
    tools: () => undefined,
    content: undefined,
  };
}
