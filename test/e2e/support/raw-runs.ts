import { v7 } from "uuid";
import { traceId } from "./fresh-ids.ts";

/** A span as OTLP/JSON has it. */
export interface RawSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: 1;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly { readonly key: string; readonly value: object }[];
  readonly status?: { readonly code: 2; readonly message: string };
}

export interface RawRun {
  readonly runId: string;
  readonly traceId: string;
  readonly root: RawSpan;
  readonly tools: readonly RawSpan[];
}

/** Tool calls of a {@link rawRun}. */
const TOOLS = 3;

/** The spans of a root run, to be sent as a test likes: in pieces, in any order, from several processes. */
export function rawRun(
  outcome: "complete" | "failed" | "interrupted",
  more: Readonly<Record<string, string>> = {},
): RawRun {
  const runId = v7();
  const trace = traceId(runId);
  const end = Date.now();
  const common = { "entelix.run_id": runId, "entelix.tenant_id": "acme", ...more };
  const failure = {
    attributes: { "entelix.failure.kind": "internal", "error.type": "internal" },
    status: { code: 2, message: "it broke" },
  } as const;
  const tools = Array.from({ length: TOOLS }, (_, index) =>
    rawSpan(trace, toolSpanId(trace, index), `execute_tool fetch`, end, {
      parentSpanId: trace.slice(16),
      attributes: { ...common, "gen_ai.operation.name": "execute_tool" },
    }),
  );
  const root = rawSpan(trace, trace.slice(16), "invoke_agent raw", end, {
    attributes: {
      ...common,
      "gen_ai.operation.name": "invoke_agent",
      "gen_ai.agent.name": "raw",
      "entelix.run.outcome": outcome,
      ...(outcome === "failed" ? failure.attributes : {}),
    },
    ...(outcome === "failed" ? { status: failure.status } : {}),
  });
  return { runId, traceId: trace, root, tools };
}

/** How many spans a {@link rawRun} has. */
export const WHOLE = TOOLS + 1;

export function spansOf({ root, tools }: RawRun): readonly RawSpan[] {
  return [...tools, root];
}

/** A request of OTLP/JSON. */
export function requestOf(spans: readonly RawSpan[], service = "e2e-raw"): string {
  return JSON.stringify({
    resourceSpans: [
      {
        resource: { attributes: attributes({ "service.name": service }) },
        scopeSpans: [{ scope: { name: "entelix-otel" }, spans }],
      },
    ],
  });
}

/** Unlike the root's, which begins with a UUID's variant, it begins with zeros. */
function toolSpanId(trace: string, index: number): string {
  return (index + 1).toString(16).padStart(8, "0") + trace.slice(24);
}

function rawSpan(
  trace: string,
  spanId: string,
  name: string,
  endMs: number,
  {
    attributes: values,
    ...more
  }: Pick<RawSpan, "parentSpanId" | "status"> & {
    readonly attributes: Readonly<Record<string, string>>;
  },
): RawSpan {
  return {
    traceId: trace,
    spanId,
    name,
    kind: 1,
    startTimeUnixNano: `${endMs - 1000}000000`,
    endTimeUnixNano: `${endMs}000000`,
    attributes: attributes(values),
    ...more,
  };
}

function attributes(values: Readonly<Record<string, string>>): RawSpan["attributes"] {
  return Object.entries(values).map(([key, stringValue]) => ({ key, value: { stringValue } }));
}
