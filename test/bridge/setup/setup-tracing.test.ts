import {
  type ContextManager,
  context,
  createContextKey,
  ProxyTracerProvider,
  propagation,
  ROOT_CONTEXT,
  trace,
} from "@opentelemetry/api";
import {
  NodeTracerProvider,
  type ReadableSpan,
  type SpanProcessor,
} from "@opentelemetry/sdk-trace-node";
import { describe, expect, it } from "vitest";
import { setupTracing } from "../../../src/entries/setup.ts";
import { OtlpServer } from "../../support/otlp-server.ts";
import { isolateProcess, keepDiag } from "./isolation.ts";
import { keepReports } from "./reports.ts";
import { openRun, RUN_ID, sendRun, TRACE_ID } from "./sample-run.ts";

isolateProcess();

describe("setupTracing", () => {
  it("sends a run's spans in the trace of its id, parent and all", async () => {
    await using server = await OtlpServer.start();
    await using tracing = setupTracing({ endpoint: server.url, serviceName: "support-agent" });
    sendRun(tracing.createBridge());
    await tracing.shutdown();

    const run = server.span("invoke_agent support");
    const call = server.span("execute_tool search");
    expect([run.traceId, call.traceId]).toEqual([TRACE_ID, TRACE_ID]);
    expect([run.spanId, run.parentSpanId, call.parentSpanId]).toEqual([
      TRACE_ID.slice(16),
      undefined,
      TRACE_ID.slice(16),
    ]);
    expect(run.attributes["entelix.run_id"]).toBe(RUN_ID);
    expect(run.attributes["entelix.run.outcome"]).toBe("complete");
    expect([run.scope, run.resource["service.name"]]).toEqual(["entelix-otel", "support-agent"]);
    expect(server.requests.map((request) => request.path)).toEqual(["/v1/traces"]);
    expect(server.faults).toEqual([]);
  });

  it("counts every span to its end", async () => {
    await using server = await OtlpServer.start();
    const tracing = setupTracing({ endpoint: server.url });
    const nothing = { failed: 0, dropped: 0 };
    expect(tracing.diagnostics()).toMatchObject({ ...nothing, ended: 0, exported: 0, pending: 0 });
    sendRun(tracing.createBridge());
    expect(tracing.diagnostics()).toMatchObject({ ...nothing, ended: 2, exported: 0, pending: 2 });
    await tracing.forceFlush();
    expect(tracing.diagnostics()).toMatchObject({ ...nothing, ended: 2, exported: 2, pending: 0 });
    await tracing.shutdown();
    expect(server.spans).toHaveLength(2);
  });

  it("registers for the whole process, and gives the provider back at shutdown", async () => {
    await using server = await OtlpServer.start();
    const tracing = setupTracing({ endpoint: server.url });
    expect(tracing.registered).toBe(true);
    trace.getTracer("app").startActiveSpan("outer", (outer) => {
      const carrier: Record<string, string> = {};
      propagation.inject(context.active(), carrier);
      const { traceId, spanId } = outer.spanContext();
      expect(carrier.traceparent).toBe(`00-${traceId}-${spanId}-01`);
      trace.getTracer("app").startSpan("inner").end();
      outer.end();
    });
    await tracing.shutdown();
    expect(server.span("inner").parentSpanId).toBe(server.span("outer").spanId);

    const again = setupTracing({ endpoint: server.url });
    expect(again.registered).toBe(true);
    trace.getTracer("app").startSpan("later").end();
    await again.shutdown();
    expect(server.span("later").traceId).toMatch(/^[0-9a-f]{32}$/);
  });

  it("leaves another's provider in its place, and adds nothing around it", async () => {
    await using server = await OtlpServer.start();
    const other = new NodeTracerProvider();
    other.register({ contextManager: null, propagator: null });
    const lines = keepDiag();
    const told: [string, string][] = [];
    const tracing = setupTracing({
      endpoint: server.url,
      onError: (error, where) => told.push([where, String(error)]),
    });
    expect(tracing.registered).toBe(false);
    expect(told).toEqual([
      [
        "setup",
        "Error: another tracer provider is registered: shut it down and call trace.disable() " +
          "before, or pass register: false",
      ],
    ]);
    sendRun(tracing.createBridge());
    await tracing.shutdown();
    expect(server.span("invoke_agent support").traceId).toBe(TRACE_ID);
    const global = trace.getTracerProvider();
    expect(global instanceof ProxyTracerProvider && global.getDelegate()).toBe(other);
    trace.getTracer("app").startActiveSpan("outer", () => {
      expect(trace.getActiveSpan()).toBeUndefined();
    });
    expect(propagation.fields()).toEqual([]);
    expect(lines).toEqual([]);
  });

  it("keeps a context manager and a propagator that are there", async () => {
    await using server = await OtlpServer.start();
    const marked = ROOT_CONTEXT.setValue(createContextKey("mine"), true);
    const manager: ContextManager = {
      active: () => marked,
      with: (_context, work, self, ...args) => work.call(self, ...args),
      bind: (_context, target) => target,
      enable: () => manager,
      disable: () => manager,
    };
    context.setGlobalContextManager(manager);
    propagation.setGlobalPropagator({
      inject: () => {},
      extract: (base) => base,
      fields: () => ["x-mine"],
    });
    const lines = keepDiag();
    const tracing = setupTracing({ endpoint: server.url });
    expect(tracing.registered).toBe(true);
    expect(context.active()).toBe(marked);
    expect(propagation.fields()).toEqual(["x-mine"]);
    expect(lines).toEqual([]);
    await tracing.shutdown();
  });

  it("touches no global with register: false", async () => {
    await using server = await OtlpServer.start();
    const tracing = setupTracing({ endpoint: server.url, register: false });
    expect(tracing.registered).toBe(false);
    trace.getTracer("app").startActiveSpan("outer", (outer) => {
      expect(outer.isRecording()).toBe(false);
      expect(trace.getActiveSpan()).toBeUndefined();
      const carrier: Record<string, string> = {};
      propagation.inject(trace.setSpan(context.active(), outer), carrier);
      expect(carrier).toEqual({});
    });
    sendRun(tracing.createBridge());
    await tracing.shutdown();
    expect(server.spans.map((span) => span.name)).toEqual([
      "execute_tool search",
      "invoke_agent support",
    ]);
  });

  it("closes what is open at the end of an `await using` block", async () => {
    await using server = await OtlpServer.start();
    {
      await using tracing = setupTracing({ endpoint: server.url });
      openRun(tracing.createBridge());
    }
    const run = server.span("invoke_agent support");
    expect(run.attributes["entelix.run.outcome"]).toBe("abandoned");
    expect(run.attributes["entelix.run.abandoned_reason"]).toBe("shutdown");
  });

  it("gives spans to the caller's processors too, and flushes and shuts them", async () => {
    await using server = await OtlpServer.start();
    const calls: string[] = [];
    const mine: SpanProcessor = {
      onStart: (span) => calls.push(`start ${span.name}`),
      onEnd: (span) => calls.push(`end ${span.name}`),
      forceFlush: async () => {
        calls.push("flush");
      },
      shutdown: async () => {
        calls.push("shutdown");
      },
    };
    const tracing = setupTracing({ endpoint: server.url, spanProcessors: [mine] });
    tracing.tracerProvider.getTracer("app").startSpan("a").end();
    await tracing.forceFlush();
    await tracing.shutdown();
    expect(calls).toEqual(["start a", "end a", "flush", "shutdown"]);
    expect(server.span("a").scope).toBe("app");
  });

  it.each(["onStart", "onEnding", "onEnd"] as const)(
    "loses no span by a processor whose %s throws",
    async (hook) => {
      await using server = await OtlpServer.start();
      const ended: string[] = [];
      const ready = async () => {};
      const quiet = { onStart: () => {}, onEnd: () => {}, forceFlush: ready, shutdown: ready };
      const boom = () => {
        throw new Error("boom");
      };
      const behind = { ...quiet, onEnd: (span: ReadableSpan) => void ended.push(span.name) };
      const reports = keepReports();
      const tracing = setupTracing({
        endpoint: server.url,
        spanProcessors: [{ ...quiet, [hook]: boom }, behind],
        onError: reports.onError,
      });
      openRun(tracing.createBridge());
      await tracing.shutdown();
      expect(server.span("invoke_agent support").attributes["entelix.run.outcome"]).toBe(
        "abandoned",
      );
      expect(ended).toEqual(["invoke_agent support"]);
      expect(tracing.diagnostics()).toMatchObject({ ended: 1, exported: 1 });
      expect(reports.all).toMatchObject([{ error: new Error("boom"), where: "span processor" }]);
    },
  );

  it("takes a base URL with a path, and one that has the traces path", async () => {
    await using server = await OtlpServer.start();
    const paths: [given: string, asked: string][] = [
      ["", "/v1/traces"],
      ["/", "/v1/traces"],
      ["/v1/traces", "/v1/traces"],
      ["/v1/traces/", "/v1/traces"],
      ["/otlp", "/otlp/v1/traces"],
      ["/otlp/?key=1", "/otlp/v1/traces?key=1"],
    ];
    for (const [path] of paths) {
      const tracing = setupTracing({ endpoint: server.url + path, register: false });
      tracing.tracerProvider.getTracer("app").startSpan("a").end();
      await tracing.shutdown();
    }
    expect(server.requests.map((request) => request.path)).toEqual(paths.map(([, asked]) => asked));
  });

  it.each([
    [
      { endpoint: "127.0.0.1:4318" },
      'endpoint: expected an http or https URL, got "127.0.0.1:4318"',
    ],
    [{ endpoint: "grpc://h" }, 'endpoint: expected an http or https URL, got "grpc://h"'],
    [{ endpoint: "" }, 'endpoint: expected an http or https URL, got ""'],
    [{ endpoint: "grpc://me:secret@h" }, 'endpoint: expected an http or https URL, got "grpc://h"'],
    [
      { endpoint: "http://me:se/cret@h:99999" },
      'endpoint: expected an http or https URL, got "http://h:99999"',
    ],
    [{ serviceName: " " }, 'serviceName: expected a name, got ""'],
    [{ queueBytes: 0 }, "queueBytes: expected a whole number of bytes from 1, got 0"],
    [{ queueBytes: 1.5 }, "queueBytes: expected a whole number of bytes from 1, got 1.5"],
    [{ queueBytes: Number.NaN }, "queueBytes: expected a whole number of bytes from 1, got NaN"],
    [{ shutdownTimeoutMs: 0 }, /^shutdownTimeoutMs: expected milliseconds from 1 to .*, got 0$/],
    [{ shutdownTimeoutMs: Number.NaN }, /^shutdownTimeoutMs: expected milliseconds .*, got NaN$/],
    [{ shutdownTimeoutMs: Number.POSITIVE_INFINITY }, /^shutdownTimeoutMs: .*, got Infinity$/],
  ])("refuses %j, and registers nothing", (options, message) => {
    expect(() => setupTracing(options)).toThrow(message);
    expect(trace.getTracer("app").startSpan("a").isRecording()).toBe(false);
  });

  it("refuses a header that is no text without showing it", () => {
    const headers: Record<string, string> = JSON.parse('{"authorization": 12345}');
    expect(() => setupTracing({ headers })).toThrow(
      /^headers\.authorization: expected text, got number$/,
    );
  });

  it("refuses a header that no request can carry without showing its value", () => {
    // A token read from a file ends in a line's end.
    const headers = { authorization: "Bearer hunter2\n" };
    expect(() => setupTracing({ headers })).toThrow(
      /^headers\.authorization: expected text of one line that HTTP can carry, got other characters in it$/,
    );
    expect(() => setupTracing({ headers: { "api key": "hunter2" } })).toThrow(
      /^headers: expected names of HTTP headers, got other characters in name 1$/,
    );
    expect(trace.getTracer("app").startSpan("a").isRecording()).toBe(false);
  });
});
