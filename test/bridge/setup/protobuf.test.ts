import { afterEach, describe, expect, it, vi } from "vitest";
import type { Tracing } from "../../../src/bridge/setup/tracing.ts";
import { setupTracing } from "../../../src/entries/setup.ts";
import { OtlpServer } from "../../support/otlp-server.ts";
import { waitFor } from "../../support/wait-for.ts";
import { isolateProcess } from "./isolation.ts";
import { keepReports } from "./reports.ts";
import { sendRun } from "./sample-run.ts";

isolateProcess();
afterEach(() => vi.restoreAllMocks());

function endSpans(tracing: Tracing, count: number): void {
  const tracer = tracing.tracerProvider.getTracer("app");
  for (let n = 0; n < count; n++) tracer.startSpan(`s${n}`).end();
}

describe("without a variable for the protocol", () => {
  it("a run is sent in protobuf, as it is in JSON", async () => {
    const sent = [];
    for (const protocol of ["", "http/json"]) {
      process.env.OTEL_EXPORTER_OTLP_TRACES_PROTOCOL = protocol;
      await using server = await OtlpServer.start();
      const tracing = setupTracing({
        serviceName: "agents",
        endpoint: server.url,
        headers: { "x-key": "k1" },
        register: false,
      });
      sendRun(tracing.createBridge());
      await tracing.shutdown();
      expect(server.faults).toEqual([]);
      expect(tracing.diagnostics()).toMatchObject({ ended: 2, exported: 2, pending: 0 });
      const [request] = server.requests;
      expect(request?.headers["content-type"]).toBe(
        protocol === "http/json" ? "application/json" : "application/x-protobuf",
      );
      expect(request?.headers["x-key"]).toBe("k1");
      const { "service.instance.id": _, ...resource } = server.spans[0]?.resource ?? {};
      expect(resource).toMatchObject({ "service.name": "agents" });
      sent.push(server.spans.map(({ name, attributes }) => ({ name, attributes })));
    }
    expect(sent[0]).toHaveLength(2);
    const withoutIds = (text: string) => text.replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, "ID");
    expect(withoutIds(JSON.stringify(sent[0]))).toBe(withoutIds(JSON.stringify(sent[1])));
  });

  it("a burst of 20,000 spans loses none, which the stock queue of 2,048 does", async () => {
    await using server = await OtlpServer.start();
    const tracing = setupTracing({ endpoint: server.url, shutdownTimeoutMs: 100_000 });
    endSpans(tracing, 20_000);
    expect(tracing.diagnostics()).toMatchObject({ ended: 20_000, dropped: 0 });
    await tracing.shutdown();
    // A server that is slow to answer, as this process is on a busy machine, is sent a request again.
    expect(new Set(server.spans.map(({ spanId }) => spanId)).size).toBe(20_000);
    expect(tracing.diagnostics()).toMatchObject({ exported: 20_000, failed: 0, pending: 0 });
  });

  it("what no endpoint took is counted with its reason at the end", async () => {
    const reports = keepReports();
    const gone = await OtlpServer.start();
    const { url } = gone;
    await gone.close();
    const tracing = setupTracing({
      endpoint: url,
      shutdownTimeoutMs: 500,
      onError: reports.onError,
    });
    endSpans(tracing, 3_000);
    await tracing.shutdown();
    expect(tracing.diagnostics()).toMatchObject({
      ended: 3_000,
      exported: 0,
      failed: 3_000,
      pending: 0,
      lost: { unreachable: 3_000 },
    });
    expect(reports.losses("shutdown")).toHaveLength(1);
  });

  it("an endpoint that was away gets all of it when it is back", async () => {
    let away = true;
    // A request that a busy machine answers late would be sent a second time.
    process.env.OTEL_EXPORTER_OTLP_TIMEOUT = "100000";
    await using server = await OtlpServer.start({ answer: () => (away ? 503 : 200) });
    const tracing = setupTracing({ endpoint: server.url, shutdownTimeoutMs: 100_000 });
    endSpans(tracing, 3_000);
    const flushed = tracing.forceFlush();
    await waitFor(() => expect(server.requests.length).toBeGreaterThan(0));
    away = false;
    await flushed;
    expect(server.spans.map(({ name }) => name)).toEqual(
      Array.from({ length: 3_000 }, (_, n) => `s${n}`),
    );
    await tracing.shutdown();
    expect(tracing.diagnostics()).toMatchObject({ exported: 3_000, failed: 0 });
  });
});
