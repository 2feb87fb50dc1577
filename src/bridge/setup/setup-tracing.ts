import { randomUUID } from "node:crypto";
import {
  defaultResource,
  detectResources,
  envDetector,
  type Resource,
  resourceFromAttributes,
} from "@opentelemetry/resources";
import {
  ConsoleSpanExporter,
  SimpleSpanProcessor,
  type SpanProcessor,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import type { OptionChecks } from "../../events/door.ts";
import { ChunkSpanProcessor } from "../export/chunk-span-processor.ts";
import { exportSettings } from "../export/export-settings.ts";
import { OtlpPost } from "../export/otlp-post.ts";
import { CONTENT_TYPES } from "../export/request-format.ts";
import { batchOf } from "../export/span-batch.ts";
import { Reporter } from "../report.ts";
import { createIdGenerator } from "../spans/id-generator.ts";
import {
  applyLogLevel,
  environmentSwitch,
  environmentText,
  variablesAloud,
  warnAloud,
  warnOfVariable,
} from "./environment-variables.ts";
import { exportersFromEnvironment, otlpTarget } from "./exporter-choice.ts";
import { warnOfIgnoredVariables } from "./known-variables.ts";
import { registerGlobally } from "./provider-registration.ts";
import { createSampler, samplerFromEnvironment } from "./sampler.ts";
import { reportStep } from "./setup-watch.ts";
import { LossReporter, SpanLedger } from "./span-ledger.ts";
import { spanLimitsFromEnvironment } from "./span-limits.ts";
import { ContainedProcessor } from "./span-processors.ts";
import { Tracing, type TracingParts } from "./tracing.ts";
import { checkOptions, TRACING_CHECKS, type TracingOptions } from "./tracing-options.ts";

/**
 * Sets up OpenTelemetry's SDK (2 or 3) so that the trace ID of a run is its run ID: OTLP/HTTP with
 * protobuf, an exporter that does not drop bursts, and the ID generator and sampler of this
 * package. Registers all of it for the whole process.
 *
 * It is synchronous: call it before the agent starts. Options that are not given come from the
 * standard `OTEL_*` variables. An invalid variable is reported to OpenTelemetry's diagnostic
 * logger, or on the console if there is none, and its default is used. With
 * `OTEL_SDK_DISABLED=true`, no spans are made and nothing is registered.
 *
 * @throws TypeError, RangeError if an option is invalid; the message names it.
 *
 * @example
 * const tracing = setupTracing({ serviceName: "support-agent" });
 * agent.addSink(tracing.createBridge());
 * // at the end of the process
 * await tracing.shutdown();
 */
export function setupTracing(options: TracingOptions = {}): Tracing {
  return new Tracing(variablesAloud(() => wireTracing(options, TRACING_CHECKS)).parts);
}

/** The parts of tracing, and the resource for metrics. */
export interface Wiring<T> {
  /** The checked options. */
  readonly options: T;
  readonly parts: TracingParts;
  /** `undefined` if `OTEL_SDK_DISABLED` is `true`. */
  readonly resource: Resource | undefined;
}

/**
 * Creates the parts of `setupTracing`.
 *
 * @throws TypeError, RangeError if an option is invalid; the message names it.
 */
export function wireTracing<T extends TracingOptions>(
  given: T,
  checks: OptionChecks<T>,
): Wiring<T> {
  const options = checkOptions(given, checks);
  applyLogLevel();
  warnOfIgnoredVariables();

  const reporter = new Reporter(options.onError ?? warnAloud);
  const ledger = new SpanLedger();
  const common = {
    ledger,
    losses: new LossReporter(ledger, reporter),
    reporter,
    shutdownTimeoutMs: options.shutdownTimeoutMs ?? 5_000,
    ends: options,
    conventions: options.conventions,
    onError: options.onError,
  };
  if (environmentSwitch("OTEL_SDK_DISABLED")) {
    const none = { provider: undefined, otlp: undefined, flushMs: FLUSH_MS };
    const parts = { ...common, ...none, registered: false };
    return { options, parts, resource: undefined };
  }

  reportStep({ step: "setup", endpoint: options.endpoint, headers: options.headers });
  const exporters = exportersFromEnvironment("TRACES");
  const otlp = exporters.has("otlp") ? otlpProcessor(options, common) : undefined;
  const spanProcessors: SpanProcessor[] = otlp === undefined ? [] : [otlp];
  if (exporters.has("console")) {
    spanProcessors.push(new SimpleSpanProcessor({ exporter: new ConsoleSpanExporter() }));
  }
  for (const processor of options.spanProcessors ?? []) {
    spanProcessors.push(new ContainedProcessor(processor, reporter));
  }
  const resource = processResource(options);
  const provider = new TracerProvider({
    resource,
    sampler:
      options.sampler === undefined ? samplerFromEnvironment() : createSampler(options.sampler),
    idGenerator: createIdGenerator(),
    spanProcessors,
    spanLimits: spanLimitsFromEnvironment(),
  });
  const wanted = options.register ?? true;
  const registered = wanted && registerGlobally(provider);
  if (wanted && !registered) {
    const advice = "shut it down and call trace.disable() before, or pass register: false";
    reporter.report(new Error(`another tracer provider is registered: ${advice}`), "setup");
  }
  const flushMs = otlp?.flushMs ?? FLUSH_MS;
  return { options, parts: { ...common, provider, otlp, flushMs, registered }, resource };
}

/** Time limit of a flush without OTLP, in ms. */
const FLUSH_MS = 30_000;

function otlpProcessor(
  options: TracingOptions,
  { ledger, reporter }: Pick<TracingParts, "ledger" | "reporter">,
): ChunkSpanProcessor {
  const { headers, protocol, url } = otlpTarget("TRACES", options);
  const { queueBytes } = options;
  const settings = exportSettings(queueBytes === undefined ? {} : { queueBytes });
  const post = new OtlpPost({
    url,
    headers,
    timeoutMs: settings.exportTimeoutMillis,
    contentType: CONTENT_TYPES[protocol],
  });
  const onOutage = (error: Error) => reporter.report(error, "span export");
  return new ChunkSpanProcessor(post, settings, ledger, onOutage, batchOf(protocol));
}

const SERVICE_NAME = "service.name";
const INSTANCE_ID = "service.instance.id";

/** Matches a list with only the service name. */
const ONLY_NAME = /^[\s,]*service\.name\s*=[^=,]*(?:,[\s,]*)?$/;

/**
 * The resource of the spans. Later sources override earlier ones: the SDK's attributes,
 * `OTEL_RESOURCE_ATTRIBUTES`, `OTEL_SERVICE_NAME`, `resourceAttributes`, `serviceName`. If none sets
 * `service.instance.id`, it is a random UUID, so that backends can distinguish processes of a service.
 */
function processResource(options: TracingOptions): Resource {
  const named = options.serviceName === undefined ? {} : { [SERVICE_NAME]: options.serviceName };
  const given = defaultResource()
    .merge(resourceOfEnvironment())
    .merge(resourceFromAttributes({ ...options.resourceAttributes, ...named }));
  if (given.attributes[INSTANCE_ID] !== undefined) return given;
  return given.merge(resourceFromAttributes({ [INSTANCE_ID]: randomUUID() }));
}

function resourceOfEnvironment(): Resource {
  const resource = detectResources({ detectors: [envDetector] });
  const text = environmentText("OTEL_RESOURCE_ATTRIBUTES");
  if (text === undefined) return resource;
  const named = environmentText("OTEL_SERVICE_NAME") !== undefined;
  const taken = Object.keys(resource.attributes).filter((name) => !named || name !== SERVICE_NAME);
  // The detector drops the whole variable at the first error, without a message. `service.name` does not
  // count here, since it can come from OTEL_SERVICE_NAME.
  if (taken.length === 0 && !(named && ONLY_NAME.test(text))) {
    const expected = "name=value pairs, comma-separated and percent-encoded";
    warnOfVariable("OTEL_RESOURCE_ATTRIBUTES", text, expected, "none of it");
  }
  return resource;
}
