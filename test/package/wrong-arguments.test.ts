import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import * as aiSdk from "../../src/entries/ai-sdk.ts";
import * as audit from "../../src/entries/audit.ts";
import * as claude from "../../src/entries/claude-agent.ts";
import * as context from "../../src/entries/context.ts";
import * as events from "../../src/entries/events.ts";
import * as langchain from "../../src/entries/langchain.ts";
import * as mastra from "../../src/entries/mastra.ts";
import * as mcp from "../../src/entries/mcp.ts";
import * as openai from "../../src/entries/openai-agents.ts";
import * as postgres from "../../src/entries/postgres.ts";
import * as prices from "../../src/entries/prices.ts";
import * as replay from "../../src/entries/replay.ts";
import * as runtime from "../../src/entries/runtime.ts";
import * as sinks from "../../src/entries/sinks.ts";
import * as main from "../../src/index.ts";

const ENTRIES = {
  ...{ main, events, sinks, runtime, audit, context, replay, postgres, prices },
  ...{ langchain, aiSdk, mastra, mcp, openai, claude },
};
const VALUES = [undefined, null, 5, "x", {}, [], true, () => {}];
const CALLS = [[], ...VALUES.map((value) => [value]), ...pairs({}), ...pairs("x"), ...pairs([])];

function pairs(first: unknown): unknown[][] {
  return VALUES.map((value) => [first, value]);
}

/** Messages of the engine and of Node, which do not name an argument of this package. */
const FOREIGN =
  /is not a function|is not iterable|^Cannot |undefined is not|Invalid |must be|called on|not an object/;

async function messageOf(call: () => unknown): Promise<string | undefined> {
  try {
    await call();
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

async function foreignMessages(call: (...given: unknown[]) => unknown): Promise<string[]> {
  const found: string[] = [];
  for (const given of CALLS) {
    const message = await messageOf(() => call(...given));
    if (message !== undefined && FOREIGN.test(message) && !message.includes(": expected ")) {
      found.push(`(${given.map((value) => JSON.stringify(value)).join()}): ${message}`);
    }
  }
  return found;
}

type Callable = (...given: unknown[]) => unknown;

function isCallable(value: unknown): value is Callable {
  return typeof value === "function";
}

/** Functions and classes of all entries but those that set up the process. */
const EXPORTS = Object.entries(ENTRIES).flatMap(([entry, names]) =>
  Object.entries(names).flatMap(([name, value]: [string, unknown]) =>
    isCallable(value) ? [{ name: `${entry}.${name}`, value }] : [],
  ),
);

const sink = { send() {} };
const log = new audit.MemorySessionLog();
const open = new openai.OpenAIAgentsProcessor({ sink, tenant: "acme" });
const METHODS: readonly (readonly [string, object, readonly string[]])[] = [
  ["Bridge", new main.Bridge(), ["send", "withSpan", "contextOf", "runContext", "openRuns"]],
  ["FanOutSink", new sinks.FanOutSink([sink]), ["send", "withSpan"]],
  ["FailOpenSink", new sinks.FailOpenSink(sink), ["send", "withSpan"]],
  ["StateErasureSink", new sinks.StateErasureSink(sink), ["send", "withSpan"]],
  ["RecorderSink", new sinks.RecorderSink({ stream: new PassThrough() }), ["send"]],
  ["MemorySessionLog", log, ["append", "loadSince", "archiveBefore"]],
  ["AuditSink", new audit.AuditSink({ log }), ["send"]],
  ["AgentError", main.AgentError, ["usageLimitExceeded", "toolErrorTerminal", "interrupted"]],
  ["OpenAIAgentsProcessor", open, ["withSpan", "noteResult"]],
  ["ClaudeAgent", claude.claudeAgent({ sink, tenant: "acme" }), ["query"]],
];

describe("a wrong argument", () => {
  it.each(EXPORTS)("is named by $name", async ({ value }) => {
    // Classes are those whose prototype cannot be changed.
    const isClass = Object.getOwnPropertyDescriptor(value, "prototype")?.writable === false;
    const call = isClass ? (...given: unknown[]) => Reflect.construct(value, given) : value;
    expect(await foreignMessages(call)).toEqual([]);
  });

  it.each(METHODS)("is named by a method of %s", async (_, object, names) => {
    for (const name of names) {
      const method: unknown = Reflect.get(object, name);
      if (!isCallable(method)) throw new Error(`no method ${name}`);
      expect([name, await foreignMessages((...given) => method.apply(object, given))]).toEqual([
        name,
        [],
      ]);
    }
  });

  it("is shown with what to do", async () => {
    const wrong = JSON.parse("5");
    expect(() => events.parseExact(wrong)).toThrow(
      new TypeError("text: expected a text, got number"),
    );
    const missing = JSON.parse("{}").directory;
    await expect(audit.NdjsonSessionLog.open(missing)).rejects.toThrow(
      new TypeError("directory: expected a text, got undefined"),
    );
    const noSink = JSON.parse('{"agent":"a","tenant":"acme"}');
    const setup = { ...noSink, sink: { createBridge: () => sink } };
    await expect(runtime.runAgent(setup, () => 1)).rejects.toThrow(
      new TypeError(
        'sink: expected an object with a function "send", got object: pass its `createBridge()`',
      ),
    );
    expect(() => Reflect.construct(audit.NdjsonSessionLog, ["./audit"])).toThrow(
      new TypeError("expected a call of NdjsonSessionLog.open(), got new NdjsonSessionLog()"),
    );
  });
});
