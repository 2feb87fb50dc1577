import { afterEach, describe, expect, it, vi } from "vitest";
import type { TelemetryOptions } from "../../../src/bridge/telemetry-options.ts";
import type { ContentField } from "../../../src/entries/sinks.ts";
import { bench, RunEvents } from "../../support/run-events.ts";
import { fingerprint } from "../../support/spans.ts";

const RUN = "018f3c7a-0000-7000-8000-000000000002";
const run = new RunEvents(RUN);
const paused = new RunEvents("018f3c7a-0000-7000-8000-000000000003");
const failed = new RunEvents("018f3c7a-0000-7000-8000-000000000004");
const SWITCH = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT";

afterEach(() => {
  vi.unstubAllEnvs();
});

/** Every payload and every operator text there is, each with a word of its own. */
function play(options: TelemetryOptions) {
  const test = bench(options);
  test.at(0, run.started());
  test.at(1, run.toolStart("call_1", "fetch", { q: "word-input" }));
  test.at(2, run.toolComplete("call_1", "fetch", 1000, ["word-output"]));
  test.at(3, run.denied("call_2", "pay", "word-reason"));
  test.at(4, run.toolStart("call_3", "crash", "word-input-3"));
  test.at(5, { ...run.toolError("call_3"), tool: "crash", error: "word-tool-error" });
  test.at(6, run.complete({ state: { messages: "word-state" } }));
  test.at(7, paused.started());
  test.at(8, { ...paused.toolInterrupted("call_4"), error: "word-pause" });
  test.at(9, paused.interrupted({ payload: { q: "word-payload" } }));
  test.at(10, failed.started());
  test.at(11, failed.failed({ error: "word-failure" }));
  const words = (text: string) => [...text.matchAll(/word-[a-z0-9-]+/g)].map(([word]) => word);
  return { test, words: words(test.spans().map(fingerprint).join("\n")).sort() };
}

const ERRORS = ["word-failure", "word-pause", "word-tool-error"];
const ALL = [
  ...ERRORS,
  "word-input",
  "word-input-3",
  "word-output",
  "word-payload",
  "word-reason",
  "word-state",
].sort();

describe("content", () => {
  it("is off by default: only the operator's error text is on spans", () => {
    vi.stubEnv(SWITCH, undefined);
    expect(play({ captureContent: undefined }).words).toEqual(ERRORS);
  });

  it.each([
    ["true", ALL],
    ["SPAN_ONLY", ALL],
    ["span_and_event", ALL],
    ["false", ERRORS],
    ["event_only", ERRORS],
    ["", ERRORS],
    ["yes", ERRORS],
  ])("is as the environment says: %j", (value, words) => {
    vi.stubEnv(SWITCH, value);
    expect(play({ captureContent: undefined }).words).toEqual(words);
  });

  it("is as the option says, whatever the environment says", () => {
    vi.stubEnv(SWITCH, "true");
    expect(play({ captureContent: false }).words).toEqual(ERRORS);
    vi.stubEnv(SWITCH, "false");
    expect(play({ captureContent: true }).words).toEqual(ALL);
  });

  it.each(["false", "true", "0", 1, {}])(
    "is refused where a program without types gives %j for the option",
    (captureContent) => {
      vi.stubEnv(SWITCH, "true");
      const options: TelemetryOptions = {};
      Reflect.set(options, "captureContent", captureContent);
      expect(() => play(options)).toThrow("captureContent: expected true or false, got ");
    },
  );

  it("is JSON in the attributes of its place, text as it is", () => {
    const { test } = play({ captureContent: true });
    expect(
      test.find("execute_tool fetch", "gen_ai.tool.call.id", "call_1").attributes,
    ).toMatchObject({
      "gen_ai.tool.call.arguments": '{"q":"word-input"}',
      "gen_ai.tool.call.result": '["word-output"]',
    });
    expect(test.find("execute_tool crash").attributes["gen_ai.tool.call.arguments"]).toBe(
      "word-input-3",
    );
    expect(test.find("execute_tool pay").attributes["entelix.approval.reason"]).toBe("word-reason");
    expect(test.find("invoke_agent react", "entelix.run_id", RUN).attributes).toMatchObject({
      "entelix.run.state": '{"messages":"word-state"}',
    });
    const pause = test.find("invoke_agent react", "entelix.run_id", paused.run_id);
    expect(pause.attributes["entelix.interruption.payload"]).toBe('{"q":"word-payload"}');
  });

  it("keeps integers beyond 2^53, and shows what has no JSON as such", () => {
    const cycle: Record<string, unknown> = {};
    cycle.self = cycle;
    const test = bench({ captureContent: true });
    test.at(0, run.started());
    test.at(1, run.toolStart("big", "big", { id: 2n ** 60n }));
    test.at(1, run.toolStart("cycle", "cycle", cycle));
    test.at(1, { ...run.toolStart("none", "none"), input: undefined });
    test.at(2, run.complete());
    const argument = (tool: string) =>
      test.find(`execute_tool ${tool}`).attributes["gen_ai.tool.call.arguments"];
    expect(argument("big")).toBe('{"id":1152921504606846976}');
    expect(argument("cycle")).toBe('{"self":"[unserializable: it contains itself]"}');
    expect(argument("none")).toBeUndefined();
  });
});

describe("the size of a captured value", () => {
  function captured(text: string, maxValueBytes?: number): string {
    const test = bench({ captureContent: true, maxValueBytes });
    test.at(0, run.toolStart("call_1", "fetch", text));
    test.at(1, run.complete());
    return String(test.find("execute_tool fetch").attributes["gen_ai.tool.call.arguments"]);
  }

  it("is at most 4,096 bytes by default, the whole size noted", () => {
    expect(captured("x".repeat(4096))).toBe("x".repeat(4096));
    const cut = captured("x".repeat(4097));
    expect(cut).toMatch(/^x+… \[truncated, 4097 bytes total\]$/);
    expect(Buffer.byteLength(cut)).toBe(4096);
  });

  it.each([
    ["ascii", "a"],
    ["two bytes", "é"],
    ["three bytes", "한"],
    ["four bytes", "😀"],
    ["mixed", "a한é😀"],
    ["lone surrogates", "\ud800x\udc00"],
  ])("never passes its limit and never cuts inside a character: %s", (_name, unit) => {
    const text = unit.repeat(200);
    const total = Buffer.byteLength(text);
    for (let limit = 1; limit <= 60; limit++) {
      const cut = captured(text, limit);
      const note = `… [truncated, ${total} bytes total]`;
      expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(limit);
      const kept = cut.endsWith(note) ? cut.slice(0, -note.length) : cut;
      expect(cut.endsWith(note)).toBe(limit >= Buffer.byteLength(note));
      expect(Buffer.from(text).toString().startsWith(kept)).toBe(true);
    }
  });

  it("of error texts is at most 1,024 bytes by default, or as the option says", () => {
    const message = "ü".repeat(2000);
    for (const [maxStatusBytes, bytes] of [
      [undefined, 1024],
      [7, 6],
    ]) {
      const test = bench({ maxStatusBytes, benignFailureKinds: ["cancelled"] });
      test.at(0, run.toolError("call_1", { error: message }));
      test.at(1, run.failed({ error: message }));
      test.at(2, paused.toolError("call_1", { ...paused.toolInterrupted("x"), error: message }));
      test.at(3, paused.failed({ error: message, kind: { type: "cancelled" } }));
      const texts = test
        .spans()
        .map((span) => span.status.message ?? span.attributes["entelix.error.message"]);
      expect(texts.map((text) => Buffer.byteLength(String(text)))).toEqual([
        bytes,
        bytes,
        bytes,
        bytes,
      ]);
    }
  });

  it.each([["maxValueBytes"], ["maxMessageBytes"], ["maxStatusBytes"]])(
    "refuses a %s that is no size",
    (option) => {
      for (const value of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY]) {
        expect(() => bench({ [option]: value })).toThrow(
          new RangeError(`${option}: expected a whole number of bytes from 1, got ${value}`),
        );
      }
    },
  );
});

describe("the redaction hook", () => {
  it("sees every value with its place, and what it returns is shown", () => {
    const seen: [unknown, ContentField][] = [];
    const { words, test } = play({
      captureContent: true,
      redact: (value, field) => {
        seen.push([value, field]);
        return `hidden ${field.attribute}`;
      },
    });
    expect(words).toEqual([]);
    expect(seen.map(([, field]) => field.attribute)).toEqual([
      "gen_ai.tool.call.arguments",
      "gen_ai.tool.call.result",
      "entelix.approval.reason",
      "gen_ai.tool.call.arguments",
      "entelix.tool.model_text",
      "status",
      "entelix.run.state",
      "entelix.error.message",
      "entelix.interruption.payload",
      "status",
    ]);
    expect(seen[0]).toEqual([
      { q: "word-input" },
      { attribute: "gen_ai.tool.call.arguments", tenantId: "acme", runId: RUN, tool: "fetch" },
    ]);
    expect(test.find("execute_tool crash").description).toBe("hidden status");
  });

  it("sees error text even where content is off", () => {
    const seen: unknown[] = [];
    play({ redact: (value) => void seen.push(value) });
    expect(seen).toEqual(["word-tool-error", "word-pause", "word-failure"]);
  });

  it("that returns nothing leaves the attribute out, and the error text empty", () => {
    const { words, test } = play({ captureContent: true, redact: () => undefined });
    expect(words).toEqual([]);
    expect(test.find("execute_tool crash")).toMatchObject({ status: "error", description: "" });
    expect(
      test.find("execute_tool fetch", "gen_ai.tool.call.id", "call_1").attributes,
    ).not.toHaveProperty("gen_ai.tool.call.arguments");
  });

  it("has no arguments of a tool that has no input", () => {
    const test = bench({ captureContent: true });
    test.at(0, run.started());
    test.at(1, run.toolStart("call_1", "fetch", null));
    test.at(2, run.toolComplete("call_1"));
    expect(test.find("execute_tool fetch").attributes).not.toHaveProperty(
      "gen_ai.tool.call.arguments",
    );
  });

  it("may return any value: it is shown as JSON, shortened like any other", () => {
    const { test } = play({
      captureContent: true,
      maxValueBytes: 60,
      redact: () => ({ long: "y".repeat(100) }),
    });
    const call = test.find("execute_tool fetch", "gen_ai.tool.call.id", "call_1");
    expect(String(call.attributes["gen_ai.tool.call.result"])).toMatch(
      /^{"long":"y{30}… \[70 bytes cut\]"}$/,
    );
  });

  it.each([
    [
      "throws",
      () => {
        throw new Error("broken hook");
      },
    ],
    ["rejects", () => Promise.reject(new Error("broken hook"))],
    ["returns a promise", () => Promise.resolve("word-leaked")],
    [
      "returns what can't be looked at",
      () =>
        new Proxy(
          {},
          {
            has: () => {
              throw new Error("broken hook");
            },
          },
        ),
    ],
  ])("that %s hides the value, and is reported", async (_name, redact) => {
    const rejections: unknown[] = [];
    const note = (reason: unknown) => void rejections.push(reason);
    process.on("unhandledRejection", note);
    const { words, test } = play({ captureContent: true, redact });
    await new Promise((resolve) => setImmediate(resolve));
    process.off("unhandledRejection", note);
    expect(words).toEqual([]);
    expect(rejections).toEqual([]);
    expect(test.find("execute_tool crash").description).toBe("[redaction failed]");
    expect(
      test.find("execute_tool fetch", "gen_ai.tool.call.id", "call_1").attributes,
    ).toMatchObject({
      "gen_ai.tool.call.arguments": "[redaction failed]",
      "gen_ai.tool.call.result": "[redaction failed]",
    });
    expect(test.diagnostics().redactionFailures).toBe(10);
    expect(test.reports.length).toBeGreaterThanOrEqual(10);
    expect(new Set(test.reports.map((report) => report.split(":")[0]))).toEqual(
      new Set(["redact hook"]),
    );
  });
});
