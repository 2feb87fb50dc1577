import {
  type Context,
  context,
  createContextKey,
  defaultTextMapGetter,
  defaultTextMapSetter,
  type TextMapGetter,
  type TextMapPropagator,
  type TextMapSetter,
} from "@opentelemetry/api";
import {
  type CarrierOptions,
  checkBoolean,
  checkEach,
  checkedElsewhere,
  checkFunction,
  checkGiven,
  currentScope,
  type HeadersLike,
  isRunContextSource,
  type OptionChecks,
  RUN_CONTEXT_HEADERS,
  type RunContext,
  type RunScope,
  readEnvironment,
  readHeaders,
  readMessage,
  writeEnvironment,
  writeHeaders,
  writeMessage,
} from "../../events/door.ts";
import { scopeIn } from "../event-context.ts";
import { callOf, runContextAt } from "./run-contexts.ts";

/**
 * The format of a run context in a carrier:
 *
 * - `headers`: HTTP headers, `traceparent` and `entelix-…`, percent-encoded
 * - `environment`: variables of a child process, `TRACEPARENT` and `ENTELIX_…`, percent-encoded
 * - `message`: fields of JSON, as in {@link RunContext}
 */
export type CarrierFormat = "headers" | "environment" | "message";

/** Options of {@link extract}. */
export interface ExtractOptions extends CarrierOptions {
  /** Default `headers`. */
  readonly format?: CarrierFormat | undefined;
}

/** Options of {@link inject}. */
export interface InjectOptions extends ExtractOptions {
  /** The run that the child belongs to. Default: {@link currentRunContext}. */
  readonly context?: RunContext | undefined;
  /**
   * Whether headers get `traceparent` and `tracestate`. Set it to `false` if an instrumentation of
   * the HTTP client adds its own, because most servers ignore two of them. Default `true`.
   */
  readonly traceparent?: boolean | undefined;
}

/**
 * Writes the run context into a carrier, for a child agent in another process or language. In an
 * environment, it removes variables of another run, so that a child does not inherit its
 * grandparent. It never throws. Without a run, it writes nothing.
 *
 * @returns the carrier.
 *
 * @example
 * await fetch(url, { headers: inject({}) });
 * spawn("expert", { env: inject({ ...process.env }, { format: "environment" }) });
 */
export function inject<C extends object>(carrier: C, given: InjectOptions = {}): C {
  const options = checkEach(given, INJECT_CHECKS);
  const { format = "headers", traceparent } = options;
  const run = "context" in options ? options.context : currentRunContext();
  for (const [name, value] of Object.entries(written(run, format, traceparent, options))) {
    put(carrier, name, value);
  }
  return carrier;
}

function written(
  run: RunContext | undefined,
  format: CarrierFormat,
  traceparent: boolean | undefined,
  options: CarrierOptions,
): Readonly<Record<string, string | undefined>> {
  switch (format) {
    case "headers":
      return writeHeaders(run, { ...options, traceparent });
    case "environment":
      return writeEnvironment(run, options);
    case "message":
      return writeMessage(run, options);
    default:
      throw unknownFormat(format);
  }
}

function put(carrier: object, name: string, value: string | undefined): void {
  if ("set" in carrier && typeof carrier.set === "function") {
    if (value !== undefined) carrier.set(name, value);
  } else if (value === undefined) Reflect.deleteProperty(carrier, name);
  else Reflect.set(carrier, name, value);
}

/**
 * Reads the run context from a carrier. Use it only for trusted senders, because the carrier
 * decides which trace the run joins. It never throws because of the carrier. `onIgnored` is called
 * with each field that was not used.
 *
 * @returns the parent for `runAgent({ parent })`, or `undefined` if the carrier names no parent
 *   run.
 *
 * @example
 * const parent = extract(request.headers);
 * await runAgent({ sink, agent: "expert", tenant: "acme", parent }, work);
 */
export function extract(
  carrier: HeadersLike | Readonly<Record<string, unknown>> | null | undefined,
  given: ExtractOptions = {},
): RunContext | undefined {
  const options = checkEach(given, EXTRACT_CHECKS);
  const { format = "headers" } = options;
  switch (format) {
    case "headers":
      return readHeaders(carrier, options);
    case "environment":
      return readEnvironment(carrier, options);
    case "message":
      return readMessage(carrier, options);
    default:
      throw unknownFormat(format);
  }
}

function unknownFormat(format: never): TypeError {
  return new TypeError(`format: expected headers, environment or message, got ${String(format)}`);
}

const EXTRACTED = createContextKey("entelix-otel.extracted-run-context");

/** The run context that a {@link RunContextPropagator} extracted into this OpenTelemetry context. */
export function extractedRunContext(from: Context = context.active()): RunContext | undefined {
  checkGiven(from, "from", "getValue");
  const value: unknown = from.getValue(EXTRACTED);
  return value instanceof Extracted ? value.run : undefined;
}

class Extracted {
  readonly run: RunContext;
  constructor(run: RunContext) {
    this.run = run;
  }
}

/**
 * Propagates the run context for instrumentations that use OpenTelemetry's propagation API.
 * Register it after the W3C propagator, which writes `traceparent`. This one writes only
 * `entelix-…` headers. It does not read or write baggage.
 *
 * @example
 * propagation.setGlobalPropagator(
 *   new CompositePropagator({ propagators: [new W3CTraceContextPropagator(), new RunContextPropagator()] }),
 * );
 */
export class RunContextPropagator implements TextMapPropagator {
  inject(from: Context, carrier: unknown, setter: TextMapSetter = defaultTextMapSetter): void {
    const run = context.with(from, currentRunContext);
    for (const [name, value] of Object.entries(writeHeaders(run, { traceparent: false }))) {
      setter.set(carrier, name, value);
    }
  }

  extract(into: Context, carrier: unknown, getter: TextMapGetter = defaultTextMapGetter): Context {
    const fields = Object.fromEntries(
      ["traceparent", "tracestate", ...this.fields()].map((name) => [
        name,
        getter.get(carrier, name),
      ]),
    );
    const run = readHeaders(fields);
    return run === undefined ? into : into.setValue(EXTRACTED, new Extracted(run));
  }

  fields(): string[] {
    return Object.values(RUN_CONTEXT_HEADERS).filter((name) => name.startsWith("entelix-"));
  }
}

/**
 * The run context of the calling code, for a child agent in another process. It works in a run of
 * `entelix-otel/runtime`, in code that an adapter runs for a run, and inside `bridge.withSpan(…)`.
 *
 * If no sink knows the run's span, the context has only IDs. They are enough to place the child in
 * the trace.
 *
 * @returns `undefined` outside any run. It never throws.
 *
 * @example
 * const message = JSON.stringify({ order: 17, parent: currentRunContext() });
 */
export function currentRunContext(): RunContext | undefined {
  const run = currentScope();
  const active = scopeIn(context.active());
  if (active !== undefined && isInnermost(active.run, run)) {
    const own = run?.runId === active.run.runId ? run : undefined;
    const { call } = active;
    // The call itself, since other calls can have its ID.
    const known =
      call === undefined
        ? runContextAt(active.run, callOf(active.run, own?.toolUseId), own?.toolUseId)
        : runContextAt(active.run, call, call.id);
    return own === undefined ? known : { ...idsOf(own), ...known };
  }
  return run === undefined ? undefined : { ...idsOf(run), ...asked(run) };
}

interface ScopedRun {
  readonly tenantId: string;
  readonly runId: string;
  readonly parentRunId: string | undefined;
}

/** Whether the active span belongs to the current run, or to a child that was reported manually. */
function isInnermost(active: ScopedRun, run: RunScope | undefined): boolean {
  if (run === undefined) return true;
  if (active.tenantId !== run.tenantId) return false;
  return active.runId === run.runId || active.parentRunId === run.runId;
}

/** The run context without a span. */
function idsOf(run: RunScope): RunContext {
  return {
    root_run_id: run.rootRunId,
    parent_run_id: run.runId,
    ...(run.toolUseId === undefined ? {} : { parent_tool_use_id: run.toolUseId }),
    ...(run.threadId === undefined ? {} : { thread_id: run.threadId }),
  };
}

/** Catches errors, since a user's sink can throw, and the agent must not fail then. */
function asked({ sink, tenantId, runId, toolUseId }: RunScope): RunContext | undefined {
  try {
    return isRunContextSource(sink) ? sink.runContext(tenantId, runId, toolUseId) : undefined;
  } catch {
    return undefined;
  }
}

const EXTRACT_CHECKS: OptionChecks<ExtractOptions> = {
  format: checkedElsewhere,
  onIgnored: checkFunction,
};
const INJECT_CHECKS: OptionChecks<InjectOptions> = {
  ...EXTRACT_CHECKS,
  context: checkedElsewhere,
  traceparent: checkBoolean,
};
