import type { RunDetail, ViewRow, ViewSpan } from "../../../src/view/format.ts";

/** When the spans of tests begin: Unix time in ns. */
export const T0 = 1_795_228_846_599_000_000n;

/** Unix time in ns, as text, so many ms after {@link T0}. */
export function at(ms: number): string {
  return String(T0 + BigInt(Math.round(ms * 1e6)));
}

export interface SpanTimes {
  /** ms after {@link T0}; `null` as end: it is open. */
  readonly from: number;
  readonly to: number | null;
}

/** A span of a run, with only what a test is about. */
export function viewSpan(
  id: string,
  parent: string | undefined,
  { from, to }: SpanTimes,
  rest: Partial<ViewSpan> = {},
): ViewSpan {
  return {
    trace_id: "trace",
    span_id: id,
    ...(parent === undefined ? {} : { parent_span_id: parent }),
    run_id: "run",
    kind: "step",
    name: id,
    start_ns: at(from),
    end_ns: to === null ? null : at(to),
    failed: false,
    attributes: {},
    events: [],
    links: [],
    ...rest,
  };
}

/** A call of a tool named `search`. */
export function toolSpan(
  id: string,
  parent: string,
  times: SpanTimes,
  rest: Partial<ViewSpan> = {},
): ViewSpan {
  const attributes = { "gen_ai.tool.name": "search", ...rest.attributes };
  return viewSpan(id, parent, times, {
    kind: "tool",
    name: "execute_tool search",
    ...rest,
    attributes,
  });
}

/** A segment of a run of an agent. */
export function runSpan(
  id: string,
  parent: string | undefined,
  times: SpanTimes,
  rest: Partial<ViewSpan> = {},
): ViewSpan {
  const attributes = { "gen_ai.agent.name": "planner", ...rest.attributes };
  return viewSpan(id, parent, times, {
    kind: "run",
    name: "invoke_agent planner",
    ...rest,
    attributes,
  });
}

export function viewRow(ordinal: number, rest: Partial<ViewRow> = {}): ViewRow {
  return {
    tenant_id: "acme",
    thread_id: "thread",
    ordinal,
    kind: "tool_call",
    run_id: "run",
    trace_id: "trace",
    span_id: null,
    event_id: null,
    hash: `hash ${ordinal}`,
    prev: `hash ${ordinal - 1}`,
    digest: `digest ${ordinal}`,
    ...rest,
  };
}

export function runDetail(spans: readonly ViewSpan[], rest: Partial<RunDetail> = {}): RunDetail {
  return {
    format: "entelix-otel/view",
    version: 1,
    revision: 1,
    run: {
      key: "run",
      run_id: "run",
      tenant_id: "acme",
      trace_id: "trace",
      start_ns: at(0),
      end_ns: at(1000),
      outcome: "complete",
      spans: spans.length,
      rows: 0,
      child_runs: 0,
    },
    spans,
    rows: [],
    rows_from: "none",
    related: [],
    content: true,
    ...rest,
  };
}
