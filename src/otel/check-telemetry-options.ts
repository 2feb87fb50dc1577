import {
  checkFunction,
  checkHas,
  checkList,
  checkObject,
  checkOneOf,
  checkOptionsObject,
} from "../events/option-checks.ts";
import type { TelemetryOptions } from "./telemetry.ts";

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
