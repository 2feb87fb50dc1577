import { expect, it, vi } from "vitest";
import { setupTracing } from "../../../src/entries/setup.ts";
import { OtlpServer } from "../../support/otlp-server.ts";

it("a request in JSON loses only the span that JSON can't hold", async () => {
  await using server = await OtlpServer.start();
  vi.stubEnv("OTEL_EXPORTER_OTLP_PROTOCOL", "http/json");
  const tracing = setupTracing({ endpoint: server.url, register: false, onError: () => {} });
  const tracer = tracing.tracerProvider.getTracer("t");
  const round: Record<string, unknown> = {};
  round.self = round;
  for (const name of ["a", "round", "b"]) {
    const span = tracer.startSpan(name);
    if (name === "round") Object.assign(Reflect.get(span, "attributes"), { round });
    span.end();
  }
  await tracing.shutdown();
  vi.unstubAllEnvs();
  expect(server.spans.map(({ name }) => name)).toEqual(["a", "b"]);
  expect(tracing.diagnostics()).toMatchObject({ ended: 3, exported: 2, failed: 1 });
});
