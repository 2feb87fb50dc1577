import { describe, expect, it } from "vitest";
import type { ViewAttributes } from "../../../src/view/format.ts";
import { conversationOf } from "../../../src/view/model/conversation.ts";
import { viewSpan } from "../support/view-span.ts";

const talk = (attributes: ViewAttributes) =>
  conversationOf(viewSpan("a", undefined, { from: 0, to: 1 }, { attributes }));

describe("the conversation of a span", () => {
  it("has instructions, questions and answers with parts of every kind", () => {
    const messages = talk({
      "gen_ai.system_instructions": JSON.stringify([{ type: "text", content: "Be brief." }]),
      "gen_ai.input.messages": JSON.stringify([
        { role: "user", parts: [{ type: "text", content: "Weather?" }] },
        {
          role: "assistant",
          parts: [{ type: "tool_call", id: "c1", name: "weather", arguments: { city: "Oslo" } }],
        },
        { role: "tool", parts: [{ type: "tool_call_response", id: "c1", response: '{"c":7}' }] },
      ]),
      "gen_ai.output.messages": JSON.stringify([
        {
          role: "assistant",
          parts: [
            { type: "reasoning", content: "Seven is cold." },
            { type: "blob", modality: "image", content: "AAAA" },
            { type: "text", content: "Cold." },
          ],
          finish_reason: "stop",
        },
      ]),
    });
    expect(messages).toEqual([
      { role: "system", from: "instructions", parts: [{ kind: "text", text: "Be brief." }] },
      { role: "user", from: "input", parts: [{ kind: "text", text: "Weather?" }] },
      {
        role: "assistant",
        from: "input",
        parts: [
          { kind: "tool_call", name: "weather", callId: "c1", text: '{\n  "city": "Oslo"\n}' },
        ],
      },
      {
        role: "tool",
        from: "input",
        parts: [{ kind: "tool_result", callId: "c1", text: '{\n  "c": 7\n}' }],
      },
      {
        role: "assistant",
        from: "output",
        finishReason: "stop",
        parts: [
          { kind: "reasoning", text: "Seven is cold." },
          {
            kind: "data",
            name: "blob",
            text: '{\n  "type": "blob",\n  "modality": "image",\n  "content": "AAAA"\n}',
          },
          { kind: "text", text: "Cold." },
        ],
      },
    ]);
  });

  it.each([
    ["cut JSON", '[{"role":"user","par', '[{"role":"user","par'],
    ["another value", '"hello"', '"hello"'],
    ["an object", '{"a":1}', '{\n  "a": 1\n}'],
  ])("shows %s as text", (_, text, shown) => {
    expect(talk({ "gen_ai.input.messages": text })).toEqual([
      { role: "user", from: "input", parts: [{ kind: "text", text: shown }] },
    ]);
  });

  it("shows messages and parts without their form as data", () => {
    const given = [
      null,
      7,
      { role: 5, parts: "x" },
      { role: "user", parts: [null, { type: "text" }] },
    ];
    const messages = talk({ "gen_ai.output.messages": JSON.stringify(given) });
    expect(
      messages.map(({ parts, role }) => [role, parts.map(({ kind, text }) => [kind, text])]),
    ).toEqual([
      ["assistant", [["data", "null"]]],
      ["assistant", [["data", "7"]]],
      ["assistant", [["data", '{\n  "role": 5,\n  "parts": "x"\n}']]],
      [
        "user",
        [
          ["data", "null"],
          ["data", '{\n  "type": "text"\n}'],
        ],
      ],
    ]);
  });

  it("is empty without content", () => {
    expect(talk({ "gen_ai.input.messages": 3 })).toEqual([]);
  });
});
