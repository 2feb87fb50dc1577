import { property } from "../events/door.ts";
import { isRegistered, registeredVersion } from "./global-registration.ts";
import type { Counters } from "./lifecycle/door.ts";
import type { Reporter } from "./report.ts";

/** Says that no tracer provider is registered, unless the operator turned spans off. */
export function noteNoProvider(reporter: Reporter): void {
  const { OTEL_SDK_DISABLED: disabled, OTEL_TRACES_EXPORTER: exporter } = process.env;
  if (disabled?.trim().toLowerCase() === "true" || exporter?.trim().toLowerCase() === "none")
    return;
  const [what, advice] = isRegistered("trace")
    ? [
        `the tracer provider is in an older @opentelemetry/api, ${registeredVersion()}`,
        "use one version (`npm ls @opentelemetry/api`)",
      ]
    : [
        "no tracer provider is registered",
        "call setupTracing() or setupTelemetry(), or start your provider, before them",
      ];
  const text = `${what}, so runs make no spans: ${advice}`;
  reporter.notice("ENTELIX_NO_PROVIDER", text, "tracer provider");
}

/** Says that two bridges of one provider got the same run. */
export function noteSameRun(reporter: Reporter): void {
  const advice = "create one bridge, and pass it to all of them";
  const what = "two bridges of one tracer provider got the same run, so its spans are sent twice";
  reporter.notice("ENTELIX_SAME_RUN", `${what}: ${advice}`, "runs");
}

/**
 * Counts an event after the shutdown, and says that a run which starts then is not reported.
 *
 * @param event anything but an event of a live agent counts only.
 */
export function countLate(counters: Counters, reporter: Reporter, event: unknown): void {
  counters.events++;
  counters.ignored.after_shutdown++;
  if (property(event, "type") !== "started") return;
  const advice = "call shutdown() once, at the end of the process";
  const text = `a run that starts after the shutdown is not reported: ${advice}`;
  reporter.notice("ENTELIX_AFTER_SHUTDOWN", text, "runs");
}
