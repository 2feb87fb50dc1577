// What the owner of a failed run sees, as one line of JSON for each case: spans and audit rows of the
// outermost run and of its calls, and whether a recording of it makes the same ones again.
import { liveAndReplayed } from "../live-and-replayed.mjs";
import { CASES } from "./cases.mjs";

/**
 * Runs every case and prints what its spans and rows say.
 *
 * @param runCase runs one case with a sink, and resolves when all its events were sent.
 */
export async function report(runCase) {
  for (const failure of CASES) {
    const { isIdentical, isVerified, rows, spans } = await liveAndReplayed((sink) =>
      runCase(failure, sink),
    );
    const line = { case: failure.name, ...seen(spans, rows), isVerified, isIdentical };
    console.log(JSON.stringify(line));
  }
}

function seen(spans, rows) {
  const root = spans.find(
    ({ name, parentSpanContext }) =>
      name.startsWith("invoke_agent") && parentSpanContext === undefined,
  );
  const { attributes } = root;
  const calls = spans
    .filter(({ name }) => name.startsWith("execute_tool"))
    .map((span) => callOf(span, rows));
  return {
    outcome: attributes["entelix.run.outcome"],
    kind: attributes["entelix.failure.kind"] ?? null,
    origin: attributes["entelix.failure.origin"] ?? null,
    tool: attributes["entelix.failure.tool_name"] ?? null,
    code: attributes["entelix.error.wire_code"] ?? null,
    end: endOf(root.spanContext().spanId, rows),
    calls: calls.sort((a, b) => (a.tool < b.tool ? -1 : 1)),
  };
}

const COUNTS = new Set(["tool_calls", "tool_errors", "approved_calls", "denied_calls"]);

/** The rows of a run that say how it ended. What they count, `calls` says in more detail. */
function endOf(spanId, rows) {
  return rows
    .filter((row) => row.span_id === spanId && row.event.kind !== "entelix.run_started")
    .map(({ event: { timestamp: _, ...event } }) =>
      Object.fromEntries(Object.entries(event).filter(([field]) => !COUNTS.has(field))),
    );
}

function callOf(span, rows) {
  const { spanId } = span.spanContext();
  const result = rows.find((row) => row.span_id === spanId && row.event.kind === "tool_result");
  const { attributes } = span;
  return {
    tool: attributes["gen_ai.tool.name"],
    outcome: attributes["entelix.tool.outcome"],
    kind: attributes["entelix.tool.error_kind"] ?? null,
    code: attributes["entelix.error.wire_code"] ?? null,
    toModel: result?.event.is_error ? result.event.content : null,
  };
}
