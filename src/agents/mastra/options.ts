import { checkFunction, checkWhole, type InnerSink, type IsFailure } from "../../events/door.ts";
import { checkCommonOptions } from "../core/common-options.ts";
import type { DecidedBy } from "../core/decided-by.ts";
import type { Price } from "../runtime/price.ts";
import type { RunSubject } from "../runtime/run-subject.ts";

/** A run of an agent or a workflow, as the hooks of {@link MastraTelemetryOptions} see it. */
export interface MastraRun {
  readonly kind: "agent" | "workflow";
  /** ID of the agent or workflow. */
  readonly id: string | undefined;
  /** Mastra's ID of the run. A resumed run has that of the run that it resumes. */
  readonly runId: string | undefined;
  /** The thread of Mastra's memory. */
  readonly threadId: string | undefined;
  /** The owner of that thread: usually a user. */
  readonly resourceId: string | undefined;
  /** The values of Mastra's `RequestContext`, as Mastra shows them to exporters. */
  readonly requestContext: Readonly<Record<string, unknown>>;
  /** The span's metadata, such as `tracingOptions.metadata`. */
  readonly metadata: Readonly<Record<string, unknown>>;
  /** `tracingOptions.tags` of the outermost run. */
  readonly tags: readonly string[];
}

/** Where the events go, and whose they are. */
export interface MastraTelemetryOptions {
  /** Where the events go: a `Bridge`, or any other sink. */
  readonly sink: InnerSink;
  /**
   * The tenant of the runs. A function is called once for each outermost run. If it throws, or returns
   * anything but a text that is not empty, no event of that run is sent (`counts.refused`). A run inside
   * another belongs to that run's tenant.
   *
   * @example
   * tenant: ({ requestContext }) => String(requestContext.tenantId)
   */
  readonly tenant: string | ((run: MastraRun) => string);
  /**
   * The conversation of a run: `gen_ai.conversation.id`. Default: the thread of Mastra's memory, else that
   * of the run around it, else none.
   */
  readonly thread?: ((run: MastraRun) => string | undefined) | undefined;
  /**
   * Whose run it is: personal data, so only what this returns is sent. Called once for each outermost run.
   * If it throws, or returns an invalid subject, `onError` is called. Default: nothing, or what the run
   * around it says.
   *
   * @example
   * context: ({ resourceId, tags }) => ({ user: resourceId, tags })
   */
  readonly context?: ((run: MastraRun) => RunSubject | undefined) | undefined;
  /**
   * Which results of tools are failures. Default: results of MCP tools with `isError: true`. The call is
   * then a `tool_error` with the wire code `tool_result_error`, and the run continues.
   */
  readonly isFailure?: IsFailure | undefined;
  /** Gives the price of a model call that reported its usage, in US dollars. Default: the cost is not known. */
  readonly price?: Price | undefined;
  /**
   * Names the person who approved or declined a tool call. It gets the values of the `RequestContext` of the
   * call that resumed the run. Default: no person is named.
   */
  readonly decidedBy?: DecidedBy | undefined;
  /** Most runs that are followed at once. Above it, the oldest is forgotten. Default 10,000. */
  readonly maxRuns?: number | undefined;
  /** Called with errors of the sink and of the adapter. Default: not called; both are counted. */
  readonly onError?: ((error: unknown) => void) | undefined;
}

/** Counts of Mastra's tracing events that were not sent as events. */
export interface MastraCounts {
  /** Spans of tools, models and so on outside a run. */
  readonly outside: number;
  /** Runs without a known tenant. */
  readonly refused: number;
  /** Runs that were forgotten because of `maxRuns`. */
  readonly forgotten: number;
  /** Spans of open runs that were forgotten: a run keeps its last 10,000. */
  readonly forgottenSpans: number;
  /** Events that arrived twice: the telemetry is a bridge and an exporter of the same configuration. */
  readonly duplicates: number;
  /** Events that the sink did not take. */
  readonly sinkFailures: number;
  /** Callbacks that failed in this package: each is a bug. */
  readonly faults: number;
}

export const DEFAULT_RUNS = 10_000;

/** @throws TypeError for an option of another type, RangeError for a limit out of range. */
export function checkMastraOptions(options: MastraTelemetryOptions): void {
  checkCommonOptions(options);
  checkFunction(options.thread, "thread");
  checkWhole(options.maxRuns ?? DEFAULT_RUNS, "maxRuns", 1);
}
