import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import {
  ConsoleSpanExporter,
  NodeTracerProvider,
  SimpleSpanProcessor,
  type SpanProcessor,
} from "@opentelemetry/sdk-trace-node";
import { createIdGenerator } from "../id-generator.ts";
import { Reporter } from "../report.ts";
import { batchSettings, concurrencyLimit } from "./batch-settings.ts";
import { CountedBatchProcessor } from "./counted-batch-processor.ts";
import { applyLogLevel, warnAloud } from "./diag-logger.ts";
import { tracesUrl } from "./endpoint.ts";
import { environmentText } from "./environment.ts";
import { checkProtocol, exportersFromEnvironment } from "./exporter-choice.ts";
import { registerGlobally } from "./global-registration.ts";
import { LossReporter } from "./loss-reporter.ts";
import { serviceResource } from "./resource.ts";
import { createSampler, samplerFromEnvironment } from "./sampler.ts";
import { SpanLedger } from "./span-ledger.ts";
import { Tracing } from "./tracing.ts";
import { checkOptions, type TracingOptions } from "./tracing-options.ts";

/**
 * Wires OpenTelemetry's Node SDK so that the trace of a run has the run's id: OTLP/HTTP (JSON) in
 * batches, our id generator and sampler, registered for the whole process.
 *
 * Synchronous: call it before the agent starts. What is not given by option comes from the standard
 * `OTEL_*` variables; one that can't be used is reported to OpenTelemetry's diagnostic logger, and
 * its default is taken. With `OTEL_SDK_DISABLED=true` no spans are made and nothing is registered.
 *
 * @throws TypeError, RangeError when an option can't be used; the message names it.
 *
 * @example
 * const tracing = setupTracing({ serviceName: "support-agent" });
 * agent.addSink(tracing.createBridge());
 * // at the end of the process
 * await tracing.shutdown();
 */
export function setupTracing(options: TracingOptions = {}): Tracing {
  checkOptions(options);
  const url = options.endpoint === undefined ? undefined : tracesUrl(options.endpoint);
  applyLogLevel();

  const reporter = new Reporter(options.onError ?? warnAloud);
  const ledger = new SpanLedger();
  const common = {
    ledger,
    losses: new LossReporter(ledger, reporter),
    reporter,
    shutdownTimeoutMs: options.shutdownTimeoutMs ?? 5_000,
    handleSignals: options.handleSignals ?? false,
    onError: options.onError,
  };
  if (environmentText("OTEL_SDK_DISABLED")?.toLowerCase() === "true") {
    return new Tracing({ ...common, provider: undefined, batches: undefined, registered: false });
  }

  const exporters = exportersFromEnvironment();
  const batches = exporters.has("otlp") ? otlpBatches(url, options.headers, ledger) : undefined;
  const spanProcessors: SpanProcessor[] = batches === undefined ? [] : [batches];
  if (exporters.has("console")) {
    spanProcessors.push(new SimpleSpanProcessor(new ConsoleSpanExporter()));
  }
  const provider = new NodeTracerProvider({
    resource: serviceResource(options),
    sampler:
      options.sampler === undefined ? samplerFromEnvironment() : createSampler(options.sampler),
    idGenerator: createIdGenerator(),
    spanProcessors: [...spanProcessors, ...(options.spanProcessors ?? [])],
  });
  const wanted = options.register ?? true;
  const registered = wanted && registerGlobally(provider);
  if (wanted && !registered) {
    const advice = "shut it down and call trace.disable() before, or pass register: false";
    reporter.report(new Error(`another tracer provider is registered: ${advice}`), "setup");
  }
  return new Tracing({ ...common, provider, batches, registered });
}

function otlpBatches(
  url: string | undefined,
  headers: Readonly<Record<string, string>> | undefined,
  ledger: SpanLedger,
): CountedBatchProcessor {
  checkProtocol();
  const settings = batchSettings();
  const exporter = new OTLPTraceExporter({
    concurrencyLimit: concurrencyLimit(settings),
    ...(url === undefined ? {} : { url }),
    ...(headers === undefined ? {} : { headers: { ...headers } }),
  });
  return new CountedBatchProcessor(exporter, settings, ledger);
}
