import { describe, expect, it } from "vitest";
import { parseExact, stringifyExact } from "../../../src/events/exact-json.ts";
import { toMessages } from "../../../src/events/messages/to-messages.ts";
import { inputForm } from "../../support/message-form.ts";

const text = (content: string) => ({ type: "text", content });
const blob = (modality: string, mime_type: string | undefined, content: string) =>
  mime_type === undefined
    ? { type: "blob", modality, content }
    : { type: "blob", modality, mime_type, content };
const uri = (modality: string, mime_type: string, address: string) => {
  return { type: "uri", modality, mime_type, uri: address };
};
const file = (modality: string, file_id: string, mime_type?: string) =>
  mime_type === undefined
    ? { type: "file", modality, file_id }
    : { type: "file", modality, mime_type, file_id };
const result = (response: unknown, id = "c") => ({ type: "tool_call_response", id, response });

/** `AQID` as base64. */
const bytes = new Uint8Array([1, 2, 3]);
const PDF = "application/pdf";
const PNG = "image/png";

/** A block, and its part. */
type Row = readonly [form: string, block: unknown, part: unknown];

const aiSdk: readonly Row[] = [
  [
    "tagged bytes",
    { type: "file", data: { type: "data", data: bytes }, mediaType: PDF },
    blob("document", PDF, "AQID"),
  ],
  [
    "a tagged buffer",
    { type: "file", data: { type: "data", data: Buffer.from(bytes) }, mediaType: PNG },
    blob("image", PNG, "AQID"),
  ],
  [
    "a tagged text of base64",
    { type: "image", image: { type: "data", data: "AQID" }, mediaType: PNG },
    blob("image", PNG, "AQID"),
  ],
  [
    "a tagged URL",
    { type: "file", data: { type: "url", url: new URL("https://x.y/z.pdf") }, mediaType: PDF },
    uri("document", PDF, "https://x.y/z.pdf"),
  ],
  [
    "a tagged reference",
    { type: "file", data: { type: "reference", reference: { openai: "f" } }, mediaType: PDF },
    file("document", "f", PDF),
  ],
  ["a bare reference", { type: "image", image: { openai: "f" } }, file("image", "f")],
  ["a tagged text", { type: "file", data: { type: "text", text: "hello" } }, text("hello")],
  [
    "a bare URL",
    { type: "file", data: new URL("https://x.y/z.pdf"), mediaType: PDF },
    uri("document", PDF, "https://x.y/z.pdf"),
  ],
  [
    "an ArrayBuffer",
    { type: "file", data: bytes.buffer, mediaType: PDF },
    blob("document", PDF, "AQID"),
  ],
  [
    "a generated file",
    { type: "file", file: { base64Data: "AQID", uint8ArrayData: undefined, mediaType: PNG } },
    blob("image", PNG, "AQID"),
  ],
  [
    "a generated file of bytes",
    { type: "file", file: { base64Data: undefined, uint8ArrayData: bytes, mediaType: PNG } },
    blob("image", PNG, "AQID"),
  ],
  [
    "a file of the reasoning",
    { type: "reasoning-file", data: { type: "data", data: "AQID" }, mediaType: PNG },
    blob("image", PNG, "AQID"),
  ],
  [
    "an error of a call",
    { type: "tool-error", toolCallId: "c", toolName: "t", input: {}, error: new Error("broken") },
    result("broken"),
  ],
  [
    "a provider's error of a call",
    { type: "tool-error", toolCallId: "c", error: { code: "max_uses" }, providerExecuted: true },
    result({ code: "max_uses" }),
  ],
  ["an error without a value", { type: "tool-error", toolCallId: "c" }, result("unknown error")],
  [
    "a denied call",
    { type: "tool-output-denied", toolCallId: "c", toolName: "t" },
    result("Tool call execution denied."),
  ],
  [
    "the result of a denied call",
    { type: "tool-result", toolCallId: "c", output: { type: "execution-denied", reason: "no" } },
    result("no"),
  ],
  [
    "a request for approval",
    { type: "tool-approval-request", approvalId: "a", toolCall: { toolCallId: "c" } },
    { type: "tool_approval_request", id: "c", approval_id: "a" },
  ],
  [
    "a decision",
    { type: "tool-approval-response", approvalId: "a", approved: false, reason: "no" },
    { type: "tool_approval_response", approval_id: "a", approved: false, reason: "no" },
  ],
  [
    "a source",
    { type: "source", sourceType: "url", id: "s", url: "https://x.y/", title: "T" },
    { type: "source", id: "s", uri: "https://x.y/", title: "T" },
  ],
  [
    "a cited document",
    { type: "source", sourceType: "document", id: "s", mediaType: PDF, filename: "a.pdf" },
    { type: "source", id: "s", mime_type: PDF, filename: "a.pdf" },
  ],
  [
    "a provider's own part",
    { type: "custom", kind: "acme.memo" },
    { type: "custom", kind: "acme.memo" },
  ],
  [
    "a result with an image",
    {
      type: "tool-result",
      toolCallId: "c",
      output: {
        type: "content",
        value: [
          { type: "text", text: "here" },
          { type: "image-data", data: "AQID", mediaType: PNG },
        ],
      },
    },
    result([text("here"), blob("image", PNG, "AQID")]),
  ],
];

const openAi: readonly Row[] = [
  ["a refusal", { type: "refusal", refusal: "I cannot." }, text("I cannot.")],
  [
    "an image of the Responses API",
    { type: "input_image", image_url: "data:image/png;base64,AQID" },
    blob("image", PNG, "AQID"),
  ],
  ["an uploaded image", { type: "input_image", file_id: "f" }, file("image", "f")],
  ["an image of the Agents SDK", { type: "input_image", image: { id: "f" } }, file("image", "f")],
  [
    "a file of the Responses API",
    { type: "input_file", filename: "a.pdf", file_data: "data:application/pdf;base64,AQID" },
    blob("document", PDF, "AQID"),
  ],
  [
    "a file of Chat Completions",
    { type: "file", file: { filename: "a.pdf", file_data: "data:application/pdf;base64,AQID" } },
    blob("document", PDF, "AQID"),
  ],
  [
    "a decision about an MCP call",
    { type: "mcp_approval_response", approval_request_id: "a", approve: true },
    { type: "tool_approval_response", approval_id: "a", approved: true },
  ],
];

const others: readonly Row[] = [
  [
    "Anthropic: a document by address",
    { type: "document", source: { type: "url", url: "https://x.y/a.pdf" } },
    { type: "uri", modality: "document", uri: "https://x.y/a.pdf" },
  ],
  [
    "Anthropic: an uploaded document",
    { type: "document", source: { type: "file", file_id: "f" } },
    file("document", "f"),
  ],
  ["Anthropic: a file for code", { type: "container_upload", file_id: "f" }, file("document", "f")],
  [
    "Anthropic: a result with an image",
    {
      type: "tool_result",
      tool_use_id: "c",
      content: [{ type: "image", source: { type: "base64", media_type: PNG, data: "AQID" } }],
    },
    result([blob("image", PNG, "AQID")]),
  ],
  [
    "Anthropic: hidden reasoning",
    { type: "redacted_thinking", data: "AQID" },
    { type: "reasoning", content: "" },
  ],
  ["Gemini: reasoning", { text: "hm", thought: true }, { type: "reasoning", content: "hm" }],
  ["Gemini: bytes", { inlineData: { mimeType: PNG, data: bytes } }, blob("image", PNG, "AQID")],
  ["Bedrock: a text", { text: "hi" }, text("hi")],
  [
    "Bedrock: an image",
    { image: { format: "png", source: { bytes } } },
    blob("image", PNG, "AQID"),
  ],
  [
    "Bedrock: a document",
    { document: { format: "pdf", name: "a", source: { bytes } } },
    blob("document", PDF, "AQID"),
  ],
  [
    "Bedrock: a document of text",
    { document: { format: "txt", name: "a", source: { text: "words" } } },
    text("words"),
  ],
  [
    "Bedrock: a video in a bucket",
    { video: { format: "mp4", source: { s3Location: { uri: "s3://b/v.mp4" } } } },
    uri("video", "video/mp4", "s3://b/v.mp4"),
  ],
  [
    "Bedrock: a call",
    { toolUse: { toolUseId: "c", name: "t", input: { a: 1 } } },
    { type: "tool_call", id: "c", name: "t", arguments: { a: 1 } },
  ],
  [
    "Bedrock: a result",
    { toolResult: { toolUseId: "c", content: [{ json: { a: 1 } }], status: "success" } },
    result({ a: 1 }),
  ],
  [
    "Bedrock: a result with an image",
    {
      toolResult: {
        toolUseId: "c",
        content: [{ text: "here" }, { image: { format: "png", source: { bytes } } }],
      },
    },
    result(["here", blob("image", PNG, "AQID")]),
  ],
  [
    "Bedrock: reasoning",
    { reasoningContent: { reasoningText: { text: "hm", signature: "x" } } },
    { type: "reasoning", content: "hm" },
  ],
  [
    "Bedrock: hidden reasoning",
    { reasoningContent: { redactedContent: bytes } },
    { type: "reasoning", content: "" },
  ],
  [
    "LangChain: an uploaded file",
    { type: "file", fileId: "f", mimeType: PDF },
    file("document", "f", PDF),
  ],
  [
    "LangChain: a file of bytes",
    { type: "file", data: bytes, mimeType: PDF },
    blob("document", PDF, "AQID"),
  ],
  [
    "LangChain: a provider's own block",
    { type: "non_standard", value: { type: "input_image", file_id: "f" } },
    file("image", "f"),
  ],
  [
    "MCP: a result with an image and a file",
    {
      type: "tool_result",
      tool_use_id: "c",
      content: {
        content: [
          { type: "image", data: "AQID", mimeType: PNG },
          { type: "resource", resource: { uri: "a:b", mimeType: PDF, blob: "AQID" } },
          { type: "resource_link", uri: "https://x.y/", name: "page" },
        ],
        isError: false,
      },
    },
    result({
      content: [
        blob("image", PNG, "AQID"),
        blob("document", PDF, "AQID"),
        { type: "uri", modality: "document", uri: "https://x.y/" },
      ],
      isError: false,
    }),
  ],
];

describe.each([
  ["the AI SDK", aiSdk],
  ["OpenAI", openAi],
  ["other providers", others],
])("blocks of %s", (_, rows) => {
  it.each(rows)("are a part: %s", (_, block, part) => {
    const [message] = toMessages([{ role: "user", content: [block] }]);
    expect(message?.parts).toEqual([part]);
    const recorded = parseExact(stringifyExact([message]));
    expect(inputForm.safeParse(recorded).error).toBeUndefined();
    // A reader that maps the recorded message again gets the same one.
    expect(toMessages(recorded)).toEqual([message]);
  });
});

describe("items of the Responses API", () => {
  const parts = (...items: unknown[]) => toMessages(items, "assistant").flatMap((one) => one.parts);

  it("are a hosted call and its result", () => {
    expect(
      parts({ type: "mcp_call", id: "m", name: "remote", arguments: "{}", error: "boom" }),
    ).toEqual([
      {
        type: "server_tool_call",
        id: "m",
        name: "remote",
        server_tool_call: { type: "mcp_call", id: "m", name: "remote", arguments: "{}" },
      },
      {
        type: "server_tool_call_response",
        id: "m",
        server_tool_call_response: { type: "mcp_call", error: "boom" },
      },
    ]);
    const ran = { type: "code_interpreter_call", id: "i", code: "1" };
    expect(
      parts({ ...ran, outputs: [{ type: "image", url: "data:image/png;base64,AQID" }] })[1],
    ).toEqual({
      type: "server_tool_call_response",
      id: "i",
      server_tool_call_response: {
        type: "code_interpreter_call",
        outputs: [blob("image", PNG, "AQID")],
      },
    });
    const drawn = { type: "image_generation_call", id: "d", output_format: "webp", result: "AQID" };
    expect(parts(drawn)[1]).toEqual(blob("image", "image/webp", "AQID"));
  });

  it("are the result of a call on the agent's computer, with its picture", () => {
    const output = { type: "computer_screenshot", image_url: "data:image/png;base64,AQID" };
    expect(toMessages([{ type: "computer_call_output", call_id: "c", output }])).toEqual([
      { role: "tool", parts: [result(blob("image", PNG, "AQID"))] },
    ]);
  });

  it("belong to the model if they are its own", () => {
    const tools = { type: "mcp_list_tools", server_label: "s", tools: [] };
    expect(toMessages([tools])).toEqual([{ role: "assistant", parts: [tools] }]);
  });
});

describe("messages of tools and of Bedrock", () => {
  it("are results, decisions and errors, not the result of a call without an ID", () => {
    const content = [
      { type: "tool-approval-response", approvalId: "a", approved: true },
      { type: "tool-error", toolCallId: "c", error: "broken" },
    ];
    expect(toMessages([{ role: "tool", content }])[0]?.parts).toEqual([
      { type: "tool_approval_response", approval_id: "a", approved: true },
      result("broken"),
    ]);
  });

  it("are an answer with its finish reason", () => {
    const output = { message: { role: "assistant", content: [{ text: "hi" }] } };
    expect(toMessages({ output, stopReason: "max_tokens" }, "assistant")).toEqual([
      { role: "assistant", parts: [text("hi")], finish_reason: "length" },
    ]);
  });
});

describe("values that JSON does not know", () => {
  it("keep their entries and texts", () => {
    const content = (value: unknown) => toMessages({ role: "user", content: value })[0]?.parts;
    expect(content(new Map([["a", 1]]))).toEqual([text('{"a":1}')]);
    expect(content(new Set([1, 2]))).toEqual([text("[1,2]")]);
    expect(content(new TypeError("no"))).toEqual([text('{"name":"TypeError","message":"no"}')]);
  });
});
