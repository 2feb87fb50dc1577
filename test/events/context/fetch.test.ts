import { context } from "@opentelemetry/api";
import { UndiciInstrumentation } from "@opentelemetry/instrumentation-undici";
import { InMemorySpanExporter, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-node";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { currentRunContext } from "../../../src/entries/context.ts";
import { setupTracing, type Tracing } from "../../../src/entries/setup.ts";
import type { AgentEvent } from "../../../src/events/agent-event.ts";
import { readHeaders, writeHeaders } from "../../../src/events/context/http-headers.ts";
import type { Bridge } from "../../../src/index.ts";
import { flat, RunEvents } from "../../support/run-events.ts";
import { toTrees } from "../../support/spans.ts";
import { AgentServer } from "./agent-server.ts";
import { withCurrentRun } from "./within-run.ts";

const TOP = "018f3c7a-0000-7000-8000-000000000001";
const OTHER = "018f3c7a-0000-7000-8000-000000000002";
const top = new RunEvents(TOP);
const other = new RunEvents(OTHER, "globex");

const memory = new InMemorySpanExporter();
const undici = new UndiciInstrumentation();
let tracing: Tracing;
let bridge: Bridge;
let server: AgentServer;

beforeAll(async () => {
  vi.stubEnv("OTEL_TRACES_EXPORTER", "none");
  tracing = setupTracing({ spanProcessors: [new SimpleSpanProcessor(memory)] });
  undici.enable();
  server = await AgentServer.start();
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  undici.disable();
  await tracing.shutdown();
  context.disable();
  vi.unstubAllEnvs();
});
afterEach(() => {
  memory.reset();
  server.seen.length = 0;
});

const spans = () => flat(toTrees(memory.getFinishedSpans()));
const request = async (path: string, headers?: Record<string, string>) => {
  await (await fetch(`${server.url}${path}`, headers === undefined ? {} : { headers })).text();
};
/** There is no audit side, so that nothing is to be waited for. */
const send = (event: AgentEvent) => void bridge.send(event);
/** The span of a request: its name is the method alone, as the conventions have it. */
const spanOf = (path: string) =>
  spans().find(({ attributes }) => attributes["url.path"] === path) ?? { parent: "no span" };
const named = (name: string) => spans().find(({ span }) => span === name);
const place = (id: string) => ({ tenant_id: "acme", run_id: TOP, tool_use_id: id });

/** A run with tool calls open, all at once. */
function start(...ids: readonly string[]): void {
  bridge = tracing.createBridge();
  void bridge.send(top.started("top"), { thread_id: "th-1" });
  for (const id of ids) send(top.toolStart(id, `tool_${id}`));
}

function end(...ids: readonly string[]): void {
  for (const id of ids) send(top.toolComplete(id, `tool_${id}`));
  send(top.complete());
}

describe("a fetch, with the instrumentation of undici on", () => {
  it("inside a tool is a child of that tool's span, and the server is told", async () => {
    start("a");
    await bridge.withSpan(place("a"), async () => {
      await new Promise((resolve) => setImmediate(resolve));
      await request("/orders");
    });
    end("a");
    const tool = named("execute_tool tool_a");
    expect(spanOf("/orders")).toMatchObject({
      span: "GET",
      parent: tool?.span_id,
      trace: tool?.trace,
    });
    expect(tool?.children.map(({ span }) => span)).toEqual(["GET"]);
    const [, traceId, spanId, flags] =
      server.request("/orders").headers.traceparent?.toString().split("-") ?? [];
    expect(spanOf("/orders")).toMatchObject({ trace: traceId, span_id: spanId });
    expect([traceId, flags]).toEqual([TOP.replaceAll("-", ""), "01"]);
  });

  it("inside a context that was asked for is the same", async () => {
    start("a");
    await context.with(bridge.contextOf("acme", TOP, "a"), () => request("/orders"));
    end("a");
    expect(spanOf("/orders").parent).toBe(named("execute_tool tool_a")?.span_id);
  });

  it("of tools that run at once, of two tenants, is each one's own", async () => {
    start("a", "b");
    send(other.started("other"));
    send(other.toolStart("a", "theirs"));
    await Promise.all([
      bridge.withSpan(place("a"), () => request("/a")),
      bridge.withSpan(place("b"), () => request("/b")),
      bridge.withSpan({ ...place("a"), tenant_id: "globex", run_id: OTHER }, () =>
        request("/theirs"),
      ),
      request("/outside"),
    ]);
    send(other.toolComplete("a", "theirs"));
    send(other.complete());
    end("a", "b");
    expect(spanOf("/a").parent).toBe(named("execute_tool tool_a")?.span_id);
    expect(spanOf("/b").parent).toBe(named("execute_tool tool_b")?.span_id);
    expect(spanOf("/theirs").parent).toBe(named("execute_tool theirs")?.span_id);
    expect(spanOf("/outside").parent).toBeUndefined();
    expect(named("execute_tool theirs")?.trace).toBe(OTHER.replaceAll("-", ""));
  });

  it("inside a model call is a child of that call's span", async () => {
    start();
    const call = { run_id: TOP, tenant_id: "acme", model_call_id: "m-1", model: "small-1" };
    send({ type: "model_start", ...call });
    await bridge.withSpan(call, () => request("/chat"));
    send({ type: "model_complete", ...call, duration_ms: 3 });
    end();
    expect(spanOf("/chat").parent).toBe(named("chat small-1")?.span_id);
    expect(named("chat small-1")?.parent).toBe(named("invoke_agent top")?.span_id);
  });
});

describe("what a request carries to another agent", () => {
  it("has the span of the request where the instrumentation writes the trace", async () => {
    start("a");
    await bridge.withSpan(place("a"), () =>
      request("/expert", writeHeaders(currentRunContext(), { traceparent: false })),
    );
    end("a");
    expect(readHeaders(server.request("/expert").headers)).toEqual({
      traceparent: `00-${TOP.replaceAll("-", "")}-${spanOfId("/expert")}-01`,
      root_run_id: TOP,
      parent_run_id: TOP,
      parent_tool_use_id: "a",
      thread_id: "th-1",
    });
  });

  it("has it too where both wrote one, which is none to other servers", async () => {
    start("a");
    await bridge.withSpan(place("a"), () => request("/expert", writeHeaders(currentRunContext())));
    end("a");
    const { headers } = server.request("/expert");
    expect(headers.traceparent).toMatch(/^00-\w{32}-\w{16}-01, 00-\w{32}-\w{16}-01$/);
    expect(readHeaders(headers)?.traceparent).toContain(spanOfId("/expert"));
  });
});

const spanOfId = (path: string) => {
  const span = spanOf(path);
  return "span_id" in span ? span.span_id : "no span";
};

describe("the current context", () => {
  const sink = { send: () => {} };
  const ids = { root_run_id: TOP, parent_run_id: TOP };
  const current = { tenantId: "acme", runId: TOP, rootRunId: TOP, sink };

  it("is none outside any run", () => {
    expect(currentRunContext()).toBeUndefined();
  });

  it("is that of the tool call which the code runs inside, however it came there", () => {
    start("a");
    const carried = bridge.runContext("acme", TOP, "a");
    expect(carried).toMatchObject({ ...ids, parent_tool_use_id: "a", thread_id: "th-1" });
    expect(bridge.withSpan(place("a"), currentRunContext)).toEqual(carried);
    expect(withCurrentRun({ ...current, toolUseId: "a", sink: bridge }, currentRunContext)).toEqual(
      carried,
    );
    const inBoth = () => withCurrentRun({ ...current, toolUseId: "a" }, currentRunContext);
    expect(bridge.withSpan(place("a"), inBoth)).toEqual(carried);
    end("a");
  });

  it("is known to another copy of the package, as CommonJS and ESM make one each", async () => {
    vi.resetModules();
    const copy = await import("../../../src/entries/context.ts");
    expect(copy.currentRunContext).not.toBe(currentRunContext);
    start("a");
    const carried = bridge.runContext("acme", TOP, "a");
    expect(carried?.traceparent).toBeDefined();
    expect(bridge.withSpan(place("a"), copy.currentRunContext)).toEqual(carried);
    end("a");
  });

  it("is the ids alone where no sink knows the span", () => {
    const run = { ...current, toolUseId: "a", threadId: "th-1" };
    expect(withCurrentRun(run, currentRunContext)).toEqual({
      ...ids,
      parent_tool_use_id: "a",
      thread_id: "th-1",
    });
    const broken = {
      ...sink,
      carry: () => {
        throw new Error("broken");
      },
    };
    expect(withCurrentRun({ ...current, sink: broken }, currentRunContext)).toEqual(ids);
  });

  it("is that of the current run where the active span is another's", () => {
    start("a");
    const elsewhere = { ...current, tenantId: "globex", runId: OTHER, rootRunId: OTHER };
    expect(bridge.withSpan(place("a"), () => withCurrentRun(elsewhere, currentRunContext))).toEqual(
      {
        root_run_id: OTHER,
        parent_run_id: OTHER,
      },
    );
    end("a");
  });

  it("is that of a run told by hand below the current one", () => {
    start("a");
    const sub = new RunEvents(OTHER);
    bridge.withSpan(place("a"), () => send(sub.started("sub", TOP)));
    const inSub = () => bridge.withSpan({ tenant_id: "acme", run_id: OTHER }, currentRunContext);
    expect(withCurrentRun({ ...current, toolUseId: "a", sink: bridge }, inSub)).toEqual({
      root_run_id: TOP,
      parent_run_id: OTHER,
      traceparent: `00-${TOP.replaceAll("-", "")}-8000000000000002-01`,
    });
    send(sub.complete());
    end("a");
  });
});
