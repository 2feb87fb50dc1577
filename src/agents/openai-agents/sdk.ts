// The parts of the OpenAI Agents SDK that are read here, by their shape: nothing of it is imported.

/** A trace of the SDK: what `withTrace`, or a runner, opens. */
export interface SdkTrace {
  readonly traceId: string;
  /** The workflow's name. */
  readonly name: string;
  readonly groupId?: string | null;
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
}

/** What went wrong in a span: texts, never the error itself. */
export interface SdkSpanError {
  /** Text, unless what was thrown is no error: its `message` is handed on as it is. */
  readonly message?: unknown;
  readonly data?: Readonly<Record<string, unknown>> | undefined;
}

/** What a span is about; `type` says which other fields it has. */
export interface SdkSpanData {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** A span of the SDK. It is one object from its start to its end, and filled in meanwhile. */
export interface SdkSpan {
  readonly spanId: string;
  readonly traceId: string;
  readonly parentId: string | null;
  readonly spanData: SdkSpanData;
  readonly error: SdkSpanError | null;
  /** ISO 8601 with milliseconds. */
  readonly startedAt: string | null;
  readonly endedAt: string | null;
  /** Metadata of its trace. Not before 0.6 of the SDK. */
  readonly traceMetadata?: Readonly<Record<string, unknown>> | undefined;
  /** The span that was the current one before it. */
  readonly previousSpan?: SdkSpan | undefined;
}

/** The name that the SDK gives to a trace without one. */
export const UNNAMED_WORKFLOW = "Agent workflow";
