/** A tool call that a model asked for. */
export interface AskedCall {
  readonly toolCallId: string;
  readonly toolName: string;
  /** Content. */
  readonly input: unknown;
  readonly isProviders: boolean;
}

/** A call of the AI SDK 6 that is a run: what its spans have said, beside its state. */
export interface SpanRun {
  readonly callId: string;
  readonly operationId: string;
  /** It goes on after its code has returned. */
  readonly isStream: boolean;
  /** The tool calls that the last answer asks for. */
  asked: AskedCall[];
  /** Why the model stopped last. */
  lastReason: string | undefined;
  /** Whether the call's settings show what comes out. `undefined`: that is not known yet. */
  showsOutputs: boolean | undefined;
  /** The tools that the model was offered last, by their names. */
  tools: () => unknown;
  /** The content of the last step, where an integration gets it. */
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
