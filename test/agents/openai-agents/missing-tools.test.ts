import { run } from "@openai/agents-core";
import { describe, expect, it } from "vitest";
import type { SdkSpan, SdkSpanData } from "../../../src/entries/openai-agents.ts";
import { add, agent, rejected } from "./scenes.ts";
import { asks } from "./scripted-model.ts";
import { listen } from "./told.ts";

const FAILED = "A tool_error none validation: none was not called: the agent has no such tool";

const failedCall = (heard: ReturnType<typeof listen>) =>
  heard.told.flatMap(({ event }) => (event.type === "tool_error" ? [event] : []))[0];

describe("a call of a tool that the agent does not have", () => {
  it("is a failed call of the run that the SDK fails", async () => {
    const heard = listen();
    const steps = [[asks("add", { a: 1 }, "c1"), asks("none", { q: 1 }, "c2")]];
    await rejected(run(agent("A", steps, { tools: [add] }), "hi"));
    const events = await heard.events();
    expect(events.slice(3, 5)).toEqual(["A tool_start none c2", FAILED]);
    expect(events.at(-1)).toBe("A failed model_dispatch: Tool none not found in agent A.");
    const input = heard.told.flatMap(({ event }) =>
      event.type === "tool_start" ? [event.input] : [],
    );
    expect(input).toEqual([{ q: 1 }]);
    expect(failedCall(heard)).toMatchObject({
      envelope: { wire_code: "tool_unknown", origin: "tool" },
      error_for_llm: expect.any(String),
    });
  });

  it.each<[string, SdkSpanData, SdkSpanData, string?]>([
    [
      "the Responses API",
      {
        type: "response",
        response_id: "r1",
        _response: {
          output: [{ type: "function_call", call_id: "c1", name: "none", arguments: "{}" }],
        },
      },
      {
        type: "response",
        response_id: "r2",
        _input: [{ type: "function_call_result", callId: "c1", output: "no tool none" }],
      },
    ],
    [
      "Chat Completions",
      {
        type: "generation",
        output: [
          {
            choices: [
              {
                message: {
                  role: "assistant",
                  tool_calls: [
                    { id: "c1", type: "function", function: { name: "none", arguments: "{}" } },
                  ],
                },
              },
            ],
          },
        ],
      },
      {
        type: "generation",
        input: [{ role: "tool", tool_call_id: "c1", content: "no tool none" }],
      },
    ],
    [
      "not with data that the SDK calls sensitive",
      {
        type: "response",
        _response: {
          output: [{ type: "function_call", call_id: "c1", name: "none", arguments: "{}" }],
        },
      },
      { type: "response", response_id: "r2" },
      "",
    ],
  ])("has the text of the answer that the model gets: %s", async (...given) => {
    const [, answer, next, text = "no tool none"] = given;
    const heard = listen();
    const { processor } = heard;
    const trace = { traceId: "trace_missing", name: "Agent workflow" };
    const span = (spanId: string, parentId: string | null, spanData: SdkSpanData): SdkSpan => ({
      ...{ spanId, traceId: trace.traceId, parentId, spanData },
      ...{ error: null, startedAt: null, endedAt: null },
    });
    await processor.onTraceStart(trace);
    const a = span("a1", null, { type: "agent", name: "A", tools: ["add"] });
    await processor.onSpanStart(a);
    for (const [id, data] of [
      ["m1", answer],
      ["m2", next],
    ] as const) {
      const model = span(id, "a1", data);
      await processor.onSpanStart(model);
      await processor.onSpanEnd(model);
    }
    await processor.onSpanEnd(a);
    await processor.onTraceEnd(trace);
    const events = await heard.events();
    expect(events.filter((line) => !line.includes("model"))).toEqual([
      ...["A started", "A tool_start none c1", FAILED, "A complete"],
    ]);
    expect(failedCall(heard)?.error_for_llm).toBe(text);
    const root = heard.spans().find(({ name }) => name === "invoke_agent A");
    expect(root?.attributes["entelix.run.tool_calls"]).toBe(1);
  });
});
