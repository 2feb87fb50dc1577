import { checkFunction, checkWhole, type InnerSink, type IsFailure } from "../../events/door.ts";
import {
  checkCommonOptions,
  checkPausedRuns,
  type DecidedBy,
  type PausedRuns,
} from "../core/door.ts";
import type { Price, RunSubject } from "../runtime/door.ts";

/** A run of an agent or a workflow, as the hooks of {@link MastraTelemetryOptions} get it. */
export interface MastraRun {
  readonly kind: "agent" | "workflow";
  /** ID of the agent or workflow. */
  readonly id: string | undefined;
  /** Mastra's ID of the run. A resumed run has the ID of the paused run. */
  readonly runId: string | undefined;
  /** The thread of Mastra's memory. */
  readonly threadId: string | undefined;
  /** The owner of that thread, usually a user. */
  readonly resourceId: string | undefined;
  /** The values of Mastra's `RequestContext`, as Mastra shows them to exporters. */
  readonly requestContext: Readonly<Record<string, unknown>>;
  /** The span's metadata, such as `tracingOptions.metadata`. */
  readonly metadata: Readonly<Record<string, unknown>>;
  /** `tracingOptions.tags` of the outermost run. */
  readonly tags: readonly string[];
}

/** Options of {@link MastraTelemetry}. */
export interface MastraTelemetryOptions {
  /** Where the events go: a `Bridge`, or any other sink. */
  readonly sink: InnerSink;
  /**
   * The tenant of the runs. A function is called once for each outermost run. If it throws or returns anything but a
   * non-empty text, no event of that run is sent (`counts.refused`). A run inside another run has the same tenant.
   *
   * @example
   * tenant: ({ requestContext }) => String(requestContext.tenantId)
   */
  readonly tenant: string | ((run: MastraRun) => string);
  /**
   * The conversation of a run (`gen_ai.conversation.id`). Default: the thread of Mastra's memory, else the
   * conversation of the surrounding run, if any.
   */
  readonly thread?: ((run: MastraRun) => string | undefined) | undefined;
  /**
   * The subject of a run: personal data, so only the result of this function is sent. Called once for each outermost
   * run. If it throws or returns an invalid subject, `onError` is called. Default: the subject of the surrounding
   * run, if any.
   *
   * @example
   * context: ({ resourceId, tags }) => ({ user: resourceId, tags })
   */
  readonly context?: ((run: MastraRun) => RunSubject | undefined) | undefined;
  /**
   * Decides which tool results are failures. A failure is sent as `tool_error` with the wire code
   * `tool_result_error`, and the run continues. Default: results of MCP tools with `isError: true`.
   */
  readonly isFailure?: IsFailure | undefined;
  /** Returns the price of a model call that reported its usage, in US dollars. Default: the cost is not known. */
  readonly price?: Price | undefined;
  /**
   * Names the person who approved or declined a tool call. It gets the `RequestContext` values of the call that
   * resumed the run. Default: no person is named.
   */
  readonly decidedBy?: DecidedBy | undefined;
  /**
   * Stores paused runs by Mastra's IDs, with and without the tenant. A run that another process resumes is then linked
   * to its pause, and has its tenant, thread and subject unless the other options give others. Default: at least the
   * last 10,000 in memory, one store for each sink.
   */
  readonly pausedRuns?: PausedRuns | undefined;
  /** Maximum number of open runs. Above it, the oldest is forgotten (`counts.forgotten`). Default 10,000. */
  readonly maxRuns?: number | undefined;
  /** Called with errors of the sink and of the adapter. Both are also counted. Default: not called. */
  readonly onError?: ((error: unknown) => void) | undefined;
}

/** Counts of Mastra's tracing events that were not sent as events. */
export interface MastraCounts {
  /** Spans outside a run, for example of tools or models. */
  readonly outside: number;
  /** Runs without a known tenant. */
  readonly refused: number;
  /** Runs that were forgotten because of `maxRuns`. */
  readonly forgotten: number;
  /** Forgotten spans of open runs. A run keeps its last 10,000. */
  readonly forgottenSpans: number;
  /** Repeated events: the telemetry is bridge and exporter of the same configuration. */
  readonly duplicates: number;
  /** Events that the sink refused. */
  readonly sinkFailures: number;
  /** Callbacks that failed in this package: each is a bug. */
  readonly faults: number;
}

export const DEFAULT_RUNS = 10_000;

/**
 * @throws TypeError when an option has the wrong type.
 * @throws RangeError when a limit is out of range.
 */
export function checkMastraOptions(options: MastraTelemetryOptions): void {
  checkCommonOptions(options);
  checkFunction(options.thread, "thread");
  checkPausedRuns(options.pausedRuns);
  checkWhole(options.maxRuns ?? DEFAULT_RUNS, "maxRuns", 1);
}
