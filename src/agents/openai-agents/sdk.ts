// The parts of the OpenAI Agents SDK that this adapter reads. The SDK is not imported.

/** A trace of the SDK, from `withTrace` or a runner. */
export interface SdkTrace {
  readonly traceId: string;
  /** The workflow's name. */
  readonly name: string;
  readonly groupId?: string | null;
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
}

/** The error of a span: texts, not the error itself. */
export interface SdkSpanError {
  /** Text, or the `message` of a thrown value that is not an error. */
  readonly message?: unknown;
  readonly data?: Readonly<Record<string, unknown>> | undefined;
}

/** Data of a span. `type` determines the other fields. */
export interface SdkSpanData {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** A span of the SDK. It is the same object from start to end, and gets more data meanwhile. */
export interface SdkSpan {
  readonly spanId: string;
  readonly traceId: string;
  readonly parentId: string | null;
  readonly spanData: SdkSpanData;
  readonly error: SdkSpanError | null;
  /** ISO 8601 with milliseconds. */
  readonly startedAt: string | null;
  readonly endedAt: string | null;
  /** Metadata of its trace. From SDK 0.6. */
  readonly traceMetadata?: Readonly<Record<string, unknown>> | undefined;
  /** The span that was current before it. */
  readonly previousSpan?: SdkSpan | undefined;
}

/** The SDK's name for a trace without a name. */
export const UNNAMED_WORKFLOW = "Agent workflow";

/** A trace for the application's functions. The SDK's own object has more. */
export function shown({ groupId, metadata, name, traceId }: SdkTrace): SdkTrace {
  return { traceId, name, groupId: groupId ?? null, metadata: { ...metadata } };
}
