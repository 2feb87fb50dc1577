import {
  type Context,
  context,
  createContextKey,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  trace,
} from "@opentelemetry/api";
import {
  type AgentEvent,
  type AnswerForm,
  answerOf,
  boundedCopy,
  type EventEnvelope,
  MOST_COPY,
  property,
} from "../events/door.ts";
import type {
  Call,
  OuterParent,
  ParentContext,
  Run,
  RunOwner,
  SignalContext,
} from "./lifecycle/door.ts";
import type { Reporter } from "./report.ts";
import { type BaggageSubject, baggageSubject } from "./spans/baggage-subject.ts";
import { RunOwners } from "./spans/run-owners.ts";
import { SpanHandle } from "./spans/span-handle.ts";
import { parseTraceparent } from "./spans/traceparent.ts";

/**
 * Returns the parent span of a run that the bridge cannot know. The bridge calls it for a root run,
 * and for a run whose parent run was never seen, if the event has no `traceparent`. Arguments are
 * copies. Errors that it throws are counted and ignored.
 */
export type ParentResolver = (
  event: AgentEvent,
  envelope: EventEnvelope | undefined,
) => SpanContext | undefined;

/** `own`: a root run is its own trace, linked to the active span. `ambient`: it joins that trace. */
export type RootParent = "own" | "ambient";

/** Set on the contexts of `contextOf`, so that a run finds the run and call around it. */
const SCOPE_KEY = createContextKey("entelix-otel.scope");

/** Shared by the ESM and the CommonJS copy of this package. A changed class needs a new number. */
const SCOPE: unique symbol = Symbol.for("entelix-otel.scope.v1");

/** The run, and the call of it, that a context belongs to. */
export class RunScope {
  readonly run: Run<SpanHandle>;
  readonly call: Call<SpanHandle> | undefined;
  constructor(run: Run<SpanHandle>, call: Call<SpanHandle> | undefined) {
    this.run = run;
    this.call = call;
  }

  get [SCOPE](): true {
    return true;
  }
}

function isScope(value: unknown): value is RunScope {
  return property(value, SCOPE) === true;
}

/** The context for code inside a span of the bridge. Other values of `base` are retained. */
export function contextInside(
  base: Context,
  handle: SpanHandle,
  run: Run<SpanHandle>,
  call: Call<SpanHandle> | undefined,
): Context {
  return trace.setSpan(base, handle.span).setValue(SCOPE_KEY, new RunScope(run, call));
}

/** The run and call that a context belongs to. `undefined` outside the bridge's spans. */
export function scopeIn(active: Context): RunScope | undefined {
  const scope = active.getValue(SCOPE_KEY);
  return isScope(scope) ? scope : undefined;
}

export interface EventContextOptions {
  /** Whether events come from this process, so that its active context applies. */
  readonly live: boolean;
  readonly rootParent: RootParent;
  readonly resolveParent: ParentResolver | undefined;
  /** Whether baggage of the active context names user, session and conversation. */
  readonly readsBaggage: boolean;
  readonly reporter: Reporter;
}

/** Makes the contexts of signals. */
export class EventContexts {
  /** Calls of the parent resolver that threw. */
  failures = 0;
  readonly options: EventContextOptions;
  readonly owners = new RunOwners();
  readonly #asksForEvent: boolean;
  /** For events without an envelope, nearly all live ones: only the active context applies. */
  readonly #plain: EventContext;

  constructor(options: EventContextOptions) {
    this.options = options;
    this.#asksForEvent = options.resolveParent !== undefined || options.rootParent === "ambient";
    this.#plain = new EventContext(this, undefined, undefined);
  }

  /** @param event `undefined` for events of other runtimes. */
  of(
    event: AgentEvent | undefined,
    envelope: EventEnvelope | undefined,
  ): SignalContext<SpanHandle> {
    if (envelope === undefined && !this.#asksForEvent) return this.#plain;
    return new EventContext(this, event, envelope);
  }
}

/** Parents and owner of an event by its envelope, the active context and the resolver. */
class EventContext implements SignalContext<SpanHandle> {
  readonly identified: boolean;
  readonly #event: AgentEvent | undefined;
  readonly #envelope: EventEnvelope | undefined;
  readonly #contexts: EventContexts;

  constructor(
    contexts: EventContexts,
    event: AgentEvent | undefined,
    envelope: EventEnvelope | undefined,
  ) {
    this.#contexts = contexts;
    this.#event = event;
    this.#envelope = envelope;
    const added = envelope?.details?.recorder?.event_id_added === true;
    this.identified = !added && nameIn(envelope?.event_id) !== undefined;
  }

  owner(): RunOwner | undefined {
    return this.#contexts.owners.of(this.#envelope, this.#baggage());
  }

  parentContext(): ParentContext<SpanHandle> | undefined {
    const envelope = this.#envelope;
    const { live, rootParent, resolveParent } = this.#contexts.options;
    const active = live ? context.active() : ROOT_CONTEXT;
    const around = active === ROOT_CONTEXT ? undefined : trace.getSpan(active);
    const conversation = nameIn(this.#baggage()?.conversation);
    if (
      envelope === undefined &&
      around === undefined &&
      resolveParent === undefined &&
      conversation === undefined
    ) {
      return undefined;
    }
    const ours = around === undefined ? undefined : scopeIn(active);
    const ambient = around === undefined ? undefined : ambientOf(around);
    const dispatcher = envelope?.parent_tool_use_id;
    const parentCallId = dispatcher === null ? null : nameIn(dispatcher);
    const asked =
      envelope?.traceparent !== undefined ||
      resolveParent !== undefined ||
      rootParent === "ambient";
    return {
      threadId: nameIn(envelope?.thread_id) ?? conversation,
      rootRunId: nameIn(envelope?.root_run_id),
      resumedFromRunId: nameIn(envelope?.resumed_from_run_id),
      parentCallId,
      parentCallKey: nameIn(envelope?.details?.tool_use_id),
      namedSpanId: spanIdIn(envelope?.traceparent),
      ambient,
      ambientCall: ours?.call === undefined ? undefined : { run: ours.run, call: ours.call },
      outerParent: asked ? () => this.#outerParent(ambient, ours?.run.tenantId) : undefined,
    };
  }

  #baggage(): BaggageSubject | undefined {
    const { live, readsBaggage } = this.#contexts.options;
    return live && readsBaggage ? baggageSubject(context.active()) : undefined;
  }

  /** @param tenantId tenant of the run that the active span belongs to, if it is a run of the bridge. */
  #outerParent(
    ambient: SpanHandle | undefined,
    tenantId: string | undefined,
  ): OuterParent<SpanHandle> | undefined {
    const given = this.#given();
    if (given !== undefined) return parentOf(SpanHandle.remote(given, false));
    const event = this.#event;
    if (this.#contexts.options.rootParent !== "ambient" || ambient === undefined) return undefined;
    if (event?.type !== "started" || event.parent_run_id) return undefined;
    if (tenantId !== undefined && tenantId !== event.tenant_id) return undefined;
    return parentOf(ambient);
  }

  #given(): SpanContext | undefined {
    const event = this.#event;
    const envelope = this.#envelope;
    const traceparent = nameIn(envelope?.traceparent);
    if (traceparent !== undefined) {
      const parsed = parseTraceparent(traceparent, nameIn(envelope?.tracestate));
      if (parsed !== undefined) return parsed;
    }
    const { reporter, resolveParent } = this.#contexts.options;
    if (resolveParent === undefined || event === undefined) return undefined;
    // Copies, because the audit row is made from the caller's objects.
    const ask = () =>
      resolveParent(copyFields(event), envelope === undefined ? undefined : copyFields(envelope));
    const resolved = answerOf(PARENT, ask, (error) => {
      this.#contexts.failures++;
      reporter.report(error, HOOK);
    });
    // API functions return a context of zeros if there is no span.
    return resolved !== undefined && trace.isSpanContextValid(resolved) ? resolved : undefined;
  }
}

const HOOK = "resolveParent hook";

const PARENT: AnswerForm<SpanContext> = {
  option: "resolveParent",
  expected: "a span context",
  read: (given) => (isSpanContext(given) ? given : undefined),
};

function isSpanContext(given: unknown): given is SpanContext {
  if (typeof given !== "object" || given === null) return false;
  const { spanId, traceId }: { spanId?: unknown; traceId?: unknown } = given;
  return typeof traceId === "string" && typeof spanId === "string";
}

/** A copy that shares no object with the caller. */
function copyFields<T extends object>(given: T): T {
  const copy = { ...given };
  for (const [field, value] of Object.entries(copy)) {
    if (typeof value === "object") Reflect.set(copy, field, boundedCopy(value, MOST_COPY).value);
  }
  return copy;
}

/** A name from an envelope. Programs without types leave it out as `null` or `""`. */
function nameIn(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** Whether an event says of which run it is. Programs without types may leave that out. */
export function namesRun({ run_id, tenant_id, type }: AgentEvent): boolean {
  return [run_id, tenant_id, type].every((text) => typeof text === "string");
}

/** The span that a `traceparent` names. */
function spanIdIn(value: unknown): string | undefined {
  const text = nameIn(value);
  return text === undefined ? undefined : parseTraceparent(text)?.spanId;
}

function parentOf(handle: SpanHandle): OuterParent<SpanHandle> {
  const { spanId, traceId } = handle.spanContext;
  return { handle, traceId, spanId };
}

/** The active span by its IDs alone. The run would keep the span itself in memory for too long. */
function ambientOf(span: Span): SpanHandle | undefined {
  const spanContext = span.spanContext();
  return trace.isSpanContextValid(spanContext) ? SpanHandle.remote(spanContext, false) : undefined;
}
