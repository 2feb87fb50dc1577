import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { ROOT_CONTEXT, trace } from "@opentelemetry/api";
import { JsonTraceSerializer, ProtobufTraceSerializer } from "@opentelemetry/otlp-transformer";
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-node";
import { afterAll, beforeAll, expect, it } from "vitest";
import { ROOT } from "../docs/pages.ts";

let receiver: ChildProcess;
let url = "";
beforeAll(async () => {
  receiver = fork(join(ROOT, "bench/agents/receiver.mjs"));
  const [{ port }] = await once(receiver, "message");
  url = `http://127.0.0.1:${port}`;
});
afterAll(() => {
  receiver.kill();
});

/** Two traces, of three spans and of one. */
function spans() {
  const exporter = new InMemorySpanExporter();
  const spanProcessors = [new SimpleSpanProcessor(exporter)];
  const tracer = new BasicTracerProvider({ spanProcessors }).getTracer("test");
  const run = tracer.startSpan("run", { attributes: { asked: "question-mark 1" } }, ROOT_CONTEXT);
  const inside = trace.setSpan(ROOT_CONTEXT, run);
  for (const name of ["model", "tool"]) {
    tracer.startSpan(name, { attributes: { count: 300, text: "input-mark" } }, inside).end();
  }
  run.addEvent("event").end();
  tracer.startSpan("other", {}, ROOT_CONTEXT).end();
  return exporter.getFinishedSpans();
}

async function post(path: string, body: Uint8Array, headers: Readonly<Record<string, string>>) {
  const answer = await fetch(`${url}${path}`, { method: "POST", body, headers });
  expect(answer.status).toBe(200);
}

const counts = async (): Promise<unknown> => (await fetch(`${url}/counts`)).json();

it("counts spans, traces, roots and bytes of protobuf, gzip and JSON alike, and finds marks", async () => {
  const proto = ProtobufTraceSerializer.serializeRequest(spans()) ?? new Uint8Array();
  const json = JsonTraceSerializer.serializeRequest(spans()) ?? new Uint8Array();
  const expected = { spans: 4, traces: 2, roots: 2, missing: ["output-mark", "answer-mark"] };
  const protobuf = { "content-type": "application/x-protobuf" };

  await post("/v1/traces", proto, protobuf);
  expect(await counts()).toEqual({ ...expected, bytes: proto.length });

  const zipped = gzipSync(proto);
  await post("/v1/traces", zipped, { ...protobuf, "content-encoding": "gzip" });
  expect(await counts()).toEqual({ ...expected, bytes: zipped.length });

  await post("/api/public/otel/v1/traces", json, { "content-type": "application/json" });
  expect(await counts()).toEqual({ ...expected, bytes: json.length });
});

it("counts from the last question, and traces alone", async () => {
  const proto = ProtobufTraceSerializer.serializeRequest(spans()) ?? new Uint8Array();
  await post("/v1/metrics", proto, { "content-type": "application/x-protobuf" });
  expect(await counts()).toMatchObject({ spans: 0, bytes: 0 });
});
