import type { MeterProvider, TracerProvider } from "@opentelemetry/api";
import { type AuditRows, checkAuditRows, type SessionLog } from "../audit/door.ts";
import {
  among,
  checkBoolean,
  checkedElsewhere,
  checkFunction,
  checkList,
  checkOneOf,
  FAILURE_KIND_IDS,
  type FailureKindId,
  having,
  LOOP_CHECKS,
  type LoopOptions,
  nested,
  type OptionChecks,
} from "../events/door.ts";
import type { ParentResolver, RootParent } from "./event-context.ts";
import { LIMIT_CHECKS, type LifecycleLimits } from "./lifecycle/door.ts";
import { METRIC_CHECKS, type MetricOptions } from "./metrics/label-values.ts";
import {
  type LoggerProviderLike,
  PROGRESS_CHECKS,
  type ProgressOptions,
} from "./progress-options.ts";
import type { ErrorHook } from "./report.ts";
import type { ContentOptions } from "./spans/content.ts";
import type { AttributeHook } from "./spans/custom-attributes.ts";
import { CONVENTIONS, type Conventions } from "./spans/openinference/finisher.ts";
import type { SubjectOptions } from "./spans/subject.ts";

/** Options for spans and metrics. */
export interface TelemetryOptions extends ContentOptions, SubjectOptions {
  /**
   * The tracer provider. Default: the global one, also if it is registered later. Once found, it is
   * kept.
   */
  readonly tracerProvider?: TracerProvider | undefined;
  /**
   * The meter provider. Default: the global one, looked up when the sink is created and again at
   * its first event. Without a provider, metrics cost nothing.
   */
  readonly meterProvider?: MeterProvider | undefined;
  /** Which label values metrics show. `false` turns metrics off. A replay has no metrics. */
  readonly metrics?: MetricOptions | false | undefined;
  /**
   * Log records about runs, for stores of logs: one at the start, one at each interval while the run is
   * open, one at the end. Each has the trace and span ID of the run, and no content. A replay makes none.
   * Default: none.
   */
  readonly progress?: ProgressOptions | undefined;
  /**
   * The logger provider for {@link callDetails}. Default: the one that is registered globally through
   * `@opentelemetry/api-logs`, also if it is registered later.
   */
  readonly loggerProvider?: LoggerProviderLike | undefined;
  /**
   * Whether each model call has a log record, where there is a logger provider: the event
   * `gen_ai.client.inference.operation.details` at DEBUG, with the attributes of its span. Calls that are not sampled
   * have none, and a replay makes none. Default `true`.
   */
  readonly callDetails?: boolean | undefined;
  /**
   * Whether spans of failures have an `exception` event with class, text and stack, if the sender knows
   * them, as agents written in TypeScript do. They are operator text and redacted. Default `true`.
   */
  readonly exceptions?: boolean | undefined;
  /**
   * The names of attributes on spans: those of the GenAI conventions, of OpenInference, or both. Content under either
   * name follows the same options. Default `genai`.
   */
  readonly conventions?: Conventions | undefined;
  /** Adds your own attributes when the span of a run, a tool call or a model call opens. */
  readonly attributes?: AttributeHook | undefined;
  /** Default `own`: a root run is its own trace, whose ID is the run ID. */
  readonly rootParent?: RootParent | undefined;
  readonly resolveParent?: ParentResolver | undefined;
  /**
   * Failure kinds that do not count as errors, for example `cancelled`. Their spans have status
   * Unset and no `error.type`. Default: none.
   */
  readonly benignFailureKinds?: readonly FailureKindId[] | undefined;
  /**
   * Whether steps have spans: nodes of a graph, retrievals, named parts of a program. `false`: the run is
   * the parent of the spans inside them. Default `true`.
   */
  readonly steps?: boolean | undefined;
  /**
   * Whether spans name the person who decided about a tool call: `entelix.approval.person`. It is
   * personal data. Default `false`.
   */
  readonly approvalPerson?: boolean | undefined;
  readonly limits?: Partial<LifecycleLimits> | undefined;
  /**
   * When a run's tool calls count as a loop: `entelix.run.loop`, `entelix.runs.looping`. `false`: loops are not
   * detected, and adapters do not pass inputs and results of tools for it. Default: see {@link LoopOptions}.
   */
  readonly loops?: LoopOptions | false | undefined;
  /** Called with every internal error. Default: OpenTelemetry's diagnostic logger. */
  readonly onError?: ErrorHook | undefined;
  /**
   * `live` uses the system clock and the active context, and marks long runs. `replay` uses the
   * time of the events and nothing of this process. Default `live`.
   */
  readonly mode?: "live" | "replay" | undefined;
}

/** What spans show of events. The commands have an option for each field. */
export type SpanChoices = Pick<
  TelemetryOptions,
  | "captureContent"
  | "exceptions"
  | "steps"
  | "approvalPerson"
  | "conventions"
  | "subjectOnAllSpans"
  | "sessionPerTenant"
>;

/** Options of a {@link Bridge}. Every field has a default. */
export interface BridgeOptions extends TelemetryOptions {
  /**
   * The audit log. Default: none, and the bridge is synchronous. The log stays open when the bridge
   * shuts down, because other bridges may use it.
   */
  readonly audit?: SessionLog | undefined;
  /**
   * Which rows events leave in the audit log. Default `all`. `upstream`: no row of this package's own
   * kinds (`entelix.…`).
   */
  readonly rows?: AuditRows | undefined;
  /**
   * How long `shutdown` and `forceFlush` wait for pending audit rows, in ms, from 0. Default 5,000.
   */
  readonly shutdownTimeoutMs?: number | undefined;
}

/** The checks of the options, with their names. */
export const BRIDGE_CHECKS: OptionChecks<BridgeOptions> = {
  audit: having("append"),
  tracerProvider: having("getTracer"),
  meterProvider: having("getMeter"),
  metrics: nested(METRIC_CHECKS, false),
  progress: nested(PROGRESS_CHECKS),
  loggerProvider: having("getLogger"),
  callDetails: checkBoolean,
  exceptions: checkBoolean,
  conventions: among(...CONVENTIONS),
  subjectOnAllSpans: checkBoolean,
  sessionPerTenant: checkBoolean,
  subjectFromBaggage: checkBoolean,
  attributes: checkFunction,
  rootParent: among("own", "ambient"),
  resolveParent: checkFunction,
  benignFailureKinds(given, field) {
    checkList(given, field);
    for (const [at, kind] of (Array.isArray(given) ? given : []).entries()) {
      checkOneOf(kind, `${field}[${at}]`, FAILURE_KIND_IDS);
    }
  },
  steps: checkBoolean,
  limits: nested(LIMIT_CHECKS),
  onError: checkFunction,
  mode: among("live", "replay"),
  redact: checkFunction,
  redactOnce: checkBoolean,
  messages: among("all", "new"),
  captureContent: checkBoolean,
  approvalPerson: checkBoolean,
  loops: nested(LOOP_CHECKS, false),
  maxValueBytes: checkedElsewhere,
  maxMessageBytes: checkedElsewhere,
  maxStatusBytes: checkedElsewhere,
  maxStackBytes: checkedElsewhere,
  rows: checkAuditRows,
  shutdownTimeoutMs: checkedElsewhere,
};
