import { run } from "@openai/agents-core";
import { describe, expect, it } from "vitest";
import type { SdkSpan, SdkSpanData } from "../../../src/entries/openai-agents.ts";
import { agent } from "./scenes.ts";
import { says } from "./scripted-model.ts";
import { listen } from "./told.ts";

const TRACE = { traceId: "trace_broken", name: "Agent workflow" };

function span(spanId: string, parentId: string | null, spanData: SdkSpanData): SdkSpan {
  const nothing = { error: null, startedAt: null, endedAt: null };
  return { spanId, traceId: TRACE.traceId, parentId, spanData, ...nothing };
}

/** An agent whose one model call ends with this on its span, and without an error. */
async function answered(spanData: SdkSpanData): Promise<readonly string[]> {
  const heard = listen();
  const { processor } = heard;
  const a = span("a1", null, { type: "agent", name: "A" });
  const m = span("m1", "a1", spanData);
  await processor.onTraceStart(TRACE);
  await processor.onSpanStart(a);
  await processor.onSpanStart(m);
  await processor.onSpanEnd(m);
  await processor.onSpanEnd(a);
  await processor.onTraceEnd(TRACE);
  const [, , ...ends] = await heard.events();
  expect(heard.bridge.diagnostics().openRuns).toBe(0);
  return ends;
}

const CANCELLED = [
  "A model_error cancelled: the stream was broken off",
  "A failed cancelled: the stream was broken off",
];
const COMPLETE = ["A model_complete", "A complete"];
const CHAT = { type: "generation", model: "small-1", model_config: {} };
const FAILED = { status: "failed", output: [] };

describe("a stream that nobody reads to its end", () => {
  it("is called off, and so is its run", async () => {
    const heard = listen();
    const result = await run(agent("A", [[says("a long answer")]]), "hi", { stream: true });
    for await (const event of result) if (event.type === "raw_model_stream_event") break;
    await result.completed;
    expect(result.cancelled).toBe(true);
    expect(await heard.tree()).toBe("invoke_agent A failed cancelled\n  chat error\n");
    const [start, ...ends] = await heard.events();
    expect([start, ...ends]).toEqual(["A started", "A model_start", ...CANCELLED]);
  });

  it.each<readonly [name: string, data: SdkSpanData, told: readonly string[]]>([
    ["Responses: asked, not answered", { type: "response", _input: "hi" }, CANCELLED],
    ["Responses, without sensitive data", { type: "response" }, COMPLETE],
    ["Responses: answered", { type: "response", _input: "hi", response_id: "r" }, COMPLETE],
    ["Chat Completions: asked, not answered", { ...CHAT, input: [] }, CANCELLED],
    ["Chat Completions, without sensitive data", CHAT, COMPLETE],
    ["Chat Completions: answered", { ...CHAT, input: [], output: [] }, COMPLETE],
    [
      "a model that records what was asked, and no more",
      { type: "generation", input: [] },
      COMPLETE,
    ],
    ["a model that records its usage", { ...CHAT, input: [], usage: {} }, COMPLETE],
  ])("%s", async (_, data, told) => {
    expect(await answered(data)).toEqual(told);
  });
});

describe("a response that failed", () => {
  it.each<readonly [error: unknown, text: string]>([
    [{ code: "server_error", message: "try again" }, "server_error: try again"],
    [null, "the response failed"],
  ])("is a failed model call, and the run goes on: %j", async (error, text) => {
    const data = {
      type: "response",
      _input: "hi",
      response_id: "r",
      _response: { ...FAILED, error },
    };
    expect(await answered(data)).toEqual([`A model_error model_dispatch: ${text}`, "A complete"]);
  });
});

describe("an answer that ended too soon", () => {
  const text =
    'OpenAI Responses request ended with unsuccessful terminal state "response.incomplete".';
  const refused = `ModelBehaviorError: ${text}`;

  it.each([
    ["max_output_tokens", { message: refused, data: { error: refused } }],
    ["content_filter", { message: text }],
  ])("is an answer, and its run fails where the SDK refuses it: %s", async (reason, error) => {
    const heard = listen({ captureContent: true });
    const { processor } = heard;
    const asked = { type: "function_call", name: "look", call_id: "c1", arguments: '{"n' };
    const said = { type: "message", content: [{ type: "output_text", text: "par" }] };
    const response = {
      model: "gpt-5.4-2026-03-01",
      status: "incomplete",
      incomplete_details: { reason },
      output: [said, asked],
      usage: { input_tokens: 5, output_tokens: 3 },
    };
    const a = span("a1", null, { type: "agent", name: "A" });
    const m = span("m1", "a1", { type: "response", _input: "hi", _response: response });
    await processor.onTraceStart(TRACE);
    await processor.onSpanStart(a);
    await processor.onSpanStart(m);
    await processor.onSpanEnd(Object.assign(m, { error }));
    await processor.onSpanEnd(
      Object.assign(a, { error: { message: "Error in agent run", data: { error: refused } } }),
    );
    await processor.onTraceEnd(TRACE);
    expect((await heard.events()).slice(2)).toEqual([
      "A model_complete",
      `A failed model_dispatch: ${text}`,
    ]);
    const chat = heard.spans().find(({ name }) => name.startsWith("chat"));
    expect(chat?.name).toBe("chat gpt-5.4-2026-03-01");
    expect(chat?.attributes).toMatchObject({
      "gen_ai.request.model": "gpt-5.4-2026-03-01",
      "gen_ai.response.finish_reasons": [reason],
      "gen_ai.usage.input_tokens": 5,
      "gen_ai.output.messages": expect.stringContaining('"par"'),
    });
  });

  it("names the model also if the response failed", async () => {
    const heard = listen();
    const { processor } = heard;
    const response = {
      ...FAILED,
      model: "gpt-5.4",
      error: { code: "server_error", message: "bad luck" },
    };
    const m = span("m1", "a1", { type: "response", _input: "hi", _response: response });
    await processor.onTraceStart(TRACE);
    await processor.onSpanStart(span("a1", null, { type: "agent", name: "A" }));
    await processor.onSpanStart(m);
    await processor.onSpanEnd(Object.assign(m, { error: { message: "failed" } }));
    await processor.onTraceEnd(TRACE);
    await processor.forceFlush();
    expect(heard.spans().map(({ name }) => name)).toContain("chat gpt-5.4");
  });
});
