import type { AgentError, Instant } from "../../events/door.ts";
import type { BegunRun, Fields, ModelCall, ModelRequest, Step, ToolCall } from "../core/door.ts";
import type { ActiveRun } from "../runtime/door.ts";
import type { ProcessorEnd } from "./processors.ts";

/** A thrown value. */
export interface Thrown {
  readonly thrown: unknown;
}

/** An open model call. */
export interface OpenModel extends ModelCall {
  attempts: number;
  readonly provider: string | undefined;
  readonly generation: Generation;
  /** When its stream ended. The span ends later, after the tools of the answer. */
  ended: { readonly at: Instant; readonly ms: number } | undefined;
  error: Thrown | undefined;
  /** The last part of the stream, for usage and finish reason. */
  finish: Fields | undefined;
  responseModel: string | undefined;
  responseId: string | undefined;
  firstOutputMs: number | undefined;
}

/** An open request of an embedding model. */
export interface OpenEmbedding extends ModelCall {
  readonly provider: string | undefined;
}

/** Mastra's model loop: one or more requests. */
export interface Generation {
  readonly request: ModelRequest;
  readonly model: string | undefined;
  readonly attributes: Fields;
  /** The provider that Mastra asks now, which may be a fallback. */
  provider: string | undefined;
  /** Content: the first messages of the loop, then those of its turns. */
  readonly messages: unknown[];
  /** Whether the messages are known from the start. A resumed loop does not know the earlier ones. */
  readonly isFresh: boolean;
  /** Called when the model is asked after the last turn. */
  askedAgain: (() => void) | undefined;
  calls: number;
}

/** One turn of the loop. */
export interface ModelStep {
  readonly generation: Generation;
  /** Mastra's preview of the messages: roles and shortened texts. */
  preview: readonly unknown[] | undefined;
  /** Tool results, for the messages of the next turn. */
  readonly results: unknown[];
  model: OpenModel | undefined;
  /** Whether a request span was seen. */
  hasInference: boolean;
}

/** An open tool call. */
export interface OpenTool extends ToolCall {
  readonly spanId: string;
  readonly since: number;
  readonly modelStep: ModelStep | undefined;
  /** The error of its code, or of Mastra. */
  error: Thrown | undefined;
  /** Whether its span ended: old versions report the end of a failed call twice. Its failure may be held. */
  isOver: boolean;
}

/** An open step of a workflow. */
export interface OpenStep extends Step {
  readonly spanId: string;
  error: Thrown | undefined;
}

/** A call that waited for an approval. What the resumed run does with it shows the decision. */
interface AwaitedCall {
  readonly toolUseId: string;
  decided(approved: boolean): void;
}

/** A run of an agent or a workflow. */
export interface RunState extends BegunRun<OpenTool> {
  readonly kind: "agent" | "workflow";
  readonly spanId: string;
  readonly traceId: string;
  /** Mastra's ID of the run. */
  readonly mastraRunId: string | undefined;
  /** Key to find the paused run when it is resumed. */
  readonly pauseKey: string | undefined;
  readonly isResumed: boolean;
  readonly models: Map<string, OpenModel>;
  readonly embeddings: Map<string, OpenEmbedding>;
  readonly steps: Set<OpenStep>;
  /** The call whose decision the run resumes with, if Mastra does not show the decision. */
  awaited: AwaitedCall | undefined;
  /** Names of the tools that Mastra left to the client. It does so with a tool that does not exist, too. */
  readonly clientTools: Set<string>;
  /** IDs of its spans. */
  readonly spans: Set<string>;
  /** A failed model call whose error is known only at the run's end. */
  failedModel: OpenModel | undefined;
  /** Failures of its last calls. Only what follows says whether a stop was their cause. */
  readonly held: HeldFailure[];
  /** Whether spans show their output. */
  showsOutput: boolean;
  /** The last processor that stopped the run or failed. */
  processor: ProcessorEnd | undefined;
  /** Finish reason of the last generation. */
  finish: string | undefined;
  /** The last errors of its calls. Spans only have copies. */
  readonly errors: unknown[];
}

/** Sends the decision of a resumed run. @param started the call that starts. `undefined`: the model is asked again. */
export function sendAwaited(run: RunState, started: string | undefined): void {
  const { awaited } = run;
  if (awaited === undefined || (started !== undefined && started !== awaited.toolUseId)) return;
  run.awaited = undefined;
  awaited.decided(started !== undefined);
}

/** Sends the failure of a call. @param stop the error of a stop that caused it. */
export type HeldFailure = (stop: AgentError | undefined) => void;

/** Sends the failures that are held. @param stop the error of the stop, if one ended the run. */
export function sendHeld(run: RunState, stop?: AgentError): void {
  for (const send of run.held.splice(0)) send(stop);
}

/** The position of a span: its run, and its own or the surrounding call, step or generation. */
export interface SpanScope {
  readonly run: RunState;
  readonly tool?: OpenTool | undefined;
  readonly step?: OpenStep | undefined;
  readonly generation?: Generation | undefined;
  readonly modelStep?: ModelStep | undefined;
}

/** The run for code at a position. */
export function activeIn({ run, step, tool }: SpanScope): ActiveRun {
  return {
    ...run.active,
    toolUseId: tool?.toolUseId,
    callKey: tool?.key,
    tool: tool?.tool,
    stepId: step?.stepId,
  };
}

const MOST_ERRORS = 16;

/** Keeps an error of a call, to find the source when the run fails. */
export function keepError(run: RunState, thrown: unknown): void {
  run.errors.unshift(thrown);
  run.errors.length = Math.min(run.errors.length, MOST_ERRORS);
}
