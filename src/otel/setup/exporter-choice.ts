import { environmentText, warnOfVariable } from "./environment.ts";

/** An exporter that `OTEL_TRACES_EXPORTER` or `OTEL_METRICS_EXPORTER` can name here. */
export type ExporterName = "otlp" | "console";

/** A signal in the names of its variables. */
export type SignalName = "TRACES" | "METRICS";

/**
 * The exporters that `OTEL_TRACES_EXPORTER` or `OTEL_METRICS_EXPORTER` names, comma-separated; none
 * for `none`. Default, also when it names only unknown ones: `otlp`.
 */
export function exportersFromEnvironment(signal: SignalName): ReadonlySet<ExporterName> {
  const variable = `OTEL_${signal}_EXPORTER`;
  const text = environmentText(variable) ?? "otlp";
  const chosen = new Set<ExporterName>();
  for (const part of text.split(",")) {
    const name = part.trim().toLowerCase();
    switch (name) {
      case "none":
        return new Set();
      case "otlp":
      case "console":
        chosen.add(name);
        break;
      default:
        warnOfVariable(variable, name, "otlp, console or none", "the others");
    }
  }
  return chosen.size === 0 ? new Set(["otlp"]) : chosen;
}

/** Warns where `OTEL_EXPORTER_OTLP_[signal_]PROTOCOL` asks for what this setup can't send. */
export function checkProtocol(signal: SignalName): void {
  for (const name of [`OTEL_EXPORTER_OTLP_${signal}_PROTOCOL`, "OTEL_EXPORTER_OTLP_PROTOCOL"]) {
    const protocol = environmentText(name);
    if (protocol === undefined) continue;
    if (protocol !== "http/json") warnOfVariable(name, protocol, "http/json", "http/json");
    return;
  }
}
