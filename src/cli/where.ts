import { parseArgs } from "node:util";
import { isUuid, RunIds } from "../events/door.ts";
import { CliError } from "./cli-error.ts";
import type { Command, Io } from "./command.ts";
import { DEFAULT_JAEGER, jaegerTrace } from "./endpoints.ts";
import { safe } from "./terminal/text.ts";

const OPTIONS = {
  tenant: {
    type: "string",
    value: "T",
    about:
      "Tenant of the run. Required if the run ID is not a UUID, or if another tenant used the run ID first.",
  },
  root: {
    type: "string",
    value: "RUN_ID",
    about: "Root run, if this run is a child. Its trace is that of the root run.",
  },
  jaeger: {
    type: "string",
    value: "URL",
    about: `URL of Jaeger's UI. Default: ${DEFAULT_JAEGER}`,
  },
  json: { type: "boolean", about: "Print one JSON object." },
} as const;

/** Says where the trace of a run is, without asking anybody. */
export const where: Command = {
  name: "where",
  summary: "Print trace ID, span ID and Jaeger URL of a run. No server is needed.",
  operands: "RUN_ID",
  least: 1,
  most: 1,
  options: OPTIONS,
  notes: [
    "The trace ID of a root run is its run ID, and its span ID is the second half of it. If the run ID is not a UUID, both are hashes of tenant and run ID.",
    "If two tenants use the same run ID, the run of the second tenant gets hashed IDs. The run ID does not tell which tenant was first, so --tenant prints both addresses.",
    "This applies to spans made with this package's ID generator, and to runs without an external parent (traceparent).",
  ],
  run: async (args, io) => {
    const { values, positionals } = parseArgs({ args, options: OPTIONS, allowPositionals: true });
    const [runId = ""] = positionals;
    const { tenant, root } = values;
    const own = idsOf(runId, tenant);
    const { traceId } = root === undefined ? own : idsOf(root, tenant);
    const jaeger = values.jaeger ?? DEFAULT_JAEGER;
    const found = { traceId, spanId: own.spanId, address: jaegerTrace(jaeger, traceId) };
    const second = secondPlace(root ?? runId, tenant, root !== undefined, jaeger);
    if (values.json === true) io.out.json(asJson(found, second));
    else show(found, second, tenant ?? "", io);
    return 0;
  },
};

interface Found {
  readonly traceId: string;
  /** Absent where it is not known: that of a child in the trace of a second tenant's root. */
  readonly spanId: string | undefined;
  readonly address: string;
}

/** Where the run is if another tenant was first with the UUID of its trace; else there is no such place. */
function secondPlace(
  topId: string,
  tenant: string | undefined,
  isChild: boolean,
  jaeger: string,
): Found | undefined {
  const top = topId.toLowerCase();
  if (tenant === undefined || tenant === "" || !isUuid(top)) return undefined;
  const { spanId, traceId } = RunIds.hashed(tenant, top);
  return { traceId, spanId: isChild ? undefined : spanId, address: jaegerTrace(jaeger, traceId) };
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

function asJson(found: Found, second: Found | undefined): string {
  return JSON.stringify(
    second === undefined ? told(found) : { ...told(found), second: told(second) },
  );
}

function told({ address, spanId, traceId }: Found) {
  return { trace_id: traceId, span_id: spanId, jaeger: address };
}

function show(found: Found, second: Found | undefined, tenant: string, io: Io): void {
  showOne(found, io);
  if (second === undefined) return;
  const { out } = io;
  out.line();
  const was = `If another tenant was first with this run id, the run of ${safe(tenant)} is here:`;
  out.line(out.style("dim", was));
  showOne(second, io);
}

function showOne({ address, spanId, traceId }: Found, { out }: Io): void {
  out.line(`trace   ${traceId}`);
  if (spanId !== undefined) out.line(`span    ${spanId}`);
  out.line(`Jaeger  ${out.style("cyan", address)}`);
}
