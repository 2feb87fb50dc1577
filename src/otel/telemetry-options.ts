import type { MeterProvider, TracerProvider } from "@opentelemetry/api";
import type { FailureKindId } from "../errors/error-kinds.ts";
import {
  checkFunction,
  checkHas,
  checkList,
  checkObject,
  checkOneOf,
  checkOptionsObject,
} from "../events/option-checks.ts";
import type { LifecycleLimits } from "../lifecycle/limits.ts";
import type { ContentOptions } from "./content.ts";
import type { AttributeHook } from "./custom-attributes.ts";
import type { ParentResolver, RootParent } from "./event-context.ts";
import type { MetricOptions } from "./metrics/label-values.ts";
import type { ErrorHook } from "./report.ts";

/** The telemetry side's options, shared by `Bridge` and `Bridge`. */
export interface TelemetryOptions extends ContentOptions {
  /** Where spans go. Default: the global provider, also a later one; once found it stays. */
  readonly tracerProvider?: TracerProvider | undefined;
  /**
   * What metrics are counted on. Default: the global provider, looked for when the sink is made and
   * once more at its first event; where there is none, metrics cost nothing.
   */
  readonly meterProvider?: MeterProvider | undefined;
  /** Which label values metrics show; `false` turns metrics off. A replay has none. */
  readonly metrics?: MetricOptions | false | undefined;
  /** Adds attributes of the operator's own when the span of a run or of a tool call opens. */
  readonly attributes?: AttributeHook | undefined;
  /** Default `own`: a root run is its own trace, whose id is the run id. */
  readonly rootParent?: RootParent | undefined;
  readonly resolveParent?: ParentResolver | undefined;
  /** Failure kinds that are no errors here, `cancelled` say: status Unset, no `error.type`. */
  readonly benignFailureKinds?: readonly FailureKindId[] | undefined;
  readonly limits?: Partial<LifecycleLimits> | undefined;
  /** Told of every trouble of the bridge's own. Default: OpenTelemetry's diagnostic logger. */
  readonly onError?: ErrorHook | undefined;
  /**
   * `live`: time is the system's, the active context counts, long runs are marked. `replay`: time is
   * that of the events, and nothing of this process shows. Default `live`.
   */
  readonly mode?: "live" | "replay" | undefined;
}

/**
 * Checks what has no check of its own where it is used, as limits, sizes and label bounds have.
 * `captureContent` needs none: nothing but `true` captures.
 *
 * @throws TypeError naming the option that is of another type.
 */
export function checkTelemetryOptions(options: TelemetryOptions): void {
  checkOptionsObject(options);
  checkHas(options.tracerProvider, "tracerProvider", "getTracer");
  checkHas(options.meterProvider, "meterProvider", "getMeter");
  if (options.metrics !== false) checkObject(options.metrics, "metrics");
  checkFunction(options.attributes, "attributes");
  checkOneOf(options.rootParent, "rootParent", ["own", "ambient"]);
  checkFunction(options.resolveParent, "resolveParent");
  checkList(options.benignFailureKinds, "benignFailureKinds");
  checkObject(options.limits, "limits");
  checkFunction(options.onError, "onError");
  checkOneOf(options.mode, "mode", ["live", "replay"]);
  checkFunction(options.redact, "redact");
}
