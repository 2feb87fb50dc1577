import { trace } from "@opentelemetry/api";
import { AlwaysOnSampler } from "@opentelemetry/sdk-trace-node";
import { afterEach, describe, expect, it, vi } from "vitest";
import { spanLimitsFromEnvironment } from "../../../src/bridge/setup/span-limits.ts";
import { setupTracing, type TracingOptions } from "../../../src/entries/setup.ts";
import { OtlpServer } from "../../support/otlp-server.ts";
import { waitFor } from "../../support/wait-for.ts";
import { isolateProcess, keepDiag } from "./isolation.ts";
import { sendRun } from "./sample-run.ts";

isolateProcess();
afterEach(() => vi.restoreAllMocks());

/** What arrives when one span, with three attributes, is made under these variables. */
async function sendOne(variables: Record<string, string>, options: TracingOptions = {}) {
  await using server = await OtlpServer.start();
  process.env.OTEL_EXPORTER_OTLP_ENDPOINT = server.url;
  Object.assign(process.env, variables);
  const tracing = setupTracing(options);
  const attributes = { a: "abcdef", b: 2, c: true };
  tracing.tracerProvider.getTracer("app").startSpan("one", { attributes }).end();
  await tracing.shutdown();
  expect(server.faults).toEqual([]);
  const [request] = server.requests;
  return { server, tracing, request, span: request?.spans[0] };
}

describe("the resource", () => {
  it("is of OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES, the former first", async () => {
    const { span } = await sendOne({
      OTEL_SERVICE_NAME: "by-name",
      OTEL_RESOURCE_ATTRIBUTES: "service.name=other,team=a%2Cb,service.instance.id=i-1",
    });
    expect(span?.resource).toMatchObject({
      "service.name": "by-name",
      team: "a,b",
      "service.instance.id": "i-1",
      "telemetry.sdk.language": "nodejs",
    });
  });

  it("takes service.name from OTEL_RESOURCE_ATTRIBUTES alone", async () => {
    const { span } = await sendOne({ OTEL_RESOURCE_ATTRIBUTES: "service.name=attributed" });
    expect(span?.resource["service.name"]).toBe("attributed");
  });

  it("prefers options to variables, name by name", async () => {
    const { span } = await sendOne(
      { OTEL_SERVICE_NAME: "variable", OTEL_RESOURCE_ATTRIBUTES: "team=a,zone=z" },
      { serviceName: "option", resourceAttributes: { team: "b", "service.name": "attribute" } },
    );
    expect(span?.resource).toMatchObject({ "service.name": "option", team: "b", zone: "z" });
  });

  it("prefers service.name among resourceAttributes to OTEL_SERVICE_NAME", async () => {
    const { span } = await sendOne(
      { OTEL_SERVICE_NAME: "variable" },
      { resourceAttributes: { "service.name": "attribute", "service.instance.id": "i-2" } },
    );
    expect(span?.resource).toMatchObject({
      "service.name": "attribute",
      "service.instance.id": "i-2",
    });
  });

  it("has an instance id of its own for each setup when nothing gives one", async () => {
    const ids = [await sendOne({}), await sendOne({})].map(
      ({ span }) => span?.resource["service.instance.id"],
    );
    const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
    expect(ids[0]).toMatch(uuid);
    expect(ids[1]).toMatch(uuid);
    expect(ids[0]).not.toBe(ids[1]);
  });

  it.each([
    [{}, "team"],
    [{ OTEL_SERVICE_NAME: "named" }, "team"],
    [{}, "team=a,=b"],
    [{}, "a=b=c"],
    [{ OTEL_SERVICE_NAME: "named" }, "service.name=other,team=a=b"],
    [{ OTEL_SERVICE_NAME: "named" }, "team=service.name=a"],
  ])("warns when OTEL_RESOURCE_ATTRIBUTES can't be read (%j, %s)", async (others, text) => {
    const lines = keepDiag();
    const { span } = await sendOne({ ...others, OTEL_RESOURCE_ATTRIBUTES: text });
    expect(lines).toEqual([
      "entelix-otel: OTEL_RESOURCE_ATTRIBUTES: expected name=value pairs, comma-separated and " +
        `percent-encoded, got "${text}"; using none of it`,
    ]);
    expect(span?.resource.team).toBeUndefined();
  });

  it("does not warn of a well-formed one", async () => {
    const lines = keepDiag();
    await sendOne({ OTEL_SERVICE_NAME: "n", OTEL_RESOURCE_ATTRIBUTES: "service.name=m" });
    await sendOne({ OTEL_SERVICE_NAME: "n", OTEL_RESOURCE_ATTRIBUTES: " service.name = m%41, " });
    await sendOne({ OTEL_SERVICE_NAME: "n", OTEL_RESOURCE_ATTRIBUTES: "team=a" });
    await sendOne({ OTEL_RESOURCE_ATTRIBUTES: "service.name=m" });
    await sendOne({ OTEL_RESOURCE_ATTRIBUTES: " " });
    expect(lines).toEqual([]);
  });
});

describe("the exporter", () => {
  it("appends the traces path to OTEL_EXPORTER_OTLP_ENDPOINT", async () => {
    await using server = await OtlpServer.start();
    const { request } = await sendOne({});
    expect(request?.path).toBe("/v1/traces");
    process.env.OTEL_EXPORTER_OTLP_ENDPOINT = `${server.url}/base/`;
    const tracing = setupTracing({ register: false });
    tracing.tracerProvider.getTracer("app").startSpan("a").end();
    await tracing.shutdown();
    expect(server.requests.map(({ path }) => path)).toEqual(["/base/v1/traces"]);
  });

  it("takes OTEL_EXPORTER_OTLP_TRACES_ENDPOINT as it is, and before the general one", async () => {
    await using traces = await OtlpServer.start();
    const general = await sendOne({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${traces.url}/mine` });
    expect(traces.requests.map(({ path }) => path)).toEqual(["/mine"]);
    expect(general.server.requests).toEqual([]);
  });

  it("prefers the endpoint option to both", async () => {
    await using server = await OtlpServer.start();
    await using other = await OtlpServer.start();
    const general = await sendOne(
      { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: other.url },
      { endpoint: server.url },
    );
    expect(server.span("one").name).toBe("one");
    expect([...other.requests, ...general.server.requests]).toEqual([]);
  });

  it("sends OTEL_EXPORTER_OTLP_HEADERS, those for traces before them, the option's first", async () => {
    const { request } = await sendOne(
      {
        OTEL_EXPORTER_OTLP_HEADERS: "x-a=general,x-b=general,x-c=general",
        OTEL_EXPORTER_OTLP_TRACES_HEADERS: "x-b=traces,x-c=traces",
      },
      { headers: { "x-c": "option" } },
    );
    expect(request?.headers).toMatchObject({ "x-a": "general", "x-b": "traces", "x-c": "option" });
  });

  it.each(["OTEL_EXPORTER_OTLP_COMPRESSION", "OTEL_EXPORTER_OTLP_TRACES_COMPRESSION"])(
    "packs requests as %s says",
    async (variable) => {
      const plain = await sendOne({});
      expect(plain.request?.headers["content-encoding"]).toBeUndefined();
      const packed = await sendOne({ [variable]: "gzip" });
      expect(packed.request?.headers["content-encoding"]).toBe("gzip");
      expect(packed.span?.attributes).toEqual({ a: "abcdef", b: 2, c: true });
      expect(packed.request?.bytes).toBeLessThan(plain.request?.bytes ?? 0);
    },
  );

  it.each(["OTEL_EXPORTER_OTLP_TIMEOUT", "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT"])(
    "sends a request again that has no answer after %s",
    async (variable) => {
      await using server = await OtlpServer.start({ answer: (n) => (n === 0 ? "hang" : 200) });
      process.env[variable] = "200";
      const tracing = setupTracing({ endpoint: server.url, onError: () => {} });
      tracing.tracerProvider.getTracer("app").startSpan("a").end();
      await tracing.forceFlush();
      // Where the machine is slow, more than twice.
      expect(server.requests.length).toBeGreaterThan(1);
      expect(new Set(server.requests.map(({ spans }) => spans[0]?.name))).toEqual(new Set(["a"]));
      expect(tracing.diagnostics()).toMatchObject({ exported: 1, failed: 0, pending: 0 });
      await tracing.shutdown();
    },
  );

  it.each([
    ["none", 0, 0],
    ["otlp", 1, 0],
    ["console", 0, 1],
    ["otlp, console", 1, 1],
    ["", 1, 0],
    ["zipkin", 1, 0],
    ["zipkin,console", 0, 1],
  ])("is as OTEL_TRACES_EXPORTER=%s says", async (choice, requests, printed) => {
    const dir = vi.spyOn(console, "dir").mockImplementation(() => {});
    const lines = keepDiag();
    const { server, tracing } = await sendOne({ OTEL_TRACES_EXPORTER: choice });
    expect(server.requests).toHaveLength(requests);
    expect(dir.mock.calls).toHaveLength(printed);
    expect(tracing.diagnostics().exported).toBe(requests);
    expect(lines).toEqual(
      choice.includes("zipkin")
        ? [
            "entelix-otel: OTEL_TRACES_EXPORTER: expected otlp, console or none, " +
              `got "zipkin"; using ${printed === 1 ? "console" : "otlp"}`,
          ]
        : [],
    );
  });

  it("is none where OTEL_TRACES_EXPORTER also names others", async () => {
    const lines = keepDiag();
    const { server } = await sendOne({ OTEL_TRACES_EXPORTER: "none,otlp" });
    expect(server.requests).toEqual([]);
    expect(lines).toEqual([
      'entelix-otel: OTEL_TRACES_EXPORTER: expected none or others, got "none,otlp"; using none',
    ]);
  });

  it.each<[Record<string, string>, string]>([
    [{}, "application/x-protobuf"],
    [{ OTEL_EXPORTER_OTLP_PROTOCOL: "http/protobuf" }, "application/x-protobuf"],
    [{ OTEL_EXPORTER_OTLP_PROTOCOL: "http/json" }, "application/json"],
    [{ OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: "http/json" }, "application/json"],
    [
      {
        OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
        OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: "http/protobuf",
      },
      "application/x-protobuf",
    ],
  ])("with %j sends %s", async (variables, type) => {
    const lines = keepDiag();
    const { request, span } = await sendOne(variables);
    expect(request?.headers["content-type"]).toBe(type);
    expect(span?.attributes).toEqual({ a: "abcdef", b: 2, c: true });
    expect(lines).toEqual([]);
  });

  it("warns of a protocol that it can't speak, the one for traces first", async () => {
    const lines = keepDiag();
    const grpc = await sendOne({ OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" });
    expect(grpc.request?.headers["content-type"]).toBe("application/x-protobuf");
    expect(lines).toEqual([
      "entelix-otel: OTEL_EXPORTER_OTLP_PROTOCOL=grpc: gRPC is not supported, http/protobuf is used: set the variable to it, and the endpoint to the receiver's port for OTLP/HTTP, usually 4318",
    ]);
    await sendOne({ OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: "http/json" });
    expect(lines).toHaveLength(1);
  });
});

describe("batches", () => {
  it("are of OTEL_BSP_MAX_EXPORT_BATCH_SIZE", async () => {
    await using server = await OtlpServer.start();
    process.env.OTEL_BSP_MAX_EXPORT_BATCH_SIZE = "3";
    const tracing = setupTracing({ endpoint: server.url });
    const tracer = tracing.tracerProvider.getTracer("app");
    for (let i = 0; i < 8; i++) tracer.startSpan(`s${i}`).end();
    await tracing.shutdown();
    const sizes = server.requests.map(({ spans }) => spans.length);
    expect(sizes.toSorted((a, b) => a - b)).toEqual([2, 3, 3]);
  });

  it("wait in a queue of OTEL_BSP_MAX_QUEUE_SIZE", async () => {
    await using server = await OtlpServer.start();
    process.env.OTEL_BSP_MAX_QUEUE_SIZE = "5";
    process.env.OTEL_BSP_MAX_EXPORT_BATCH_SIZE = "5";
    const tracing = setupTracing({ endpoint: server.url, onError: () => {} });
    const tracer = tracing.tracerProvider.getTracer("app");
    // Four requests are under way at once, five spans wait, the rest find no place.
    for (let i = 0; i < 30; i++) tracer.startSpan(`s${i}`).end();
    expect(tracing.diagnostics()).toMatchObject({ ended: 30, pending: 25, dropped: 5 });
    await tracing.shutdown();
    expect(new Set(server.spans.map(({ name }) => name))).toEqual(
      new Set(Array.from({ length: 25 }, (_, i) => `s${i}`)),
    );
    expect(tracing.diagnostics()).toMatchObject({ exported: 25, lost: { queue_full: 5 } });
  });

  it("leave after OTEL_BSP_SCHEDULE_DELAY without being asked", async () => {
    await using server = await OtlpServer.start();
    process.env.OTEL_BSP_SCHEDULE_DELAY = "10";
    const tracing = setupTracing({ endpoint: server.url });
    tracing.tracerProvider.getTracer("app").startSpan("a").end();
    await waitFor(() => expect(tracing.diagnostics().exported).toBe(1));
    expect(server.span("a").name).toBe("a");
    await tracing.shutdown();
  });

  it("are sent again when they have no answer after OTEL_BSP_EXPORT_TIMEOUT", async () => {
    await using server = await OtlpServer.start({ answer: (n) => (n === 0 ? "hang" : 200) });
    process.env.OTEL_BSP_EXPORT_TIMEOUT = "200";
    const tracing = setupTracing({ endpoint: server.url, onError: () => {} });
    tracing.tracerProvider.getTracer("app").startSpan("a").end();
    await expect(tracing.forceFlush()).rejects.toThrow("not confirmed within 200 ms");
    await waitFor(() => expect(tracing.diagnostics().exported).toBe(1));
    expect(server.requests.length).toBeGreaterThan(1);
    await tracing.shutdown();
    expect(tracing.diagnostics()).toMatchObject({ ended: 1, exported: 1, failed: 0 });
  });

  it.each([
    ["OTEL_BSP_MAX_QUEUE_SIZE", "0", "from 1", "no limit"],
    ["OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "0", "from 1", "no limit"],
    ["OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "1.5", "from 1", "no limit"],
    ["OTEL_BSP_SCHEDULE_DELAY", "-1", "from 0", "5000"],
    ["OTEL_BSP_EXPORT_TIMEOUT", "Infinity", "from 1", "30000"],
    ["OTEL_BSP_EXPORT_TIMEOUT", "soon", "from 1", "30000"],
  ])("warn of %s=%s and take the default", async (name, value, expected, taken) => {
    const lines = keepDiag();
    const { span } = await sendOne({ [name]: value });
    expect(span?.name).toBe("one");
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain(`${name}: expected a whole number ${expected} to`);
    expect(lines[0]).toContain(`got "${value}"; using ${taken}`);
  });
});

describe("limits of a span", () => {
  it.each(["OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT", "OTEL_ATTRIBUTE_COUNT_LIMIT"])(
    "%s",
    async (variable) => {
      const { span } = await sendOne({ [variable]: "2" });
      expect(span?.attributes).toEqual({ a: "abcdef", b: 2 });
      expect(span?.droppedAttributesCount).toBe(1);
    },
  );

  it.each(["OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT", "OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT"])(
    "%s",
    async (variable) => {
      const { span } = await sendOne({ [variable]: "3" });
      expect(span?.attributes).toEqual({ a: "abc", b: 2, c: true });
    },
  );

  it("OTEL_SPAN_EVENT_COUNT_LIMIT and OTEL_SPAN_LINK_COUNT_LIMIT", async () => {
    process.env.OTEL_SPAN_EVENT_COUNT_LIMIT = "1";
    process.env.OTEL_SPAN_LINK_COUNT_LIMIT = "1";
    await using server = await OtlpServer.start();
    const tracing = setupTracing({ endpoint: server.url });
    const span = tracing.tracerProvider.getTracer("app").startSpan("a");
    const target = { context: span.spanContext() };
    span.addEvent("x").addEvent("y").addLink(target).addLink(target).end();
    await tracing.shutdown();
    expect(server.span("a").counts).toEqual({ events: 1, links: 1 });
  });

  it.each(["OTEL_EVENT_ATTRIBUTE_COUNT_LIMIT", "OTEL_SPAN_ATTRIBUTE_PER_EVENT_COUNT_LIMIT"])(
    "%s",
    (name) => {
      process.env[name] = "1";
      const { attributePerEventCountLimit, attributePerLinkCountLimit } =
        spanLimitsFromEnvironment();
      expect({ attributePerEventCountLimit, attributePerLinkCountLimit }).toEqual({
        attributePerEventCountLimit: 1,
        attributePerLinkCountLimit: 128,
      });
    },
  );

  it("an invalid limit is reported, and its default is used", () => {
    const told = keepDiag();
    process.env.OTEL_SPAN_LINK_COUNT_LIMIT = "many";
    expect(spanLimitsFromEnvironment().linkCountLimit).toBe(128);
    expect(told).toEqual([
      'entelix-otel: OTEL_SPAN_LINK_COUNT_LIMIT: expected a whole number from 0 to 9007199254740991, got "many"; using 128',
    ]);
  });
});

describe("the sampler", () => {
  it("is of OTEL_TRACES_SAMPLER", async () => {
    const { request, tracing } = await sendOne({ OTEL_TRACES_SAMPLER: "always_off" });
    expect(request).toBeUndefined();
    expect(tracing.diagnostics().ended).toBe(0);
  });

  it("is the option's before that", async () => {
    const options = { sampler: new AlwaysOnSampler() };
    const { span } = await sendOne({ OTEL_TRACES_SAMPLER: "always_off" }, options);
    expect(span?.name).toBe("one");
  });
});

describe("OTEL_SDK_DISABLED", () => {
  it.each(["true", "TRUE", " true "])("%s makes no spans and registers nothing", async (value) => {
    await using server = await OtlpServer.start();
    process.env.OTEL_SDK_DISABLED = value;
    const tracing = setupTracing({ endpoint: server.url });
    expect(tracing.registered).toBe(false);
    const sink = tracing.createBridge();
    sendRun(sink);
    expect(sink.diagnostics().events).toBe(4);
    const mine = tracing.tracerProvider.getTracer("app").startSpan("a");
    expect([mine.isRecording(), trace.isSpanContextValid(mine.spanContext())]).toEqual([
      false,
      false,
    ]);
    await tracing.forceFlush();
    await tracing.shutdown();
    expect(server.requests).toEqual([]);
    expect(tracing.diagnostics()).toMatchObject({ ended: 0, dropped: 0, pending: 0 });
  });

  it.each(["false", "1", "yes", ""])("%s leaves it on", async (value) => {
    const { span } = await sendOne({ OTEL_SDK_DISABLED: value });
    expect(span?.name).toBe("one");
  });
});
