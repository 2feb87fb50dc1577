import type { Tracer } from "@opentelemetry/api";
import type { Reporter } from "../report.ts";
import type { TelemetryOptions } from "../telemetry-options.ts";
import { CallDetails, globalLoggerProvider } from "./call-details.ts";
import { OpenInferenceNames } from "./openinference/finisher.ts";
import { recordingTracer, type SpanFinisher } from "./recorded-span.ts";
import { tracerOf } from "./span-port.ts";

/** The tracer of a bridge, with what its options add at the end of spans. */
export function bridgeTracer(options: TelemetryOptions, reporter: Reporter): () => Tracer {
  const { callDetails, conventions = "genai", loggerProvider, mode } = options;
  const finishers: SpanFinisher[] = [];
  if (callDetails !== false && mode !== "replay") {
    finishers.push(new CallDetails(() => loggerProvider ?? globalLoggerProvider()));
  }
  if (conventions !== "genai") {
    finishers.push(new OpenInferenceNames(conventions === "openinference"));
  }
  return recordingTracer(tracerOf(options.tracerProvider), finishers, (error) =>
    reporter.report(error, "end of a span"),
  );
}
