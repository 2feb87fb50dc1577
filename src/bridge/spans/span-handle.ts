import {
  type Attributes,
  type AttributeValue,
  type Context,
  createContextKey,
  type Link as OtelLink,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  trace,
} from "@opentelemetry/api";
import {
  type AgentEvent,
  type AttributeName,
  checkGiven,
  type KnownAttributes,
  type SpanAttributes,
  type SpanAttributeValue,
} from "../../events/door.ts";
import type { Link, Run } from "../lifecycle/door.ts";
import type { SegmentRows } from "../run-rows.ts";
import { type ContentCuts, CutCounts } from "./content.ts";
import { plainContext } from "./plain-context.ts";

/** The API's key of the active span, read from its public setter. */
const SPAN_KEY = learnSpanKey();

/** Marks contexts with a derived parent, for which the sampler of this package decides as for a root. */
const DERIVED_KEY = createContextKey("entelix-otel.derived-parent");

/**
 * The driver's handle of a span. It is also the OpenTelemetry context of the span's children, to save an
 * object with a map.
 *
 * After {@link release} it holds only the span context, so that a closed run can keep it as the parent of
 * late children.
 */
export class SpanHandle implements Context, ContentCuts {
  readonly spanContext: SpanContext;
  /** Whether attributes are recorded: false for spans that are not sampled, and after the end. */
  recording: boolean;
  /** Whether it was recording at its start, so that its children get spans. */
  recorded: boolean;
  /** Whether another ID generator chose its IDs, so that none can be derived from them. */
  foreign = false;
  /** The audit rows that its end waits for. Created with the first one. */
  rows: SegmentRows | undefined = undefined;
  readonly #derived: boolean;
  #span: Span | undefined;
  /** Size of its cut content. Created with the first cut. */
  #cuts: CutCounts | undefined;

  constructor(span: Span, derived = false) {
    this.#span = span;
    this.spanContext = span.spanContext();
    this.recording = span.isRecording();
    this.recorded = this.recording;
    this.#derived = derived;
  }

  /** A handle for a span of another process or tracer. */
  static remote(spanContext: SpanContext, derived: boolean): SpanHandle {
    return new SpanHandle(trace.wrapSpanContext(spanContext), derived);
  }

  /** A handle for a span of the bridge that has ended. */
  static ended(spanContext: SpanContext, recorded: boolean): SpanHandle {
    const handle = new SpanHandle(trace.wrapSpanContext(spanContext));
    handle.recorded = recorded;
    return handle;
  }

  get span(): Span {
    this.#span ??= trace.wrapSpanContext(this.spanContext);
    return this.#span;
  }

  /** Sets an attribute, unless the value is `undefined` or the span has ended. */
  set(name: AttributeName, value: AttributeValue | undefined): void {
    if (value !== undefined) this.#span?.setAttribute(name, value);
  }

  /** Sets the size of the cut content. */
  cut(bytes: number, droppedMessages: number): void {
    this.#cuts ??= new CutCounts();
    this.#cuts.cut(bytes, droppedMessages);
    this.set("entelix.content.cut_bytes", this.#cuts.bytes);
    if (this.#cuts.messages > 0) {
      this.set("entelix.content.dropped_messages", this.#cuts.messages);
    }
  }

  /** Sets further attributes of the source. */
  setAttributes(attributes: SpanAttributes): void {
    const span = this.#span;
    if (span === undefined) return;
    for (const name in attributes) {
      if (!Object.hasOwn(attributes, name)) continue;
      const value = attributes[name];
      if (value !== undefined) span.setAttribute(name, ownValue(value));
    }
  }

  /** Drops the reference to the ended span. */
  release(): void {
    this.#span = undefined;
    this.#cuts = undefined;
    this.recording = false;
  }

  getValue(key: symbol): unknown {
    if (key === SPAN_KEY) return this.span;
    return key === DERIVED_KEY && this.#derived ? true : undefined;
  }

  setValue(key: symbol, value: unknown): Context {
    return this.#toContext().setValue(key, value);
  }

  deleteValue(key: symbol): Context {
    return this.#toContext().deleteValue(key);
  }

  #toContext(): Context {
    const context = trace.setSpan(ROOT_CONTEXT, this.span);
    return this.#derived ? context.setValue(DERIVED_KEY, true) : context;
  }
}

/**
 * The parent of a span inside a run: the given one, else the run. `undefined` if the run was not sampled when
 * it opened. Nothing inside it gets a span then.
 */
export function parentIn(
  run: Run<SpanHandle>,
  around: SpanHandle | undefined,
): SpanHandle | undefined {
  if (around?.recorded === true) return around;
  return run.handle?.recorded === true ? run.handle : undefined;
}

/** Attributes with mutable arrays, as the API's types require. */
export function attributesOf(given: SpanAttributes): Attributes {
  const attributes: Attributes = {};
  for (const name in given) {
    if (!Object.hasOwn(given, name)) continue;
    const value = given[name];
    if (value !== undefined) attributes[name] = ownValue(value);
  }
  return attributes;
}

function ownValue(value: SpanAttributeValue): AttributeValue {
  return typeof value === "object" ? [...value] : value;
}

/**
 * Whether the parent in a context has derived IDs and was never seen as a span. A sampler must then
 * decide by trace ID, as the process of the root run does.
 */
export function isDerivedParent(context: Context): boolean {
  checkGiven(context, "context", "getValue");
  return context.getValue(DERIVED_KEY) === true;
}

function learnSpanKey(): symbol {
  let learnt: symbol | undefined;
  const probe: Context = {
    getValue: () => undefined,
    setValue: (key) => {
      learnt = key;
      return probe;
    },
    deleteValue: () => probe,
  };
  trace.setSpanContext(probe, { traceId: "", spanId: "", traceFlags: 0 });
  if (learnt === undefined)
    throw new Error("@opentelemetry/api: trace.setSpan sets no context key");
  return learnt;
}

export function toOtelLink({ kind, to }: Link<SpanHandle>): OtelLink {
  const attributes: KnownAttributes = { "entelix.link.kind": kind };
  // Independent of whether this process knows the other run, since a replay of two recordings does.
  return { context: plainContext(to.spanContext), attributes };
}

export interface SpanRefs {
  readonly trace_id: string;
  /** Absent if another ID generator chose the span ID of a closed call. */
  readonly span_id?: string;
}

/** The data of a call for its row: its span while that is open, and its derived ID. */
export interface CallSpan {
  readonly handle?: SpanHandle | undefined;
  readonly spanId: string;
}

/** The IDs of the span of a run or of one of its calls. */
export function spanRefs(run: Run<SpanHandle>, call?: CallSpan | undefined): SpanRefs {
  const own = run.handle?.recorded ? run.handle.spanContext : undefined;
  const trace_id = own?.traceId ?? run.traceId;
  if (call === undefined) return { trace_id, span_id: own?.spanId ?? run.spanId };
  const open = call.handle?.spanContext.spanId;
  if (open !== undefined) return { trace_id, span_id: open };
  const foreign = own !== undefined && own.spanId !== run.spanId;
  if (foreign) return { trace_id };
  return { trace_id, span_id: call.spanId };
}

/** The call of an event that opened or closed no call. */
export function callIn(run: Run<SpanHandle>, event: AgentEvent): CallSpan | undefined {
  // An approval comes before its call: a known call with this ID is an earlier one.
  if (!("tool_use_id" in event) || event.type === "tool_call_approved") return undefined;
  const id = event.tool_use_id;
  const last = run.history.last(id);
  if (last !== undefined || event.type === "tool_start") return last;
  // A closed run stores only the numbers of its calls.
  const occurrence = run.history.occurrences(id);
  return occurrence === 0 ? undefined : { spanId: run.ids.childSpanId("t", id, occurrence) };
}
