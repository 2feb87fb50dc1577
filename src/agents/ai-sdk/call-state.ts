import type { Instant } from "../../events/door.ts";
import type { BegunRun, Fields, ModelCall, ToolCall } from "../core/door.ts";

/** An open model call. */
export interface OpenModel extends ModelCall {
  readonly provider: string | undefined;
  attempts: number;
  /** The error of the last attempt. */
  error?: { readonly thrown: unknown } | undefined;
  responseModel: string | undefined;
  /** The provider that a gateway says it asked. */
  routed: string | undefined;
  /** The complete answer, whose end the SDK has not reported yet. */
  answer?: Fields | undefined;
  /** When the last part of the answer arrived, if the SDK reports the end later. */
  answeredAt?: Instant | undefined;
  durationMs?: number | undefined;
}

/** An open tool call. */
export interface OpenTool extends ToolCall {
  /** Its start, for finding the source of an error. */
  readonly since: number;
  /** The error that its code threw. The SDK may hide it from telemetry. */
  error?: { readonly thrown: unknown } | undefined;
  /** Its code. The SDK reports the code's start and end by the ID of the call, which two open calls can share. */
  code: "waits" | "runs" | "ended";
}

/** One call of the AI SDK, which is a run. */
export interface CallState extends BegunRun<OpenTool> {
  readonly operationId: string;
  readonly runtimeContext: Fields;
  /** The call's tools by name. */
  tools: unknown;
  toolChoice: unknown;
  /** The SDK's major version. */
  readonly sdk: 6 | 7;
  /** Whether the SDK must hide inputs or outputs. The error texts that it shows are replaced then. */
  isHidden: boolean;
  model: OpenModel | undefined;
  /** The error of the last model call. */
  modelError: { readonly thrown: unknown } | undefined;
  /** Signals that may stop the call, as far as the SDK shows them. */
  readonly signals: Set<AbortSignal>;
  /** IDs of tool calls that this run has reported. */
  readonly reported: Set<string>;
}
