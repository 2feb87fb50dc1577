import type { Instant } from "../../events/door.ts";
import type { ModelRequest } from "../core/model-request.ts";
import type { Fields } from "../core/narrow.ts";
import type { ModelCall, Step, ToolCall } from "../core/run-parts.ts";
import type { RunWriter } from "../core/run-writer.ts";
import type { UsageTotals } from "../core/usage-totals.ts";
import type { ActiveRun } from "../runtime/active-run.ts";

/** What was thrown. */
export interface Thrown {
  readonly thrown: unknown;
}

/** A model call that is open. */
export interface OpenModel extends ModelCall {
  attempts: number;
  readonly provider: string | undefined;
  /** When its stream ended. The span stays open until the tools of the answer are through. */
  ended: { readonly at: Instant; readonly ms: number } | undefined;
  error: Thrown | undefined;
  /** The stream's last part, as far as it is needed: usage and finish reason. */
  finish: Fields | undefined;
  responseModel: string | undefined;
  responseId: string | undefined;
  firstOutputMs: number | undefined;
}

/** A call of Mastra's loop, which asks the model once or several times. */
export interface Generation {
  readonly request: ModelRequest;
  readonly model: string | undefined;
  readonly attributes: Fields;
  /** Content: the messages that it began with, and those that came of it. */
  readonly messages: unknown[];
  /** A resumed one does not know the messages before. */
  readonly isFresh: boolean;
  calls: number;
}

/** A turn of that loop. */
export interface ModelStep {
  readonly generation: Generation;
  /** What Mastra shows of the messages: roles and shortened texts. */
  preview: readonly unknown[] | undefined;
  /** Results of tools, for the next turn's messages. */
  readonly results: unknown[];
  model: OpenModel | undefined;
  /** A span of a request was seen. */
  hasInference: boolean;
}

/** A tool call that is open. */
export interface OpenTool extends ToolCall {
  readonly since: number;
  readonly modelStep: ModelStep | undefined;
  /** What its code threw, or Mastra says. */
  error: Thrown | undefined;
}

/** A step of a workflow that is open. */
export interface OpenStep extends Step {
  error: Thrown | undefined;
}

/** A run of an agent or of a workflow. */
export interface RunState {
  readonly kind: "agent" | "workflow";
  readonly spanId: string;
  readonly traceId: string;
  readonly writer: RunWriter;
  /** What its code finds as the current run. */
  readonly active: ActiveRun;
  /** No run is around it. */
  readonly isRoot: boolean;
  readonly totals: UsageTotals;
  /** Its start, among what errors come out of. */
  readonly since: number;
  /** Mastra's ID of it. */
  readonly mastraRunId: string | undefined;
  /** What finds it when it resumes. */
  readonly pauseKey: string | undefined;
  readonly isResumed: boolean;
  readonly models: Map<string, OpenModel>;
  readonly tools: Map<string, OpenTool>;
  readonly steps: Map<string, OpenStep>;
  /** Its spans. */
  readonly spans: Set<string>;
  /** A model call whose error is known only at the run's end. */
  failedModel: OpenModel | undefined;
  /** How the last generation ended. */
  finish: string | undefined;
  /** What its calls threw last: spans have copies only. */
  readonly errors: unknown[];
}

/** Where in a run a span is. */
export interface Place {
  readonly run: RunState;
  readonly toolUseId?: string | undefined;
  readonly stepId?: string | undefined;
  readonly generation?: Generation | undefined;
  readonly modelStep?: ModelStep | undefined;
}

const MOST_ERRORS = 16;

/** Keeps what a call of the run threw, for the run's own end. */
export function keepError(run: RunState, thrown: unknown): void {
  run.errors.unshift(thrown);
  run.errors.length = Math.min(run.errors.length, MOST_ERRORS);
}
