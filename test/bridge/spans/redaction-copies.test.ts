import { Writable } from "node:stream";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Bridge } from "../../../src/bridge/bridge.ts";
import type { BridgeOptions } from "../../../src/bridge/telemetry-options.ts";
import { MemorySessionLog } from "../../../src/entries/audit.ts";
import { stringifyExact } from "../../../src/entries/events.ts";
import { type ContentField, FanOutSink, RecorderSink } from "../../../src/entries/sinks.ts";
import type { AgentEvent, RedactionHook } from "../../../src/index.ts";
import { bench, RunEvents, second } from "../../support/run-events.ts";
import { collectSpans, fingerprint } from "../../support/spans.ts";

const run = new RunEvents("018f3c7a-0000-7000-8000-000000000002");
const paused = new RunEvents("018f3c7a-0000-7000-8000-000000000003");

/** Every event with content, all with the same value. */
function eventsWith(value: unknown): AgentEvent[] {
  return [
    run.started(),
    run.toolStart("call_1", "fetch", value),
    run.toolComplete("call_1", "fetch", 1000, value),
    run.modelStart("m1", { input: value }),
    run.modelComplete("m1", { output: value }),
    run.modelStart("m2"),
    run.modelComplete("m2", { input: value, output: value }),
    run.complete({ state: value }),
    paused.started(),
    paused.interrupted({ payload: value }),
  ];
}

/** So many values of them go through the hook as they are; messages come in the conventions' form. */
const VALUES = 4;

function isAsGiven({ attribute }: ContentField): boolean {
  return !attribute.endsWith(".messages");
}

/** What is left of these events: spans and rows. */
async function traces(value: unknown, options: BridgeOptions) {
  const { provider, spans } = collectSpans();
  const log = new MemorySessionLog();
  const bridge = new Bridge({
    tracerProvider: provider,
    audit: log,
    mode: "replay",
    captureContent: true,
    ...options,
  });
  for (const [at, event] of eventsWith(value).entries()) {
    await bridge.send(event, { timestamp: second(at), event_id: `e${at}` });
  }
  await bridge.shutdown();
  const rows = await log.loadSince({ tenant_id: run.tenant_id, thread_id: run.run_id }, 0);
  return { spans: spans().map(fingerprint), rows };
}

/** Changes all that it can reach, and shows it. */
function scribble(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) value.reverse();
  for (const key of Object.keys(value)) {
    scribble(Reflect.get(value, key));
    Reflect.set(value, key, "scribbled");
  }
  for (const key of Reflect.ownKeys(value)) Reflect.deleteProperty(value, key);
  if (Array.isArray(value)) value.push("scribbled");
  else Reflect.set(value, "scribbled", true);
  if (value instanceof Map || value instanceof Set) value.clear();
  if (value instanceof Date) value.setTime(0);
  return value;
}

const anything = fc.anything({
  withBigInt: true,
  withBoxedValues: true,
  withDate: true,
  withMap: true,
  withNullPrototype: true,
  withSet: true,
  withTypedArray: true,
  withSparseArray: true,
});

describe("a redaction hook that changes what it is given", () => {
  it("changes neither the caller's object nor an audit row", async () => {
    await fc.assert(
      fc.asyncProperty(anything, async (value) => {
        const before = structuredClone(value);
        const plain = await traces(value, {});
        const scribbled = await traces(value, { redact: scribble });
        expect(structuredClone(value)).toStrictEqual(before);
        expect(scribbled.rows).toEqual(plain.rows);
        expect(scribbled.rows).toHaveLength(4);
      }),
    );
  });

  it("has what it returns shown, and each value as the caller has it, however often it comes", async () => {
    const value = { to: "a@b.example", list: [{ n: 2n ** 60n }], "": null };
    const seen: string[] = [];
    const redact: RedactionHook = (given, field) => {
      if (isAsGiven(field)) seen.push(stringifyExact(given));
      return scribble(given);
    };
    const { spans } = await traces(value, { redact });
    expect(new Set(seen)).toEqual(new Set([stringifyExact(value)]));
    expect(seen).toHaveLength(VALUES);
    expect(spans.join().match(/"{\\*"scribbled\\*":true/g)).toHaveLength(VALUES);
  });

  it("has copies of messages, too", async () => {
    const messages = [{ role: "user", parts: [{ type: "text", content: "hi" }] }];
    const seen: unknown[] = [];
    const { spans } = await traces(messages, {
      redact: (given, field) => {
        if (isAsGiven(field)) return undefined;
        seen.push(structuredClone(given));
        return scribble(given);
      },
    });
    expect(messages).toEqual([{ role: "user", parts: [{ type: "text", content: "hi" }] }]);
    const answered = [{ ...messages[0], finish_reason: "unknown" }];
    expect(seen).toEqual([messages, answered, answered, messages]);
    expect(spans.join().match(/scribbled/g)).toHaveLength(4);
  });

  class Order {
    readonly id = 7;
    readonly items = [{ sku: "a" }];
    readonly total = () => 1;
    get secret() {
      return "s";
    }
  }
  const cycle: Record<string, unknown> = { name: "c" };
  cycle.self = cycle;
  it.each<[string, unknown, unknown]>([
    ["an instance with a function", new Order(), { id: 7, items: [{ sku: "a" }] }],
    ["a Proxy", new Proxy({ a: [1] }, {}), { a: [1] }],
    ["frozen", Object.freeze({ a: Object.freeze([1]) }), { a: [1] }],
    ["a value with toJSON", { toJSON: () => ({ a: 1 }) }, { a: 1 }],
    ["a getter", Object.defineProperty({}, "a", { enumerable: true, get: () => [1] }), { a: [1] }],
    ["a cycle", cycle, { name: "c", self: "[unserializable: it contains itself]" }],
    ["a function", Order, "[unserializable: function]"],
    [
      "a Map",
      { map: new Map([["k", 1]]), when: new Date(0) },
      { map: { k: 1 }, when: "1970-01-01T00:00:00.000Z" },
    ],
    [
      "a value whose fields throw",
      new Proxy(
        {},
        {
          ownKeys: () => {
            throw new Error("no");
          },
        },
      ),
      "[unserializable: a getter or toJSON threw]",
    ],
  ])("gets of %s what its JSON says", async (_, value, expected) => {
    const seen: unknown[] = [];
    await traces(value, {
      redact: (given, field) => void (isAsGiven(field) && seen.push(given)),
    });
    expect(seen).toHaveLength(VALUES);
    for (const given of seen) expect(given).toEqual(expected);
  });

  it("gets bytes as base64, long texts complete, and of a large list no more than can be shown", async () => {
    const text = "x".repeat(2_000_000);
    const raw = new Uint8Array([1, 2]);
    const holes: unknown[] = [];
    holes[4_294_967_294] = "end";
    let copies: unknown[] = [];
    const test = bench({
      captureContent: true,
      redact: (given) => {
        copies.push(given);
        return holes;
      },
    });
    test.at(0, run.toolStart("call_1", "fetch", { text, raw, list: Array(700_000).fill(1) }));
    test.at(1, run.complete({ state: holes }));
    const [copy, state] = copies;
    expect(copy).toMatchObject({ text, raw: { type: "Uint8Array", base64: "AQI=" } });
    copies = Object(copy).list;
    expect(copies.length).toBeLessThan(600_000);
    expect(copies).toContainEqual(expect.stringMatching(/^… \[\d+ items left out\]$/));
    expect(state).toEqual({ 4294967294: "end" });
    const shown = test.find("execute_tool fetch").attributes["gen_ai.tool.call.arguments"];
    expect(shown).toBe('{"4294967294":"end"}');
  });

  it("gets of a value that is nested deeply what can be read again", async () => {
    let deep: unknown = "secret";
    for (let depth = 0; depth < 1_500; depth++) deep = [deep];
    const { provider, spans } = collectSpans();
    const bridge = new Bridge({
      tracerProvider: provider,
      captureContent: true,
      redact: (given) => stringifyExact(given).includes("secret"),
    });
    await bridge.send(run.started());
    await bridge.send(run.complete({ state: deep }));
    await bridge.shutdown();
    expect(spans()[0]?.attributes["entelix.run.state"]).toBe("false");
    expect(bridge.diagnostics().redactionFailures).toBe(0);
  });

  it("of a recorder changes nothing either", async () => {
    await fc.assert(
      fc.asyncProperty(anything, async (value) => {
        const before = structuredClone(value);
        const rows = async (sinksBefore: RecorderSink[]) => {
          const log = new MemorySessionLog();
          const fan = new FanOutSink([...sinksBefore, new Bridge({ audit: log, mode: "replay" })]);
          await fan.send(run.toolStart("call_1", "fetch", value), { timestamp: second(0) });
          return log.loadSince({ tenant_id: run.tenant_id, thread_id: run.run_id }, 0);
        };
        const plain = await rows([]);
        const stream = new Writable({ write: (_, _encoding, done) => done() });
        const recorder = new RecorderSink({ stream, redact: scribble });
        expect(await rows([recorder])).toEqual(plain);
        expect(structuredClone(value)).toStrictEqual(before);
        expect(recorder.diagnostics().hookFailures).toBe(0);
      }),
    );
  });
});

describe("a resolver that changes what it is given", () => {
  it("changes neither the event, nor its envelope, nor the audit row", async () => {
    const event = run.toolStart("call_1", "fetch", { q: ["a"] });
    const envelope = { timestamp: second(0), thread_id: "t1", event_id: "e0" };
    const before = structuredClone({ event, envelope });
    const log = new MemorySessionLog();
    const told: unknown[] = [];
    const bridge = new Bridge({
      audit: log,
      mode: "replay",
      resolveParent: (given, beside) => {
        told.push(structuredClone({ event: given, envelope: beside }));
        scribble(given);
        scribble(beside);
        return undefined;
      },
    });
    await bridge.send(event, envelope);
    expect(told).toEqual([before]);
    expect({ event, envelope }).toEqual(before);
    const [row] = await log.loadSince({ tenant_id: run.tenant_id, thread_id: "t1" }, 0);
    expect(row).toMatchObject({ event_id: "e0", event: { name: "fetch", input: { q: ["a"] } } });
    expect(bridge.diagnostics().hookFailures).toBe(0);
  });
});
