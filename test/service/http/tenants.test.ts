import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ReadableSpan } from "@opentelemetry/sdk-trace-node";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type AuditRow, MemorySessionLog } from "../../../src/entries/audit.ts";
import { RunIds } from "../../../src/entries/context.ts";
import { stringifyExact } from "../../../src/entries/events.ts";
import { formatRfc3339 } from "../../../src/events/door.ts";
import { tokenDigest } from "../../../src/service/http/tokens/token-file.ts";
import { RunEvents, second } from "../../support/run-events.ts";
import { waitFor } from "../../support/wait-for.ts";
import { serveHere } from "./support/in-process.ts";

const RUN = "018f3c7a-0000-7000-8000-00000000000a";
const TENANTS = ["acme", "beta"] as const;
/** More lines than wait to be put in order, so that all before them are played. */
const FILLER = 300;

let folder = "";
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "tenants-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** The service with a token for each tenant, named as the tenant is. */
async function serve() {
  const spans: ReadableSpan[] = [];
  const audit = new MemorySessionLog();
  const { errors, service, url } = await serveHere(spans, {
    journal: join(folder, "journal"),
    lookback: 1_000,
    audit,
    tokens: TENANTS.map((tenant) => ({
      tenant,
      digest: tokenDigest(tenant),
      trusted: false,
      rate: undefined,
      metrics: false,
      runs: false,
    })),
  });
  return {
    audit,
    errors,
    /** Sends the lines and says what became of each. */
    async send(token: string, lines: readonly string[]): Promise<unknown> {
      const headers = {
        authorization: `Bearer ${token}`,
        "content-type": "application/x-ndjson",
      };
      const body = lines.join("\n");
      const response = await fetch(`${url}/v1/events`, { method: "POST", headers, body });
      const { accepted, rejected }: Record<string, unknown> = JSON.parse(await response.text());
      return [response.status, accepted, rejected];
    },
    metrics: async () => (await fetch(`${url}/metrics`)).text(),
    spansOf: (tenant: string) =>
      spans.filter(({ attributes }) => attributes["entelix.tenant_id"] === tenant),
    [Symbol.asyncDispose]: () => service.stop(),
  };
}

function line(at: number, event: object): string {
  return stringifyExact({ timestamp: formatRfc3339(second(at)), ...event });
}

function filler(): string[] {
  const run = new RunEvents("018f3c7a-0000-7000-8000-0000000000ff", "beta");
  return Array.from({ length: FILLER }, (_, n) => line(100 + n, run.toolStart(`call_${n}`)));
}

const rowOf = ({ event, span_id, trace_id }: AuditRow) => ({
  kind: event.kind,
  trace_id,
  span_id,
});

describe("two tokens and one run id", () => {
  it("are two runs: each tenant's events make its spans and its rows, without a start too", async () => {
    await using service = await serve();
    const [first, second] = [new RunEvents(RUN, "beta"), new RunEvents(RUN, "acme")];
    expect(await service.send("beta", [line(0, first.started("squatter"))])).toEqual([200, 1, 0]);
    const events = [
      line(1, second.toolStart("call_1")),
      line(2, second.toolComplete("call_1")),
      line(3, second.failed()),
    ];
    expect(await service.send("acme", events)).toEqual([200, 3, 0]);
    expect(await service.send("beta", [line(4, first.complete())])).toEqual([200, 1, 0]);
    expect(await service.send("beta", filler())).toEqual([200, FILLER, 0]);
    const ended = () => TENANTS.map((tenant) => service.spansOf(tenant).length);
    await waitFor(() => expect(ended()).toEqual([2, 1]));

    const ids = RunIds.hashed("acme", RUN);
    const callId = ids.childSpanId("t", "call_1");
    const [call, run] = service.spansOf("acme");
    expect(call?.name).toBe("execute_tool fetch");
    expect(call?.spanContext()).toMatchObject({ traceId: ids.traceId, spanId: callId });
    expect(call?.parentSpanContext?.spanId).toBe(ids.spanId);
    expect(run?.spanContext()).toMatchObject({ traceId: ids.traceId, spanId: ids.spanId });
    expect(run?.attributes).toMatchObject({
      "entelix.run_id": RUN,
      "entelix.run.outcome": "failed",
      "entelix.failure.kind": "model_dispatch",
      "entelix.audit.ordinal": 4,
    });
    const rows = await service.audit.loadSince({ tenant_id: "acme", thread_id: RUN }, 0);
    const place = { trace_id: ids.traceId, span_id: callId };
    expect(rows.map(rowOf)).toEqual([
      { kind: "tool_call", ...place },
      { kind: "tool_result", ...place },
      { kind: "error", ...place, span_id: ids.spanId },
      { kind: "entelix.run_ended", ...place, span_id: ids.spanId },
    ]);

    // The first tenant's run is as it would be alone.
    const [other] = service.spansOf("beta");
    expect(other?.spanContext().traceId).toBe(RUN.replaceAll("-", ""));
    expect([other?.attributes["entelix.run.outcome"], other?.links]).toEqual(["complete", []]);
    const others = await service.audit.loadSince({ tenant_id: "beta", thread_id: RUN }, 0);
    expect(others.map(({ event }) => event.kind)).toEqual([
      "entelix.run_started",
      "entelix.run_ended",
    ]);

    const metrics = await service.metrics();
    expect(metrics).toContain('entelix_ingest_processor_tenant_conflicts_total{tenant="acme"} 1\n');
    expect(metrics).toContain('entelix_ingest_processor_tenant_conflicts_total{tenant="beta"} 0\n');
    expect(metrics).not.toContain("other_tenant");
    expect(service.errors).toEqual([]);
  });
});
