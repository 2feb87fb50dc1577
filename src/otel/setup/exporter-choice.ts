import { environmentText, warnOfVariable } from "./environment.ts";

/** An exporter that `OTEL_TRACES_EXPORTER` can name here. */
export type ExporterName = "otlp" | "console";

/**
 * The exporters that `OTEL_TRACES_EXPORTER` names, comma-separated; none for `none`. Default, also
 * when it names only unknown ones: `otlp`.
 */
export function exportersFromEnvironment(): ReadonlySet<ExporterName> {
  const text = environmentText("OTEL_TRACES_EXPORTER") ?? "otlp";
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
        warnOfVariable("OTEL_TRACES_EXPORTER", name, "otlp, console or none", "the others");
    }
  }
  return chosen.size === 0 ? new Set(["otlp"]) : chosen;
}

/** Warns where `OTEL_EXPORTER_OTLP_[TRACES_]PROTOCOL` asks for what this setup can't send. */
export function checkProtocol(): void {
  for (const name of ["OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"]) {
    const protocol = environmentText(name);
    if (protocol === undefined) continue;
    if (protocol !== "http/json") warnOfVariable(name, protocol, "http/json", "http/json");
    return;
  }
}
