import { v7 } from "uuid";
import { idSlot } from "../../bridge/door.ts";
import { RunIds } from "../../events/door.ts";
import { safe } from "../terminal/text.ts";
import { type Finding, note, ok, problem } from "./finding.ts";

/** Checks the providers that the application has registered. */
export function checkProvider(api: unknown): Finding[] {
  if (api === undefined) {
    return [problem("the application has no @opentelemetry/api", "npm install @opentelemetry/api")];
  }
  return [...tracerFindings(api), ...meterFindings(api)];
}

/** Starts a test span, which never ends and so is not exported. */
function tracerFindings(api: unknown): Finding[] {
  const provider = call(get(api, "trace"), "getTracerProvider");
  const tracer = call(
    call(provider, "getDelegate") ?? provider,
    "getTracer",
    "entelix-otel-doctor",
  );
  const ids = RunIds.fromUuid(v7());
  if (ids === undefined) throw new Error("a version 7 UUID is one");
  const { spanId, traceId } = ids;
  idSlot.traceId = traceId;
  idSlot.spanId = spanId;
  let context: unknown;
  try {
    const span = call(tracer, "startSpan", "entelix-otel.doctor", {}, get(api, "ROOT_CONTEXT"));
    context = call(span, "spanContext");
  } finally {
    idSlot.traceId = undefined;
    idSlot.spanId = undefined;
  }
  const given = get(context, "traceId");
  if (typeof given !== "string" || /^0*$/.test(given)) {
    return [
      problem(
        "no tracer provider is registered: spans go nowhere",
        "Call setupTracing() from entelix-otel/setup, or register your own provider, in the file you import.",
      ),
    ];
  }
  return [
    generatorFinding(given === traceId && get(context, "spanId") === spanId),
    sampling(tracer, context),
  ];
}

/** Without a provider, the API returns its no-op meter. */
function meterFindings(api: unknown): Finding[] {
  const provider = call(get(api, "metrics"), "getMeterProvider");
  const meter = call(provider, "getMeter", "entelix-otel-doctor");
  if (meter === undefined || meter === call(api, "createNoopMeter")) {
    return [
      note(
        "no meter provider is registered: failures are counted only from sampled spans",
        "setupTelemetry() from entelix-otel/telemetry counts events too.",
      ),
    ];
  }
  return [ok("a meter provider is registered"), ...instanceFinding(provider)];
}

/** Reads a private field of the SDK, because the API does not show the resource. */
function instanceFinding(provider: unknown): Finding[] {
  const resource = get(get(provider, "_sharedState"), "resource");
  const attributes = get(resource, "attributes");
  if (attributes === undefined || get(attributes, "service.instance.id") !== undefined) return [];
  return [
    note(
      "its resource has no service.instance.id: at the collector, processes of this service overwrite each other's metrics, and alerts miss failures",
      "Give each process its own ID. With NodeSDK, set OTEL_NODE_RESOURCE_DETECTORS=serviceinstance,env,host,process.",
    ),
  ];
}

function generatorFinding(ours: boolean): Finding {
  return ours
    ? ok("id generator: this package's, so the trace id of a root run is its run id")
    : problem(
        "id generator: another one, so trace ids are not run ids",
        "Pass createIdGenerator() from entelix-otel to your provider as idGenerator.",
      );
}

function sampling(tracer: unknown, context: unknown): Finding {
  const sampler = get(tracer, "_sampler");
  const described = call(sampler, "toString");
  const named = typeof described === "string" ? described : "not known";
  const what = `sampler of the application: ${safe(named.slice(0, 200))}`;
  const flags = get(context, "traceFlags");
  const sampled = typeof flags === "number" && (flags & 1) === 1;
  return sampled ? ok(what) : note(`${what}; it did not sample the test span`);
}

function get(value: unknown, name: string): unknown {
  return (typeof value === "object" && value !== null) || typeof value === "function"
    ? Reflect.get(value, name)
    : undefined;
}

/** Calls a method if it exists. */
function call(value: unknown, name: string, ...args: unknown[]): unknown {
  const method = get(value, name);
  if (typeof method !== "function") return undefined;
  const result: unknown = Reflect.apply(method, value, args);
  return result;
}
