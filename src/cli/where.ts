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

/** Prints where the trace of a run is. No server is asked. */
export const where: Command = {
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
    const second = idsOfSecondTenant(root ?? runId, tenant, root !== undefined, jaeger);
    if (values.json === true) io.out.json(asJson(found, second));
    else show(found, second, tenant ?? "", io);
    return 0;
  },
};

interface Found {
  readonly traceId: string;
  /** `undefined` for a child of a second tenant's root, whose span ID is not known. */
  readonly spanId: string | undefined;
  readonly address: string;
}

/** The IDs of the run if another tenant used the UUID of its trace first. `undefined` without a tenant or UUID. */
function idsOfSecondTenant(
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
  if (id === "") throw new CliError("expected a run ID, got an empty text");
  if (tenant !== undefined && tenant !== "") return RunIds.hashed(tenant, id);
  throw new CliError(
    `"${safe(id)}" is not a UUID: its trace also depends on the tenant`,
    `Add --tenant T${dashed(id)}`,
  );
}

/** A hint for a trace ID copied from Jaeger, which is the run ID without dashes. */
function dashed(id: string): string {
  const parts = /^([\da-f]{8})([\da-f]{4})([\da-f]{4})([\da-f]{4})([\da-f]{12})$/i.exec(id);
  return parts === null ? "" : `. For a trace ID, use the run ID: ${parts.slice(1).join("-")}`;
}

function asJson(found: Found, second: Found | undefined): string {
  const first = fieldsOf(found);
  return JSON.stringify(second === undefined ? first : { ...first, second: fieldsOf(second) });
}

function fieldsOf({ address, spanId, traceId }: Found) {
  return { trace_id: traceId, span_id: spanId, jaeger: address };
}

function show(found: Found, second: Found | undefined, tenant: string, io: Io): void {
  showOne(found, io);
  if (second === undefined) return;
  const { out } = io;
  out.line();
  const heading = `If another tenant used this run ID first, the run of ${safe(tenant)} is here:`;
  out.line(out.style("dim", heading));
  showOne(second, io);
}

function showOne({ address, spanId, traceId }: Found, { out }: Io): void {
  out.line(`trace   ${traceId}`);
  if (spanId !== undefined) out.line(`span    ${spanId}`);
  out.line(`Jaeger  ${out.style("cyan", address)}`);
}
