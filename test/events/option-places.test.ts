import { readdirSync, readFileSync } from "node:fs";
import { afterEach, expect, it, vi } from "vitest";
import { AiSdkTelemetry } from "../../src/entries/ai-sdk.ts";
import {
  AuditSink,
  MemorySessionLog,
  NdjsonSessionLog,
  readRows,
  verifyLog,
} from "../../src/entries/audit.ts";
import { claudeAgent } from "../../src/entries/claude-agent.ts";
import { extract, inject } from "../../src/entries/context.ts";
import { LangChainHandler } from "../../src/entries/langchain.ts";
import { MastraTelemetry } from "../../src/entries/mastra.ts";
import { mcpClient, mcpServer, mcpTransport } from "../../src/entries/mcp.ts";
import { OpenAIAgentsProcessor } from "../../src/entries/openai-agents.ts";
import {
  PostgresSessionLog,
  readPostgresRows,
  verifyPostgresLog,
} from "../../src/entries/postgres.ts";
import { prices } from "../../src/entries/prices.ts";
import { entelixDialect, readEvents } from "../../src/entries/replay.ts";
import { runAgent } from "../../src/entries/runtime.ts";
import { setupTracing } from "../../src/entries/setup.ts";
import {
  BroadcastSink,
  CaptureSink,
  ChannelSink,
  DroppingSink,
  FailOpenSink,
  FanOutSink,
  RecorderSink,
} from "../../src/entries/sinks.ts";
import { setupTelemetry } from "../../src/entries/telemetry.ts";
import { OPTION_PLACES } from "../../src/events/option-places.ts";
import { Bridge } from "../../src/index.ts";

type Options = Readonly<Record<string, unknown>>;

const sink = { send: () => {} };
const log = new MemorySessionLog();
const common = { sink, tenant: "acme" };
const quiet = { register: false };
const connectable = {
  connect: async () => {},
  callTool: async () => ({}),
  request: async () => ({}),
};
async function* noBytes(): AsyncGenerator<Uint8Array> {}
const inRun = (work: Parameters<typeof runAgent>[1]) => runAgent({ ...common, agent: "a" }, work);
// The options are wrong, so these need no database.
const WRONG = { connection: "not an address" };

/** A way to give options of each public type. */
const GIVEN: Readonly<Record<string, (options: Options) => unknown>> = {
  AiSdkTelemetryOptions: (options) => new AiSdkTelemetry({ ...common, ...options }),
  AuditSinkOptions: (options) => new AuditSink({ log, ...options }),
  BridgeOptions: (options) => new Bridge(options),
  BroadcastOptions: (options) => new BroadcastSink(options),
  CaptureOptions: (options) => new CaptureSink(options),
  ChannelOptions: (options) => new ChannelSink(options),
  ClaudeAgentOptions: (options) => claudeAgent({ ...common, ...options }),
  DroppingOptions: (options) => new DroppingSink(options),
  ExtractOptions: (options) => extract({}, options),
  FailOpenOptions: (options) => new FailOpenSink(sink, options),
  InjectOptions: (options) => inject({}, options),
  LangChainHandlerOptions: (options) => new LangChainHandler({ ...common, ...options }),
  MastraTelemetryOptions: (options) => new MastraTelemetry({ ...common, ...options }),
  McpClientOptions: (options) => mcpClient({ ...connectable }, options),
  McpServerOptions: (options) => mcpServer({ ...connectable }, { ...common, ...options }),
  McpTransportOptions: (options) =>
    mcpTransport({ start: async () => {}, send: async () => {}, close: async () => {} }, options),
  ModelOptions: (options) => inRun((run) => run.model("small-1", options, () => 1)),
  NdjsonSessionLogOptions: (options) => NdjsonSessionLog.open("", options),
  OpenAIAgentsProcessorOptions: (options) => new OpenAIAgentsProcessor({ ...common, ...options }),
  OpenRunsOptions: (options) => new Bridge().openRuns(options),
  PostgresSessionLogOptions: (options) => PostgresSessionLog.open({ ...WRONG, ...options }),
  PricesOptions: (options) => prices(options),
  ReadEventsOptions: (options) =>
    readEvents(noBytes(), { dialects: [entelixDialect], onEvent: () => {}, ...options }),
  ReadPostgresRowsOptions: (options) => readPostgresRows(WRONG, {}, options).next(),
  ReadRowsOptions: (options) => readRows("/nothing/here", {}, options).next(),
  RecorderSinkOptions: (options) => new RecorderSink({ stream: process.stderr, ...options }),
  RunOptions: (options) => runAgent({ ...common, agent: "a", ...options }, async () => 1),
  StepOptions: (options) => inRun((run) => run.step("s", options, () => 1)),
  TelemetrySetupOptions: (options) => setupTelemetry({ ...quiet, ...options }).shutdown(),
  ToolOptions: (options) => inRun((run) => run.tool("t", options, () => 1)),
  TracingOptions: (options) => setupTracing({ ...quiet, ...options }).shutdown(),
  VerifyOptions: (options) => verifyLog("/nothing/here", options),
  VerifyPostgresOptions: (options) => verifyPostgresLog(WRONG, options),
};

/** Types that others include, and those of options in options, which `nested-options.test.ts` has. */
const PARTS: ReadonlySet<string> = new Set([
  "AdapterOptions",
  "CarrierOptions",
  "ContentOptions",
  "LoopOptions",
  "MetricOptions",
  "ProgressOptions",
  // Passed to `Error`, which takes anything.
  "ProviderErrorOptions",
  "ReorderBufferOptions",
  "SourceOptions",
  "SubjectOptions",
  "TelemetryOptions",
]);

const emitted = vi.spyOn(process, "emitWarning").mockImplementation(() => {});
afterEach(() => {
  emitted.mockClear();
  vi.unstubAllEnvs();
});

it.each(Object.entries(GIVEN))("a wrong name in %s is reported", async (type, give) => {
  vi.stubEnv("OTEL_TRACES_EXPORTER", "none");
  vi.stubEnv("OTEL_METRICS_EXPORTER", "none");
  const name = `zzzz${type}`;
  await Promise.resolve()
    .then(() => give({ [name]: 1 }))
    .catch(() => {});
  expect(emitted.mock.calls.map(([message]) => message)).toContain(
    `entelix-otel: unknown option \`${name}\`: it has no effect`,
  );
});

/** The pages of the API, which are made of the declarations. */
function apiText(): string {
  const folder = new URL("../../docs/api/", import.meta.url);
  return readdirSync(folder)
    .map((page) => readFileSync(new URL(page, folder), "utf8"))
    .join("\n");
}

it("is a list of all public types of options", () => {
  const types = new Set<string>();
  for (const [, name] of apiText().matchAll(/^(?:interface|type) (\w+Options)\b/gm)) {
    if (name !== undefined && !PARTS.has(name)) types.add(name);
  }
  types.add("OpenRunsOptions");
  expect([...types].sort()).toEqual(Object.keys(GIVEN).sort());
});

it("the places of options have them, and no other place has", () => {
  const text = apiText();
  const optionsOf = (...types: string[]) =>
    types.flatMap((type) => {
      const [, body = ""] =
        new RegExp(`^interface ${type}\\b[^{]*\\{\\n([^]*?)^\\}`, "m").exec(text) ?? [];
      return [...body.matchAll(/^ {2}readonly (\w+)\??:/gm)].map(([, name = ""]) => name);
    });
  const [setup, bridge, ...adapters] = Object.values(OPTION_PLACES);
  const setups = optionsOf("TracingOptions", "TelemetrySetupOptions");
  const bridges = optionsOf("BridgeOptions", "TelemetryOptions", "ContentOptions");
  const ofAdapters = [...optionsOf("AdapterOptions"), ...optionsOf("AiSdkTelemetryOptions")];
  expect([setups.length > 9, bridges.length > 9, ofAdapters.length > 5]).toEqual([
    true,
    true,
    true,
  ]);
  const wrong = (place: readonly string[] | undefined, has: string[], others: string[]) =>
    place?.filter((name) => !has.includes(name) || others.includes(name));
  expect(wrong(setup, setups, bridges)).toEqual([]);
  expect(wrong(bridge, bridges, setups)).toEqual([]);
  for (const place of adapters) expect(wrong(place, ofAdapters, setups)).toEqual([]);
});

it("wrong types and a setup in place of a bridge are named", async () => {
  const message = (make: () => unknown) => {
    try {
      return make();
    } catch (error) {
      return String(error);
    }
  };
  const list = JSON.parse("5");
  expect(message(() => new FanOutSink(list))).toBe(
    "TypeError: sinks: expected a list of sinks, got number",
  );
  const setup = setupTracing({ ...quiet });
  expect(message(() => Reflect.construct(LangChainHandler, [{ ...common, sink: setup }]))).toBe(
    'TypeError: sink: expected an object with a function "send", got object: pass its `createBridge()`',
  );
  await setup.shutdown();
});
