import { diag } from "@opentelemetry/api";
import { nearest } from "../../events/door.ts";
import { environmentText, warnOfNoEffect, warnOfVariable } from "./environment-variables.ts";

/** The end of variables of the exporter, which spans and metrics may have of their own. */
const OF_SIGNAL = [
  "ENDPOINT",
  "PROTOCOL",
  "HEADERS",
  "COMPRESSION",
  "TIMEOUT",
  "CERTIFICATE",
  "CLIENT_CERTIFICATE",
  "CLIENT_KEY",
].flatMap((end) =>
  ["", "TRACES_", "METRICS_"].map((signal) => `OTEL_EXPORTER_OTLP_${signal}${end}`),
);

/** The variables that a setup reads. A test compares them with `docs/environment.md`. */
export const KNOWN_VARIABLES: readonly string[] = [
  ...OF_SIGNAL,
  "OTEL_SDK_DISABLED",
  "OTEL_SERVICE_NAME",
  "OTEL_RESOURCE_ATTRIBUTES",
  "OTEL_LOG_LEVEL",
  "OTEL_TRACES_SAMPLER",
  "OTEL_TRACES_SAMPLER_ARG",
  "OTEL_TRACES_EXPORTER",
  "OTEL_METRICS_EXPORTER",
  "OTEL_BSP_MAX_QUEUE_SIZE",
  "OTEL_BSP_MAX_EXPORT_BATCH_SIZE",
  "OTEL_BSP_SCHEDULE_DELAY",
  "OTEL_BSP_EXPORT_TIMEOUT",
  "OTEL_METRIC_EXPORT_INTERVAL",
  "OTEL_METRIC_EXPORT_TIMEOUT",
  "OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE",
  "OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT",
  "OTEL_ATTRIBUTE_COUNT_LIMIT",
  "OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT",
  "OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT",
  "OTEL_SPAN_EVENT_COUNT_LIMIT",
  "OTEL_SPAN_LINK_COUNT_LIMIT",
  "OTEL_EVENT_ATTRIBUTE_COUNT_LIMIT",
  "OTEL_LINK_ATTRIBUTE_COUNT_LIMIT",
  "OTEL_SPAN_ATTRIBUTE_PER_EVENT_COUNT_LIMIT",
  "OTEL_SPAN_ATTRIBUTE_PER_LINK_COUNT_LIMIT",
  "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT",
  "OTEL_SEMCONV_STABILITY_OPT_IN",
];

/** A longer distance is rather another variable of the specification than a typing error. */
const MOST_TYPOS = 2;

/** Of batches of log records. They differ from those of spans by two letters. */
const OF_LOGS = "OTEL_BLRP_";

/** Warns of variables that are almost named as one that a setup reads, and of values that it ignores. */
export function warnOfIgnoredVariables(): void {
  for (const name of Object.keys(process.env)) {
    if (!name.startsWith("OTEL_") || name.startsWith(OF_LOGS)) continue;
    if (environmentText(name) === undefined || KNOWN_VARIABLES.includes(name)) continue;
    const meant = nearest(name, KNOWN_VARIABLES, MOST_TYPOS);
    if (meant !== undefined) diag.warn(`entelix-otel: ${name} is not read: did you mean ${meant}?`);
  }
  for (const name of ["OTEL_CONFIG_FILE", "OTEL_EXPERIMENTAL_CONFIG_FILE"]) {
    if (environmentText(name) !== undefined) {
      warnOfNoEffect(name, "set the variables of docs/environment.md");
    }
  }
  warnOfContent();
  warnOfConventions();
}

const CONTENT = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT";

function warnOfContent(): void {
  const text = environmentText(CONTENT);
  const known = ["true", "span_only", "span_and_event", "false", "no_content"];
  if (text === undefined || known.includes(text.toLowerCase())) return;
  warnOfVariable(CONTENT, text, known.join(", "), "false");
}

const OPT_IN = "OTEL_SEMCONV_STABILITY_OPT_IN";

/** Values of other areas of the conventions, such as `http/dup`, are for other instrumentations. */
function warnOfConventions(): void {
  const known = ["gen_ai_latest_experimental", "gen_ai/dup"];
  for (const part of (environmentText(OPT_IN) ?? "").split(",")) {
    const name = part.trim().toLowerCase();
    if (!name.startsWith("gen_ai") || known.includes(name)) continue;
    warnOfVariable(OPT_IN, name, known.join(" or "), "the newest names");
  }
}
