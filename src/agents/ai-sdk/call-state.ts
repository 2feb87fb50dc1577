import type { Instant } from "../../events/door.ts";
import type { BegunRun, Fields, ModelCall, ToolCall } from "../core/door.ts";
import type { ApprovalRequest } from "./approvals.ts";

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

/** An open model call of `embed` or `embedMany`. */
export interface OpenEmbedding extends OpenModel {
  /** The SDK's ID of the last attempt. */
  id: string;
  /** Content: the texts. Their list identifies the chunk of `embedMany`. */
  readonly values: readonly unknown[] | undefined;
}

/** An open tool call. */
export interface OpenTool extends ToolCall {
  /** Its start, for finding the source of an error. */
  readonly since: number;
  /** The error that its code threw. The SDK may hide it from telemetry. */
  error?: { readonly thrown: unknown } | undefined;
  /**
   * Its code. The SDK reports the code's start and end by the ID of the call, which two open calls can share. `failed`: its
   * end is held.
   */
  code: "waits" | "runs" | "ended" | "failed";
  /** Whether the SDK's ID is empty. The call has an ID of our own then. */
  readonly hasOwnId: boolean;
}

/** One call of the AI SDK: a run, or a part of the run around it. */
export interface CallState extends BegunRun<OpenTool> {
  readonly operationId: string;
  readonly runtimeContext: Fields;
  /** The call's tools by name. */
  tools: unknown;
  /** Names of the tools that the model was last offered. `undefined`: not known. */
  offered: ReadonlySet<unknown> | undefined;
  /** Calls that the messages of this call approve, until its first request. */
  approved: readonly ApprovalRequest[];
  toolChoice: unknown;
  /** The SDK's major version. */
  readonly sdk: 6 | 7;
  /** Whether the SDK must hide inputs or outputs. The error texts that it shows are replaced then. */
  isHidden: boolean;
  model: OpenModel | undefined;
  /** The end of the last answer. */
  lastReason: string | undefined;
  /** The error of the last model call. */
  modelError: { readonly thrown: unknown } | undefined;
  /** What the tools of the current step threw. */
  readonly toolErrors: Set<unknown>;
  /** Sends failures of tools that are held. `stop` has the value that stopped the call, if it was stopped. */
  readonly held: ((stop: { readonly thrown: unknown } | undefined) => void)[];
  /** Signals that may stop the call, as far as the SDK shows them. */
  readonly signals: Set<AbortSignal>;
  /** Open calls of embedding models, by the SDK's ID of the last attempt. */
  readonly embeddings: Map<string, OpenEmbedding>;
  /** Whether it is a part of the run around it, which is then {@link active}, and has no events of its own. */
  readonly isPart: boolean;
  /** Tells the run around it that the part has ended. */
  leave: (() => void) | undefined;
  /** Tools and IDs of tool calls that this run has reported. */
  readonly reported: Set<string>;
}
