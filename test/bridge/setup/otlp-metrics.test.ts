import { resourceFromAttributes } from "@opentelemetry/resources";
import type { ResourceMetrics } from "@opentelemetry/sdk-metrics";
import { expect, it } from "vitest";
import { OtlpMetricExporter } from "../../../src/bridge/setup/metrics/otlp-metrics.ts";
import { Deferred } from "../../../src/events/door.ts";
import { ProtobufServer } from "../export/support/protobuf-server.ts";

it("an export that the receiver does not answer holds back at most one other", async () => {
  const held = new Deferred<void>();
  let asked = 0;
  await using server = await ProtobufServer.start(async () => {
    asked += 1;
    await held.promise;
    return { status: 200 };
  });
  const exporter = new OtlpMetricExporter({
    headers: {},
    protocol: "http/protobuf",
    url: server.url,
  });
  const metrics: ResourceMetrics = { resource: resourceFromAttributes({}), scopeMetrics: [] };
  const errors: (string | undefined)[] = [];
  const exported = () =>
    new Promise<void>((resolve) =>
      exporter.export(metrics, ({ error }) => {
        errors.push(error?.message);
        resolve();
      }),
    );
  const [first, second, third, fourth] = [exported(), exported(), exported(), exported()];
  await Promise.all([third, fourth]);
  const late = "the exports before it are not confirmed yet";
  expect(errors).toEqual([late, late]);
  held.resolve();
  await Promise.all([first, second]);
  expect(errors).toEqual([late, late, undefined, undefined]);
  expect(asked).toBe(2);
  await exporter.shutdown();
});
