// ESM and CommonJS copies of the package in one process: they share the id slot and the brand of
// errors, since each class exists twice.
import assert from "node:assert/strict";
import { mkdtemp } from "node:fs/promises";
import { createRequire } from "node:module";
import { MetricReader } from "@opentelemetry/sdk-metrics";
import {
  InMemorySpanExporter,
  SamplingDecision,
  SimpleSpanProcessor,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import * as esm from "entelix-otel";
import * as esmAudit from "entelix-otel/audit";
import * as esmContext from "entelix-otel/context";
import * as esmEvents from "entelix-otel/events";
import * as esmSetup from "entelix-otel/setup";
import * as esmTelemetry from "entelix-otel/telemetry";
import { freshRunId, sendRun } from "./send-run.mjs";

const require = createRequire(import.meta.url);
const cjs = require("entelix-otel");
const cjsAudit = require("entelix-otel/audit");
const cjsEvents = require("entelix-otel/events");
const cjsSetup = require("entelix-otel/setup");
const cjsTelemetry = require("entelix-otel/telemetry");

assert.notEqual(esm.Bridge, cjs.Bridge, "expected two copies");
assert.deepEqual(Object.keys(esm).sort(), Object.keys(cjs).sort());
assert.deepEqual(Object.keys(esmSetup).sort(), Object.keys(cjsSetup).sort());
assert.deepEqual(Object.keys(esmTelemetry).sort(), Object.keys(cjsTelemetry).sort());
console.log(`two copies, with the same ${Object.keys(esm).length} exports`);

async function exported(Bridge, provider, options, send) {
  const exporter = new InMemorySpanExporter();
  const bridge = new Bridge({
    tracerProvider: provider([new SimpleSpanProcessor({ exporter })]),
    ...options,
  });
  await send(bridge);
  await bridge.shutdown();
  assert.equal(bridge.diagnostics().foreignIds, 0);
  return exporter.getFinishedSpans();
}

for (const [of, { Bridge }, { createIdGenerator }] of [
  ["ESM bridge, CommonJS id generator", esm, cjs],
  ["CommonJS bridge, ESM id generator", cjs, esm],
]) {
  const runId = freshRunId();
  const ids = esmContext.RunIds.fromUuid(runId);
  const provider = (spanProcessors) =>
    new TracerProvider({ idGenerator: createIdGenerator(), spanProcessors });
  const spans = await exported(Bridge, provider, {}, (bridge) => sendRun(bridge, runId));
  assert.deepEqual(
    spans.map((span) => [span.spanContext().traceId, span.spanContext().spanId]),
    [
      [runId.replaceAll("-", ""), ids.childSpanId("t", "call_1")],
      [runId.replaceAll("-", ""), ids.spanId],
    ],
  );
  console.log(`${of}: run ${runId} is in its trace`);
}

for (const [of, { Bridge }, { setupTracing }] of [
  ["ESM bridge, CommonJS setup", esm, cjsSetup],
  ["CommonJS bridge, ESM setup", cjs, esmSetup],
]) {
  // The parent of this run is known by its id alone: the sampler must ask by the trace id.
  const asked = [];
  const sampler = {
    shouldSample: (_context, traceId) => {
      asked.push(traceId);
      return { decision: SamplingDecision.NOT_RECORD };
    },
  };
  const tracing = setupTracing({ sampler, register: false });
  const bridge = new Bridge({ tracerProvider: tracing.tracerProvider });
  const root_run_id = freshRunId();
  const child = { run_id: freshRunId(), parent_run_id: root_run_id, tenant_id: "acme" };
  bridge.send({ type: "started", ...child, agent: "helper" }, { root_run_id });
  await bridge.shutdown();
  await tracing.shutdown();
  assert.deepEqual(asked, [root_run_id.replaceAll("-", "")]);
  console.log(`${of}: the sampler decides for a derived parent as for its root`);
}

/** Read when it is asked. */
class Collected extends MetricReader {
  onShutdown() {}
  onForceFlush() {}
}

// Nothing is sent from here.
Object.assign(process.env, { OTEL_TRACES_EXPORTER: "none", OTEL_METRICS_EXPORTER: "none" });
for (const [of, { Bridge }, { setupTelemetry }] of [
  ["ESM bridge, CommonJS telemetry", esm, cjsTelemetry],
  ["CommonJS bridge, ESM telemetry", cjs, esmTelemetry],
]) {
  const reader = new Collected();
  const telemetry = setupTelemetry({ register: false, metricReaders: [reader] });
  const { tracerProvider, meterProvider } = telemetry;
  const bridge = new Bridge({ tracerProvider, meterProvider });
  await sendRun(bridge);
  const { resourceMetrics } = await reader.collect();
  const [runs] = resourceMetrics.scopeMetrics
    .flatMap(({ metrics }) => metrics)
    .filter(({ descriptor }) => descriptor.name === "entelix.runs");
  const counted = runs.dataPoints.filter(({ value }) => value > 0);
  assert.deepEqual(
    counted.map(({ attributes, value }) => [attributes["entelix.run.outcome"], value]),
    [["complete", 1]],
  );
  await bridge.shutdown();
  await telemetry.shutdown();
  console.log(`${of}: a run is counted once`);
}

for (const [of, { AgentError }, { isAgentError, classifyFailure }, { wireId }] of [
  ["ESM error, CommonJS check", esm, cjs, cjsEvents],
  ["CommonJS error, ESM check", cjs, esm, esmEvents],
]) {
  const error = AgentError.http(503, "vendor down");
  const [Ours, Theirs] = [esm.AgentError, cjs.AgentError];
  assert.notEqual(error instanceof Ours, error instanceof Theirs);
  assert.equal(isAgentError(error), true);
  assert.equal(isAgentError(new Error("vendor down")), false);
  assert.equal(wireId(classifyFailure(error)), "model_dispatch");
  console.log(`${of}: recognised, and classified as ${wireId(classifyFailure(error))}`);
}

const folder = await mkdtemp("audit-");
const log = await esmAudit.NdjsonSessionLog.open(folder);
await assert.rejects(cjsAudit.NdjsonSessionLog.open(folder), { code: "ELOCKED" });
await log.close();
await (await cjsAudit.NdjsonSessionLog.open(folder)).close();
console.log("one copy's audit log is refused to the other while it is open");
