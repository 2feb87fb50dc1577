import { parseArgs } from "node:util";
import { isUuid, RunIds } from "../lifecycle/run-ids.ts";
import { CliError } from "./cli-error.ts";
import type { Command, Io } from "./command.ts";
import { DEFAULT_JAEGER, jaegerTrace } from "./jaeger.ts";
import { safe } from "./terminal/safe-text.ts";

const OPTIONS = {
  tenant: { type: "string", value: "T", about: "The run's tenant: needed where an id is no UUID." },
  root: {
    type: "string",
    value: "RUN_ID",
    about: "The run at the top of the tree, where this run is a child: its trace is the root's.",
  },
  jaeger: {
    type: "string",
    value: "URL",
    about: `Where Jaeger's pages are. Default: ${DEFAULT_JAEGER}`,
  },
  json: { type: "boolean", about: "Print one JSON object." },
} as const;

/** Says where the trace of a run is, without asking anybody. */
export const where: Command = {
  name: "where",
  summary: "Where a run is in Jaeger: trace id, span id, address, from its id alone.",
  operands: "RUN_ID",
  least: 1,
  most: 1,
  options: OPTIONS,
  notes: [
    "The trace id of a root run is its run id, and its span id the last half of it, so no search is needed. A run whose id is no UUID has ids hashed from tenant and run id.",
    "It holds for spans made with this package's id generator, and for runs without a parent from outside (traceparent).",
  ],
  run: async (args, io) => {
    const { values, positionals } = parseArgs({ args, options: OPTIONS, allowPositionals: true });
    const [runId = ""] = positionals;
    const { tenant, root } = values;
    const own = idsOf(runId, tenant);
    const { traceId } = root === undefined ? own : idsOf(root, tenant);
    const address = jaegerTrace(values.jaeger ?? DEFAULT_JAEGER, traceId);
    const found = { traceId, spanId: own.spanId, address };
    if (values.json === true) io.out.json(asJson(found));
    else show(found, root === undefined ? (tenant ?? "") : "", runId, io);
    return 0;
  },
};

interface Found {
  readonly traceId: string;
  readonly spanId: string;
  readonly address: string;
}

function idsOf(id: string, tenant: string | undefined): RunIds {
  const runId = id.toLowerCase();
  const ids = RunIds.fromUuid(runId);
  if (ids !== undefined) return ids;
  if (id === "") throw new CliError("expected a run id, got an empty one");
  if (tenant !== undefined && tenant !== "") return RunIds.hashed(tenant, id);
  throw new CliError(
    `"${safe(id)}" is no UUID: its trace depends on the tenant too`,
    `Say which: --tenant T${dashed(id)}`,
  );
}

/** A trace id, as Jaeger shows it, is the run id without its dashes. */
function dashed(id: string): string {
  const parts = /^([\da-f]{8})([\da-f]{4})([\da-f]{4})([\da-f]{4})([\da-f]{12})$/i.exec(id);
  return parts === null
    ? ""
    : `. Or is it a trace id? The run's has dashes: ${parts.slice(1).join("-")}`;
}

function asJson({ traceId, spanId, address }: Found): string {
  return JSON.stringify({ trace_id: traceId, span_id: spanId, jaeger: address });
}

function show(found: Found, tenant: string, runId: string, { out }: Io): void {
  out.line(`trace   ${found.traceId}`);
  out.line(`span    ${found.spanId}`);
  out.line(`Jaeger  ${out.style("cyan", found.address)}`);
  if (tenant === "" || !isUuid(runId.toLowerCase())) return;
  const other = RunIds.hashed(tenant, runId.toLowerCase());
  out.line();
  out.line(out.style("dim", "Had another tenant used this run id first, it would be there:"));
  out.line(`trace   ${other.traceId}`);
}
