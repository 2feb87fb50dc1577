// Prints finished spans as trees, one a trace.

/** @param spans what an `InMemorySpanExporter` holds. */
export function printTraces(spans) {
  const known = new Set(spans.map((span) => span.spanContext().spanId));
  for (const root of spans) {
    const parent = root.parentSpanContext?.spanId;
    if (parent !== undefined && known.has(parent)) continue;
    console.log(`trace ${root.spanContext().traceId}`);
    printBelow(root, spans, "", "");
  }
}

function printBelow(span, spans, indent, branch) {
  console.log(`${indent}${branch}${span.name}  ${milliseconds(span)} ms  ${outcome(span)}`);
  const below = indent + { "": "", "├─ ": "│  ", "└─ ": "   " }[branch];
  const children = spans
    .filter(({ parentSpanContext }) => parentSpanContext?.spanId === span.spanContext().spanId)
    .sort((a, b) => seconds(a.startTime) - seconds(b.startTime));
  for (const [index, child] of children.entries()) {
    printBelow(child, spans, below, index === children.length - 1 ? "└─ " : "├─ ");
  }
}

function outcome({ attributes, status }) {
  const said =
    attributes["entelix.run.outcome"] ??
    attributes["entelix.tool.outcome"] ??
    attributes["entelix.step.outcome"] ??
    "done";
  const why = attributes["entelix.failure.kind"] ?? attributes["entelix.tool.error_kind"];
  return [said, why, status.message].filter((part) => part !== undefined).join(": ");
}

const seconds = ([whole, nanos]) => whole + nanos / 1e9;

const milliseconds = ({ duration }) => Math.round(seconds(duration) * 1000);
