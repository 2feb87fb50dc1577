import { existsSync } from "node:fs";
import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { AuditSink, MemorySessionLog, NdjsonSessionLog } from "../../src/entries/audit.ts";
import { LangChainHandler } from "../../src/entries/langchain.ts";
import { OpenAIAgentsProcessor } from "../../src/entries/openai-agents.ts";
import { PostgresSessionLog } from "../../src/entries/postgres.ts";
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
  StateErasureSink,
} from "../../src/entries/sinks.ts";
import { setupTelemetry } from "../../src/entries/telemetry.ts";
import { Bridge } from "../../src/index.ts";

/** Called as plain JavaScript does: `Reflect` holds nobody to the types. */
type Call = (...args: unknown[]) => unknown;

const made = (of: NewableFunction): Call => {
  return (...args) => Reflect.construct(of, args);
};
const called = (fn: CallableFunction, self?: unknown): Call => {
  return (...args) => Reflect.apply(fn, self, args);
};

const sink = { send() {} };
const bridge = made(Bridge);
const otelSink = made(Bridge);
const recorder = made(RecorderSink);
const tracing = called(setupTracing);
const telemetry = called(setupTelemetry);
const langChain = made(LangChainHandler);
const openAi = made(OpenAIAgentsProcessor);
const ndjson = called(NdjsonSessionLog.open, NdjsonSessionLog);
const postgres = called(PostgresSessionLog.open, PostgresSessionLog);
const agent = called(runAgent);

const FN = "expected a function, got";
const stream = new PassThrough();

const WRONG: readonly (readonly [Call, readonly unknown[], string])[] = [
  [bridge, ["x"], "options: expected an object, got string"],
  [bridge, [null], "options: expected an object, got null"],
  [bridge, [{ audit: "./x" }], 'audit: expected an object with a function "append", got string'],
  [bridge, [{ audit: null }], 'audit: expected an object with a function "append", got null'],
  [
    bridge,
    [{ audit: Promise.resolve() }],
    'audit: expected an object with a function "append", got object',
  ],
  [bridge, [{ shutdownTimeoutMs: "5" }], "shutdownTimeoutMs: expected milliseconds from 0 to"],
  [bridge, [{ onError: "log" }], `onError: ${FN} string`],
  [
    otelSink,
    [{ tracerProvider: {} }],
    'tracerProvider: expected an object with a function "getTracer", got object',
  ],
  [
    otelSink,
    [{ meterProvider: 1 }],
    'meterProvider: expected an object with a function "getMeter", got number',
  ],
  [otelSink, [{ metrics: true }], "metrics: expected an object, got boolean"],
  [
    otelSink,
    [{ metrics: { tenants: "acme" } }],
    "metrics.tenants: expected a number or a list of names, got string",
  ],
  [otelSink, [{ attributes: {} }], `attributes: ${FN} object`],
  [otelSink, [{ rootParent: "Ambient" }], 'rootParent: expected own or ambient, got "Ambient"'],
  [otelSink, [{ resolveParent: "x" }], `resolveParent: ${FN} string`],
  [
    otelSink,
    [{ benignFailureKinds: "cancelled" }],
    "benignFailureKinds: expected a list, got string",
  ],
  [
    otelSink,
    [{ benignFailureKinds: ["internal", "canceled"] }],
    "benignFailureKinds[1]: expected tool_error_terminal or usage_limit_exceeded or cancelled or",
  ],
  [otelSink, [{ captureContent: "true" }], "captureContent: expected true or false, got string"],
  [otelSink, [{ approvalPerson: 1 }], "approvalPerson: expected true or false, got number"],
  [otelSink, [{ limits: [] }], "limits: expected an object, got a list"],
  [otelSink, [{ limits: { openRuns: "9" } }], "limits.openRuns: expected a whole number from 1"],
  [otelSink, [{ mode: "Replay" }], 'mode: expected live or replay, got "Replay"'],
  [otelSink, [{ redact: /secret/ }], `redact: ${FN} object`],
  [otelSink, [{ maxValueBytes: "9" }], "maxValueBytes: expected a whole number of bytes from 1"],
  [tracing, [null], "options: expected an object, got null"],
  [tracing, [{ serviceName: 7 }], "serviceName: expected a text, got number"],
  [tracing, [{ resourceAttributes: "a=b" }], "resourceAttributes: expected an object, got string"],
  [tracing, [{ endpoint: 4318 }], "endpoint: expected a text, got number"],
  [tracing, [{ headers: "a=b" }], "headers: expected an object, got string"],
  [tracing, [{ headers: [["a", "b"]] }], "headers: expected an object, got a list"],
  [tracing, [{ sampler: 0.5 }], 'sampler: expected an object with a function "shouldSample"'],
  [tracing, [{ spanProcessors: sink }], "spanProcessors: expected a list, got object"],
  [
    tracing,
    [{ spanProcessors: [sink] }],
    'spanProcessors[0]: expected an object with a function "onEnd", got object',
  ],
  [tracing, [{ register: "false" }], "register: expected true or false, got string"],
  [tracing, [{ handleSignals: 1 }], "handleSignals: expected true or false, got number"],
  [tracing, [{ onError: {} }], `onError: ${FN} object`],
  [tracing, [{ queueBytes: "9" }], "queueBytes: expected a whole number of bytes from 1"],
  [tracing, [{ shutdownTimeoutMs: "9" }], "shutdownTimeoutMs: expected milliseconds from 1 to"],
  [telemetry, [null], "options: expected an object, got null"],
  [telemetry, [{ metricReaders: {} }], "metricReaders: expected a list, got object"],
  [telemetry, [{ metricIntervalMs: "9" }], "metricIntervalMs: expected milliseconds from 1 to"],
  [made(FanOutSink), [[sink, "x"]], 'sinks[1]: expected an object with a function "send"'],
  [made(FailOpenSink), [], 'inner: expected an object with a function "send", got undefined'],
  [made(FailOpenSink), [sink, { onError: 1 }], `onError: ${FN} number`],
  [made(FailOpenSink), [sink, () => {}], "options: expected an object, got function"],
  [made(StateErasureSink), [{}], 'inner: expected an object with a function "send", got object'],
  [made(BroadcastSink), [{ onDebug: true }], `onDebug: ${FN} boolean`],
  [made(BroadcastSink), [{ capacity: "9" }], "capacity: expected a whole number"],
  [made(ChannelSink), [{ maxWaiting: "9" }], "maxWaiting: expected a whole number"],
  [made(CaptureSink), [{ limit: "9" }], "limit: expected a whole number from 0"],
  [made(DroppingSink), [{ onDebug: "x" }], `onDebug: ${FN} string`],
  [recorder, ["events.ndjson"], "options: expected an object, got string"],
  [recorder, [{}], "expected a path or a stream, and not both"],
  [recorder, [{ path: "x", stream }], "expected a path or a stream, and not both"],
  [recorder, [{ stream: {} }], 'stream: expected an object with a function "write", got object'],
  [recorder, [{ stream, source: {} }], 'source: expected an object with a function "provenanceOf"'],
  // It would have recorded everything.
  [recorder, [{ stream, content: "false" }], "content: expected true or false, got string"],
  [recorder, [{ stream, redact: true }], `redact: ${FN} boolean`],
  [recorder, [{ stream, clock: 1 }], `clock: ${FN} number`],
  [made(AuditSink), [], "options: expected an object, got undefined"],
  [made(AuditSink), [{}], 'log: expected an object with a function "append", got undefined'],
  [made(AuditSink), [{ log: new MemorySessionLog(), onError: 1 }], `onError: ${FN} number`],
  [made(AuditSink), [{ log: new MemorySessionLog(), clock: 1 }], `clock: ${FN} number`],
  [made(MemorySessionLog), [{ eventIds: "9" }], "eventIds: expected a whole number from 1"],
  [ndjson, ["never", null], "options: expected an object, got null"],
  [ndjson, ["never", { onError: 1 }], `onError: ${FN} number`],
  [ndjson, ["never", { onRecovered: 1 }], `onRecovered: ${FN} number`],
  [
    ndjson,
    ["never", { files: {} }],
    'files: expected an object with a function "lock", got object',
  ],
  [ndjson, ["never", { lookUpBytes: -1 }], "lookUpBytes: expected a whole number from 0"],
  [ndjson, ["never", { segmentBytes: "9" }], "segmentBytes: expected a whole number from 1024"],
  [ndjson, [{ directory: "never" }], "directory: expected a text, got object"],
  [postgres, [], "options: expected an object, got undefined"],
  [postgres, [{ connection: 7 }], "connection: expected a text, got number"],
  [postgres, [{ pool: {} }], 'pool: expected an object with a function "connect", got object'],
  [postgres, [{ connection: "postgres://", schema: 1 }], "schema: expected a text, got number"],
  [postgres, [{ connection: "postgres://", migrate: "no" }], "migrate: expected true or false"],
  [postgres, [{ connection: "postgres://", onError: 1 }], `onError: ${FN} number`],
  [langChain, [], "options: expected an object, got undefined"],
  [langChain, [{ tenant: "t" }], 'sink: expected an object with a function "send", got undefined'],
  [langChain, [{ sink, tenant: "t", onError: 1 }], `onError: ${FN} number`],
  [
    langChain,
    [{ sink, tenant: "t", loneCalls: "no" }],
    'loneCalls: expected run or skip, got "no"',
  ],
  [langChain, [{ sink, tenant: "t", limits: 9 }], "limits: expected an object, got number"],
  [openAi, [], "options: expected an object, got undefined"],
  [openAi, [{ sink, tenant: "t", onError: 1 }], `onError: ${FN} number`],
  [agent, [{ sink, tenant: "t", agent: "a", onError: 1 }, () => {}], `onError: ${FN} number`],
];

describe("an option of another type, as plain JavaScript may give it,", () => {
  it.each(WRONG.map(([call, args, said]) => [said, call, args] as const))(
    "is named where it is given: %s",
    async (said, call, args) => {
      const thrown = await (async () => call(...args))().catch((error: unknown) => error);
      if (!(thrown instanceof TypeError || thrown instanceof RangeError)) {
        throw new Error(`expected a TypeError, got ${String(thrown)}`);
      }
      expect(thrown.message.slice(0, said.length)).toBe(said);
    },
  );

  it("leaves no log in the directory that it is given with", () => {
    expect(existsSync("never")).toBe(false);
  });
});
