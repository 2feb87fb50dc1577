import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseExact, stringifyExact } from "../../../src/events/exact-json.ts";
import {
  inputMessages,
  instructionParts,
  messagesOrValue,
  outputMessages,
  toMessages,
} from "../../../src/events/messages/to-messages.ts";
import { toolDefinitions } from "../../../src/events/messages/tool-definitions.ts";
import { inputForm, outputForm, partsForm, toolsForm } from "../../support/message-form.ts";
import { runs } from "../../support/runs.ts";

const copyExact = (value: unknown) => parseExact(stringifyExact(value));

const text = (content: string) => ({ type: "text", content });

describe("a text, and nothing", () => {
  it("is one message", () => {
    expect(toMessages("hi")).toEqual([{ role: "user", parts: [text("hi")] }]);
    expect(toMessages("hi", "assistant")).toEqual([
      { role: "assistant", parts: [text("hi")], finish_reason: "unknown" },
    ]);
    for (const nothing of [undefined, null, "", []]) expect(toMessages(nothing)).toEqual([]);
  });

  it("is nothing where its JSON is `null`", () => {
    const question = { role: "user", parts: [] };
    for (const nothing of [undefined, null, Number.NaN, Number.NEGATIVE_INFINITY]) {
      expect(toMessages(nothing)).toEqual([]);
      expect(toMessages([nothing, { role: "user", content: [] }])).toEqual([question]);
    }
  });

  it("is JSON where it is anything else", () => {
    expect(toMessages({ id: 2n ** 60n })).toEqual([
      { role: "user", parts: [text('{"id":1152921504606846976}')] },
    ]);
    expect(toMessages(new Date(0))[0]?.parts).toEqual([text("1970-01-01T00:00:00.000Z")]);
    expect(toMessages([1, 2])[0]?.parts).toEqual([text("[1,2]")]);
    expect(messagesOrValue([1, 2], "user")).toEqual([1, 2]);
  });
});

describe("the conventions' form", () => {
  it("stays as it is", () => {
    const messages = [
      { role: "user", parts: [text("hi"), { type: "mine", more: 1 }], name: "Ann" },
      { role: "tool", parts: [{ type: "tool_call_response", id: "1", response: null }] },
    ];
    expect(inputMessages(messages)).toBe(messages);
    const answer = [{ role: "assistant", parts: [text("yes")], finish_reason: "stop" }];
    expect(outputMessages(answer, ["length"])).toBe(answer);
  });

  it("is mended where a part is not as its type says", () => {
    expect(
      toMessages([{ role: "user", parts: [{ type: "text", text: "hi" }, { type: "blob" }] }]),
    ).toEqual([{ role: "user", parts: [text("hi"), text('{"type":"blob"}')] }]);
  });
});

describe("a message that only nearly has the form", () => {
  const fields = (type: string, more: object) => [{ role: "tool", parts: [{ type, ...more }] }];
  it.each([
    ["a response that JSON leaves out", fields("tool_call_response", { response: () => 1 })],
    [
      "a response that says it is nothing",
      fields("tool_call_response", { response: { toJSON: () => undefined } }),
    ],
    ["a call without its details", fields("server_tool_call", { name: "x", server_tool_call: 5 })],
    [
      "details without a type",
      fields("server_tool_call_response", { server_tool_call_response: { a: 1 } }),
    ],
    [
      "a field that JSON does not show",
      [
        {
          role: "user",
          parts: [Object.defineProperty({ type: "text" }, "content", { value: "a" })],
        },
      ],
    ],
    ["an empty reason", [{ role: "assistant", parts: [text("a")], finish_reason: "" }]],
  ])("is mended: %s", (_, value) => {
    expect(inputForm.safeParse(plain(inputMessages(value))).error).toBeUndefined();
    expect(outputForm.safeParse(plain(outputMessages(value))).error).toBeUndefined();
  });
});

describe("Chat Completions", () => {
  it("has calls, results, images and reasoning as parts", () => {
    const messages = [
      { role: "developer", content: "be kind" },
      {
        role: "user",
        content: [
          { type: "text", text: "what is it" },
          { type: "image_url", image_url: { url: "https://a.example/i.png" } },
          { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } },
          { type: "input_audio", input_audio: { data: "BBBB", format: "wav" } },
          { type: "file", file: { file_id: "file-1" } },
        ],
      },
      {
        role: "assistant",
        content: null,
        reasoning_content: "look",
        tool_calls: [
          {
            id: "c1",
            type: "function",
            function: { name: "see", arguments: '{"n":9007199254740993}' },
          },
        ],
      },
      { role: "tool", tool_call_id: "c1", content: "a cat" },
    ];
    expect(toMessages(messages)).toEqual([
      { role: "system", parts: [text("be kind")] },
      {
        role: "user",
        parts: [
          text("what is it"),
          { type: "uri", modality: "image", uri: "https://a.example/i.png" },
          { type: "blob", modality: "image", mime_type: "image/png", content: "AAAA" },
          { type: "blob", modality: "audio", mime_type: "audio/wav", content: "BBBB" },
          { type: "file", modality: "document", file_id: "file-1" },
        ],
      },
      {
        role: "assistant",
        parts: [
          { type: "reasoning", content: "look" },
          { type: "tool_call", id: "c1", name: "see", arguments: { n: 9007199254740993n } },
        ],
      },
      { role: "tool", parts: [{ type: "tool_call_response", id: "c1", response: "a cat" }] },
    ]);
  });

  it("has one message for each choice of an answer, with why the model stopped", () => {
    const completion = {
      object: "chat.completion",
      choices: [
        { finish_reason: "stop", message: { role: "assistant", content: "a" } },
        { finish_reason: "tool_calls", message: { role: "assistant", content: "b" } },
      ],
    };
    const expected = [
      { role: "assistant", parts: [text("a")], finish_reason: "stop" },
      { role: "assistant", parts: [text("b")], finish_reason: "tool_call" },
    ];
    expect(toMessages(completion, "assistant")).toEqual(expected);
    expect(toMessages([completion], "assistant")).toEqual(expected);
  });
});

describe("the Responses API and the protocol of OpenAI Agents", () => {
  const answer = [
    { type: "reasoning", id: "r", summary: [{ type: "summary_text", text: "think" }] },
    {
      type: "message",
      role: "assistant",
      status: "completed",
      content: [{ type: "output_text", text: "one moment" }],
    },
    { type: "function_call", call_id: "c1", name: "find", arguments: '{"id":1}' },
    { type: "web_search_call", id: "w", status: "completed" },
  ];
  const parts = [
    { type: "reasoning", content: "think" },
    text("one moment"),
    { type: "tool_call", id: "c1", name: "find", arguments: { id: 1 } },
    { type: "server_tool_call", id: "w", name: "web_search", server_tool_call: answer[3] },
  ];

  it("makes one message of the items of an answer", () => {
    expect(
      toMessages({ object: "response", status: "completed", output: answer }, "assistant"),
    ).toEqual([{ role: "assistant", parts, finish_reason: "tool_call" }]);
    const incomplete = {
      status: "incomplete",
      incomplete_details: { reason: "max_output_tokens" },
      output: answer.slice(1, 2),
    };
    expect(toMessages(incomplete, "assistant")[0]?.finish_reason).toBe("length");
  });

  it("reads a history with names of the protocol", () => {
    const history = [
      { role: "user", content: "hi" },
      {
        role: "user",
        content: [
          { type: "input_text", text: "see" },
          { type: "input_image", image: "https://a.example/i.png" },
        ],
      },
      { type: "function_call", callId: "c1", name: "find", arguments: "{}" },
      { type: "function_call", callId: "c2", name: "find", arguments: "not json" },
      {
        type: "function_call_result",
        callId: "c1",
        name: "find",
        output: { type: "text", text: "1" },
      },
      { type: "function_call_output", call_id: "c2", output: "2" },
    ];
    expect(toMessages(history)).toEqual([
      { role: "user", parts: [text("hi")] },
      {
        role: "user",
        parts: [text("see"), { type: "uri", modality: "image", uri: "https://a.example/i.png" }],
      },
      {
        role: "assistant",
        parts: [
          { type: "tool_call", id: "c1", name: "find", arguments: {} },
          { type: "tool_call", id: "c2", name: "find", arguments: "not json" },
        ],
      },
      { role: "tool", parts: [{ type: "tool_call_response", id: "c1", response: "1" }] },
      { role: "tool", parts: [{ type: "tool_call_response", id: "c2", response: "2" }] },
    ]);
  });
});

describe("other providers", () => {
  it("reads Anthropic's messages", () => {
    const answer = {
      role: "assistant",
      type: "message",
      stop_reason: "tool_use",
      content: [
        { type: "thinking", thinking: "hm", signature: "x" },
        { type: "tool_use", id: "t1", name: "find", input: { id: 1 } },
      ],
    };
    expect(toMessages(answer, "assistant")).toEqual([
      {
        role: "assistant",
        parts: [
          { type: "reasoning", content: "hm" },
          { type: "tool_call", id: "t1", name: "find", arguments: { id: 1 } },
        ],
        finish_reason: "tool_call",
      },
    ]);
    const asked = {
      role: "user",
      content: [
        { type: "tool_result", tool_use_id: "t1", content: [{ type: "text", text: "found" }] },
        { type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } },
      ],
    };
    expect(toMessages([asked])).toEqual([
      {
        role: "user",
        parts: [
          { type: "tool_call_response", id: "t1", response: "found" },
          { type: "blob", modality: "image", mime_type: "image/png", content: "AAAA" },
        ],
      },
    ]);
  });

  it("reads Gemini's contents, and messages that LangChain serialized", () => {
    expect(
      toMessages([
        { role: "model", parts: [{ text: "a" }, { functionCall: { name: "f", args: { x: 1 } } }] },
      ]),
    ).toEqual([
      {
        role: "assistant",
        parts: [text("a"), { type: "tool_call", name: "f", arguments: { x: 1 } }],
      },
    ]);
    const serialized = {
      lc: 1,
      type: "constructor",
      id: ["langchain_core", "messages", "HumanMessage"],
      kwargs: { content: "hi" },
    };
    for (const message of [
      { toJSON: () => serialized },
      { type: "human", content: "hi" },
      { type: "human", data: { content: "hi", type: "human" } },
    ]) {
      expect(toMessages(message)).toEqual([{ role: "user", parts: [text("hi")] }]);
    }
    const refusal = { type: "ai", content: "", additional_kwargs: { refusal: "I cannot." } };
    expect(toMessages(refusal)).toEqual([{ role: "assistant", parts: [text("I cannot.")] }]);
    const withMore = (additional_kwargs: object, content: unknown = "so") =>
      toMessages({ type: "ai", content, tool_calls: [], additional_kwargs })[0]?.parts;
    const thought = { type: "reasoning", content: "hm" };
    expect(withMore({ reasoning_content: "hm" })).toEqual([thought, text("so")]);
    const blocks = [{ type: "reasoning", reasoning: "hm" }, text("so")];
    expect(withMore({ reasoning_content: "hm" }, blocks)).toEqual([thought, text("so")]);
    const look_up = { name: "look_up", arguments: '{"id":17}' };
    const called = { type: "tool_call", name: "look_up", arguments: { id: 17 } };
    expect(withMore({ function_call: look_up }, "")).toEqual([called]);
    const searched = { type: "web_search_call", id: "ws1", action: { query: "17" } };
    const drawn = { type: "image_generation_call", id: "ig1", result: "AAAA" };
    expect(withMore({ tool_outputs: [searched, drawn] })).toEqual([
      {
        type: "server_tool_call",
        id: "ws1",
        name: "web_search",
        server_tool_call: { type: "web_search_call", id: "ws1", action: { query: "17" } },
      },
      text("so"),
    ]);
  });

  it.each<[string, unknown, object[]]>([
    [
      "Anthropic's tools at the server",
      [
        { type: "server_tool_use", id: "s", name: "web_search", input: { query: "q" } },
        { type: "web_search_tool_result", tool_use_id: "s", content: [] },
      ],
      [
        {
          type: "server_tool_call",
          id: "s",
          name: "web_search",
          server_tool_call: {
            type: "web_search",
            id: "s",
            name: "web_search",
            input: { query: "q" },
          },
        },
        {
          type: "server_tool_call_response",
          id: "s",
          server_tool_call_response: {
            type: "web_search_tool_result",
            tool_use_id: "s",
            content: [],
          },
        },
      ],
    ],
    [
      "Anthropic's and LangChain's documents of words",
      [
        { type: "document", source: { type: "text", media_type: "text/plain", data: "a" } },
        { type: "text-plain", text: "b" },
      ],
      [text("a"), text("b")],
    ],
    [
      "LangChain's uploaded files",
      [{ type: "image", source_type: "id", id: "f" }],
      [{ type: "file", modality: "image", file_id: "f" }],
    ],
    [
      "Gemini's parts in snake case",
      [
        { inline_data: { mime_type: "image/png", data: "AA" } },
        { file_data: { file_uri: "gs://b/v.mp4", mime_type: "video/mp4" } },
        { function_call: { name: "f", args: {} } },
      ],
      [
        { type: "blob", modality: "image", mime_type: "image/png", content: "AA" },
        { type: "uri", modality: "video", mime_type: "video/mp4", uri: "gs://b/v.mp4" },
        { type: "tool_call", name: "f", arguments: {} },
      ],
    ],
    [
      "Gemini's code",
      [
        { executableCode: { language: "PYTHON", code: "1" } },
        { codeExecutionResult: { output: "1" } },
      ],
      [
        {
          type: "server_tool_call",
          name: "code_execution",
          server_tool_call: {
            type: "code_execution",
            language: "PYTHON",
            code: "1",
            name: "code_execution",
          },
        },
        {
          type: "server_tool_call_response",
          server_tool_call_response: { type: "code_execution", output: "1" },
        },
      ],
    ],
    [
      "the AI SDK's results",
      [{ type: "tool-result", toolCallId: "c", output: { type: "json", value: { a: 1 } } }],
      [{ type: "tool_call_response", id: "c", response: { a: 1 } }],
    ],
  ])("reads %s", (_, content, parts) => {
    expect(toMessages([{ role: "user", content }])).toEqual([{ role: "user", parts }]);
  });

  it("reads whole requests, with what they tell the model", () => {
    const question = { role: "user", parts: [{ type: "text", content: "hi" }] };
    const told = { role: "system", parts: [{ type: "text", content: "Be brief." }] };
    const messages = [{ role: "user", content: "hi" }];
    expect(toMessages({ model: "small-1", messages })).toEqual([question]);
    expect(toMessages({ system: "Be brief.", messages, max_tokens: 5 })).toEqual([told, question]);
    expect(toMessages({ instructions: "Be brief.", input: messages })).toEqual([told, question]);
    expect(toMessages({ contents: [{ role: "user", parts: [{ text: "hi" }] }] })).toEqual([
      question,
    ]);
    const input = { input: [1, 2] };
    expect(toMessages(input)).toEqual([
      { role: "user", parts: [{ type: "text", content: '{"input":[1,2]}' }] },
    ]);
  });

  it("reads answers without a role, without content, as audio, and with free-form calls", () => {
    const answer = (value: object) => toMessages(value, "assistant");
    const hi = { role: "assistant", parts: [text("hi")], finish_reason: "stop" };
    for (const choice of [{ message: { content: "hi" } }, { delta: { content: "hi" } }]) {
      expect(answer({ choices: [{ ...choice, finish_reason: "stop" }] })).toEqual([hi]);
    }
    const content = { parts: [{ text: "hi" }] };
    expect(answer({ candidates: [{ content, finishReason: "STOP" }] })).toEqual([hi]);
    expect(answer({ candidates: [{ finishReason: "SAFETY" }] })).toEqual([
      { role: "assistant", parts: [], finish_reason: "content_filter" },
    ]);
    const audio = { id: "a", data: "AA", transcript: "hello" };
    expect(answer({ role: "assistant", content: null, audio })[0]?.parts).toEqual([
      text("hello"),
      { type: "blob", modality: "audio", content: "AA" },
    ]);
    const custom = { name: "py", input: "1" };
    expect(
      answer({ role: "assistant", tool_calls: [{ id: "c", type: "custom", custom }] })[0]?.parts,
    ).toEqual([{ type: "tool_call", id: "c", name: "py", arguments: "1" }]);
    const state = { candidates: [{ content: { name: "Ann" } }] };
    expect(answer(state)[0]?.parts).toEqual([text(JSON.stringify(state))]);
  });

  it.each([
    ["stop", "stop"],
    ["end_turn", "stop"],
    ["STOP", "stop"],
    ["max_tokens", "length"],
    ["SAFETY", "content_filter"],
    ["tool_calls", "tool_call"],
    ["pause_turn", "pause_turn"],
    ["", "unknown"],
  ])("has for why a model stopped, %s, the word %s", (reason, word) => {
    expect(outputMessages("a", [reason])[0]?.finish_reason).toBe(word);
  });
});

describe("instructions and tools", () => {
  it("are parts, and definitions", () => {
    expect(instructionParts("be kind")).toEqual([text("be kind")]);
    expect(instructionParts([{ type: "text", text: "a" }])).toEqual([text("a")]);
    const parameters = { type: "object" };
    expect(
      toolDefinitions([
        { type: "function", function: { name: "a", description: "A", parameters } },
        { name: "b", input_schema: parameters },
        { type: "web_search" },
        { functionDeclarations: [{ name: "c" }] },
        { type: "function", name: "d", parameters },
        7,
      ]),
    ).toEqual([
      { type: "function", name: "a", description: "A", parameters },
      { type: "function", name: "b", parameters },
      { type: "web_search", name: "web_search" },
      { type: "function", name: "c" },
      { type: "function", name: "d", parameters },
    ]);
  });
});

/** Values that look like messages, and are not quite. */
const like = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.anything({ withBigInt: true, withDate: true, maxDepth: 1 }),
    fc.constantFrom("hi", "data:image/png;base64,AA", "{}", "tool", "user"),
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(
      fc.constantFrom(
        ...[
          "role",
          "content",
          "parts",
          "type",
          "text",
          "id",
          "name",
          "call_id",
          "output",
          "choices",
        ],
        ...["message", "tool_calls", "function", "arguments", "source", "image_url", "response"],
        ...["server_tool_call", "server_tool_call_response", "value", "audio", "delta", "custom"],
        ...["functionCall", "executableCode", "inlineData", "data", "candidates"],
        ...["image", "document", "toolUse", "toolResult", "toolCall", "reference", "url", "error"],
      ),
      tie("value"),
      { maxKeys: 5 },
    ),
    fc.record({
      role: fc.constantFrom("user", "assistant", "tool", "model"),
      content: tie("value"),
    }),
    fc.record({
      type: fc.constantFrom(
        ...["text", "image", "blob", "tool_use", "tool_result", "function_call", "message"],
        ...["reasoning", "uri", "file", "server_tool_call", "x_call", "x_output", "mine"],
        ...["server_tool_use", "x_tool_result", "document", "server_tool_call_response"],
        ...["tool-error", "tool-approval-response", "source", "resource", "image_generation_call"],
      ),
      content: tie("value"),
      text: tie("value"),
      name: tie("value"),
      data: fc.oneof(
        tie("value"),
        fc.record({
          type: fc.constantFrom("data", "url", "reference", "text"),
          data: tie("value"),
        }),
      ),
      result: tie("value"),
    }),
  ),
})).value;

const STRANGE = [
  ...[new Date(Number.NaN), Number.NaN, { toJSON: () => "" }],
  // References to uploaded files: a provider's name, and the ID of the file there.
  ...[new Date(0), undefined, null, Number.NaN, { toJSON: () => undefined }].map((id) => ({
    type: "file",
    data: { openai: id, anthropic: "file-1" },
  })),
  { type: "file", data: { type: Object("data"), data: "aGk=" } },
];

describe("whatever it is given", () => {
  it("makes messages in the form, and the same of a recording of them", () => {
    fc.assert(
      fc.property(like, (value) => {
        // What has no JSON is in no recording.
        fc.pre(value !== undefined);
        const asked = stringifyExact(inputMessages(value));
        const answered = stringifyExact(outputMessages(value));
        expect(inputForm.safeParse(JSON.parse(asked)).error).toBeUndefined();
        expect(outputForm.safeParse(JSON.parse(answered)).error).toBeUndefined();
        expect(partsForm.safeParse(plain(instructionParts(value))).error).toBeUndefined();
        expect(toolsForm.safeParse(plain(toolDefinitions(value))).error).toBeUndefined();
        const recorded = copyExact(messagesOrValue(value, "user"));
        expect(stringifyExact(inputMessages(recorded))).toBe(asked);
        const recordedAnswer = copyExact(messagesOrValue(value, "assistant"));
        expect(stringifyExact(outputMessages(recordedAnswer))).toBe(answered);
        expect(stringifyExact(inputMessages(copyExact(value)))).toBe(asked);
      }),
      {
        numRuns: runs(5_000),
        examples: STRANGE.map((value): [unknown] => [value]),
      },
    );
  });

  it("loses nothing else to a part or message that has no JSON, or too deep a one", () => {
    const fails = () => {
      throw new Error("no");
    };
    const cycle: Record<string, unknown> = {};
    cycle.self = cycle;
    const deep = nested(3_000);
    const question = { role: "user", content: "Where is my order?" };
    const hostile: unknown[] = [
      Object.defineProperty({ role: "user" }, "content", { enumerable: true, get: fails }),
      { role: "assistant", tool_calls: [{ id: "c", function: { name: "f", arguments: cycle } }] },
      { role: "assistant", tool_calls: [{ id: "c", function: { name: "f", arguments: deep } }] },
      { role: "tool", tool_call_id: "c", content: [cycle, { toJSON: fails }] },
      { role: "tool", parts: [{ type: "tool_call_response", response: cycle }] },
      { role: "user", parts: [{ type: "mine", deep }] },
      { role: "user", content: [{ type: "server_tool_use", name: "f", input: cycle }] },
      { type: "web_search_call", id: "w", action: deep },
      { type: "function_call_result", callId: "c", output: deep },
    ];
    for (const value of hostile) {
      const found = plain(toMessages([value, question]));
      expect(inputForm.safeParse(found).error).toBeUndefined();
      expect(found).toHaveLength(2);
      expect(copyExact(found)).toEqual(found);
      expect(JSON.stringify(found).endsWith('Where is my order?"}]}]')).toBe(true);
    }
    const bad = Object.defineProperty({ type: "text" }, "text", { enumerable: true, get: fails });
    expect(toMessages([{ role: "user", content: [bad, "hi"] }])[0]?.parts[1]).toEqual(text("hi"));
  });

  it("leaves arguments that are nested too deeply the text that the model wrote", () => {
    const written = JSON.stringify(nested(300));
    const call = { type: "function_call", callId: "c", name: "f", arguments: written };
    expect(toMessages([call])[0]?.parts).toEqual([
      { type: "tool_call", id: "c", name: "f", arguments: written },
    ]);
  });

  it("has bytes as base64, also those of a recording", () => {
    const bytes = new Uint8Array([137, 80, 78, 71]);
    const image = { type: "image", image: bytes, mediaType: "image/png" };
    const file = { type: "file", data: Buffer.from(bytes), mediaType: "image/png" };
    const blob = { type: "blob", modality: "image", mime_type: "image/png", content: "iVBORw==" };
    const asked = [{ role: "user", content: [image, file] }];
    expect(toMessages(asked)).toEqual([{ role: "user", parts: [blob, blob] }]);
    expect(toMessages(copyExact(asked))).toEqual(toMessages(asked));
  });

  it("reads the head of a data URL in one pass, however long it is", () => {
    const file = (data: string) =>
      toMessages([{ role: "user", content: [{ type: "file", data }] }]);
    const blob = (content: string, rest = {}) => [
      { role: "user", parts: [{ type: "blob", modality: "document", ...rest, content }] },
    ];
    // The square of it, without a comma, is more than a test may take.
    const without = `data:${"A".repeat(1_000_000)}`;
    expect(file(without)).toEqual(blob(without));
    const named = `data:text/plain;name=${"n".repeat(1_000)};base64,QQ==`;
    expect(file(named)).toEqual(blob("QQ==", { mime_type: "text/plain" }));
    expect(file("data:,x")).toEqual(blob("x"));
  });

  it("makes one message of very many calls", () => {
    const items = Array.from({ length: 40_000 }, (_, n) => {
      return { type: "function_call", callId: `c${n}`, name: "f", arguments: "{}" };
    });
    // It took 17 s, more than a test may take, when each part was a copy of the list.
    expect(toMessages(items)[0]?.parts).toHaveLength(40_000);
  });

  it("never throws", () => {
    const fails = () => {
      throw new Error("no");
    };
    const hostile = [
      new Proxy({}, { ownKeys: fails, get: fails, has: fails, getOwnPropertyDescriptor: fails }),
      Object.defineProperty({}, "role", { enumerable: true, get: fails }),
      {
        role: "user",
        content: Object.defineProperty({}, "type", { enumerable: true, get: fails }),
      },
      { toJSON: fails },
      Proxy.revocable([], {}),
    ];
    const revoked = Proxy.revocable([], {});
    revoked.revoke();
    for (const value of [...hostile, revoked.proxy]) {
      for (const given of [value, [value]]) {
        expect(inputForm.safeParse(plain(toMessages(given))).error).toBeUndefined();
        expect(outputForm.safeParse(plain(toMessages(given, "assistant"))).error).toBeUndefined();
        expect(partsForm.safeParse(plain(instructionParts(given))).error).toBeUndefined();
        expect(toolsForm.safeParse(plain(toolDefinitions(given))).error).toBeUndefined();
      }
    }
  });
});

function nested(levels: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < levels; level += 1) value = { a: value };
  return value;
}

function plain(value: unknown): unknown {
  return JSON.parse(stringifyExact(value));
}
