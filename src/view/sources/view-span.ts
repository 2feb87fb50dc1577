import type { FinishedSpan, SpanAttributes, StartedSpan } from "../../bridge/door.ts";
import { type Fields, messageOf, readSpan } from "../../cli/door.ts";
import type { Instant } from "../../events/door.ts";
import type {
  SpanKindName,
  ViewAttributes,
  ViewSpan,
  ViewSpanEvent,
  ViewSpanLink,
  ViewValue,
} from "../format.ts";
import { withVocabulary } from "./other-span.ts";

/** A span as the page reads it. */
export function viewSpanOf(span: StartedSpan | FinishedSpan): ViewSpan {
  const { events, links, message, parentSpanId } = span;
  const attributes = viewAttributes(span.attributes);
  const runId = attributes["entelix.run_id"];
  // Without spreads, which would take most of the time.
  const shown: { -readonly [N in keyof ViewSpan]: ViewSpan[N] } = {
    trace_id: span.traceId,
    span_id: span.spanId,
    kind: kindOf(attributes),
    name: span.name,
    start_ns: nanoseconds(span.start),
    end_ns: "end" in span ? nanoseconds(span.end) : null,
    failed: span.failed,
    attributes,
    events: events.length === 0 ? NONE : events.map(viewEvent),
    links: links.length === 0 ? NONE : links.map(viewLink),
  };
  if (parentSpanId !== undefined) shown.parent_span_id = parentSpanId;
  if (typeof runId === "string" && runId !== "") shown.run_id = runId;
  if (message !== undefined) shown.message = message;
  return shown;
}

const NONE: readonly never[] = [];

function viewEvent({ attributes, name, time }: StartedSpan["events"][number]): ViewSpanEvent {
  return { name, time_ns: nanoseconds(time), attributes: viewAttributes(attributes) };
}

function viewLink({ attributes, spanId, traceId }: StartedSpan["links"][number]): ViewSpanLink {
  return { trace_id: traceId, span_id: spanId, attributes: viewAttributes(attributes) };
}

/** A span of an OTLP request. A damaged span is skipped and reported to `onProblem`. */
export function viewSpanIn(
  raw: Fields,
  onProblem: (problem: string) => void,
): ViewSpan | undefined {
  try {
    const read = readSpan(raw);
    if (read !== undefined) {
      const span = viewSpanOf(read);
      return span.run_id === undefined ? withVocabulary(withRemote(span, raw.flags)) : span;
    }
    onProblem("a span without ids or times");
  } catch (error) {
    onProblem(`a span that cannot be read: ${messageOf(error)}`);
  }
  return undefined;
}

/** Whether the parent of a span is in another process. Only the outermost span of others is looked for. */
function withRemote(span: ViewSpan, flags: unknown): ViewSpan {
  if (typeof flags !== "number" || (flags & HAS_IS_REMOTE) === 0) return span;
  return { ...span, remote_parent: (flags & IS_REMOTE) !== 0 };
}

// https://github.com/open-telemetry/opentelemetry-proto: `SpanFlags`.
const HAS_IS_REMOTE = 0x100;
const IS_REMOTE = 0x200;

/** Only spans of this package name a run. Spans of others may have the same operation names. */
function kindOf(attributes: ViewAttributes): SpanKindName {
  const runId = attributes["entelix.run_id"];
  if (typeof runId !== "string" || runId === "") return "other";
  switch (attributes["gen_ai.operation.name"]) {
    case "invoke_agent":
    case "invoke_workflow":
      return "run";
    case "execute_tool":
      return "tool";
    case "chat":
    case "embeddings":
      return "model";
    default:
      return attributes["entelix.step.name"] === undefined ? "other" : "step";
  }
}

function viewAttributes(attributes: SpanAttributes): ViewAttributes {
  if (isShown(attributes)) return attributes;
  const shown: Record<string, ViewValue> = {};
  for (const name in attributes) {
    const value = Object.hasOwn(attributes, name) ? attributes[name] : undefined;
    if (value === undefined) continue;
    if (name === "__proto__") Object.defineProperty(shown, name, { value, enumerable: true });
    else shown[name] = viewValue(value);
  }
  return shown;
}

/** Whether the attributes need no copy: most have texts and numbers only. */
function isShown(
  attributes: SpanAttributes,
): attributes is Readonly<Record<string, string | number | boolean>> {
  for (const name in attributes) {
    const value = attributes[name];
    if (value === undefined || typeof value === "object") return false;
    if (name === "__proto__" || !Object.hasOwn(attributes, name)) return false;
  }
  return true;
}

function viewValue(value: NonNullable<SpanAttributes[string]>): ViewValue {
  return typeof value === "object" ? value.map((each) => each ?? null) : value;
}

function nanoseconds([seconds, nanos]: Readonly<Instant>): string {
  return seconds === 0 ? String(nanos) : `${seconds}${String(nanos).padStart(9, "0")}`;
}
