import type { FinishedSpan, SpanAttributes, StartedSpan } from "../../bridge/door.ts";
import { type Fields, messageOf, readSpan } from "../../cli/door.ts";
import type { Instant } from "../../events/door.ts";
import type { SpanKindName, ViewAttributes, ViewSpan, ViewValue } from "../format.ts";
import { withVocabulary } from "./other-span.ts";

/** A span as the page reads it. */
export function viewSpanOf(span: StartedSpan | FinishedSpan): ViewSpan {
  const { events, failed, links, message, name, parentSpanId } = span;
  const attributes = viewAttributes(span.attributes);
  const runId = attributes["entelix.run_id"];
  return {
    trace_id: span.traceId,
    span_id: span.spanId,
    ...(parentSpanId === undefined ? {} : { parent_span_id: parentSpanId }),
    ...(typeof runId === "string" && runId !== "" ? { run_id: runId } : {}),
    kind: kindOf(attributes),
    name,
    start_ns: nanoseconds(span.start),
    end_ns: "end" in span ? nanoseconds(span.end) : null,
    failed,
    ...(message === undefined ? {} : { message }),
    attributes,
    events: events.map((event) => ({
      name: event.name,
      time_ns: nanoseconds(event.time),
      attributes: viewAttributes(event.attributes),
    })),
    links: links.map((link) => ({
      trace_id: link.traceId,
      span_id: link.spanId,
      attributes: viewAttributes(link.attributes),
    })),
  };
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
      return span.run_id === undefined ? withVocabulary(span) : span;
    }
    onProblem("a span without ids or times");
  } catch (error) {
    onProblem(`a span that cannot be read: ${messageOf(error)}`);
  }
  return undefined;
}

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
  const shown: Record<string, ViewValue> = {};
  for (const name in attributes) {
    const value = Object.hasOwn(attributes, name) ? attributes[name] : undefined;
    if (value === undefined) continue;
    if (name === "__proto__") Object.defineProperty(shown, name, { value, enumerable: true });
    else shown[name] = viewValue(value);
  }
  return shown;
}

function viewValue(value: NonNullable<SpanAttributes[string]>): ViewValue {
  return typeof value === "object" ? value.map((each) => each ?? null) : value;
}

function nanoseconds([seconds, nanos]: Readonly<Instant>): string {
  return seconds === 0 ? String(nanos) : `${seconds}${String(nanos).padStart(9, "0")}`;
}
