import { checkEach, checkFunction, type OptionChecks, wholeFrom } from "../../events/door.ts";
import {
  ADAPTER_CHECKS,
  type AdapterCounts,
  type AdapterOptions,
  checkPausedRuns,
  type PausedRuns,
} from "../core/door.ts";

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
export interface MastraTelemetryOptions extends AdapterOptions<MastraRun> {
  /**
   * The conversation of a run (`gen_ai.conversation.id`). Default: the thread of Mastra's memory, else the
   * conversation of the surrounding run, if any.
   */
  readonly thread?: ((run: MastraRun) => string | undefined) | undefined;
  /**
   * Stores paused runs by Mastra's IDs, with and without the tenant. A run that another process resumes is then linked
   * to its pause, and has its tenant, thread and subject unless the other options give others. Default: at least the
   * last 10,000 in memory, one store for each sink.
   */
  readonly pausedRuns?: PausedRuns | undefined;
  /** Maximum number of open runs. Above it, the oldest is forgotten (`counts.forgotten`). Default 10,000. */
  readonly maxRuns?: number | undefined;
}

/** Counts of Mastra's tracing events that were not sent as events. */
export interface MastraCounts extends AdapterCounts {
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
}

export const DEFAULT_RUNS = 10_000;

/** @throws TypeError or RangeError when an option is invalid. */
export function checkMastraOptions(options: MastraTelemetryOptions): MastraTelemetryOptions {
  return checkEach(options, CHECKS);
}

const CHECKS: OptionChecks<MastraTelemetryOptions> = {
  ...ADAPTER_CHECKS,
  thread: checkFunction,
  pausedRuns: checkPausedRuns,
  maxRuns: wholeFrom(1),
};
