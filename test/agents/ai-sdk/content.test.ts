import { describe, expect, it } from "vitest";
import { asks, FakeCall, listen, text } from "./fake-sdk.ts";
import { FakeCall6, listen6 } from "./fake-sdk-6.ts";

const broken = asks("bad", "c1", { a: 5 });
const error = new Error("broken");
const failed = { type: "tool-error", toolCallId: "c1", toolName: "bad", input: {}, error };
const call = { type: "tool_call", id: "c1", name: "bad", arguments: { a: 5 } };

describe("an answer whose tool failed", () => {
  it("has the text that the model gets from the AI SDK 7", async () => {
    const heard = listen();
    const sdk = new FakeCall(heard.telemetry);
    await sdk.start();
    await sdk.finish([broken, failed, text("sorry")]);
    expect(heard.ofType("complete")[0]?.sentIn.details?.output).toMatchObject([
      {
        parts: [
          call,
          { type: "tool_call_response", id: "c1", response: "Error: broken" },
          { type: "text", content: "sorry" },
        ],
      },
    ]);
  });

  it("has the text that the model gets from the AI SDK 6", async () => {
    const heard = listen6();
    await new FakeCall6(heard.tracer).generate(async (sdk) => {
      await sdk.model([broken, failed]);
    });
    expect(heard.ofType("complete")[0]?.sentIn.details?.output).toMatchObject([
      { parts: [call, { type: "tool_call_response", id: "c1", response: "broken" }] },
    ]);
  });
});

describe("files of the AI SDK 7", () => {
  it("are parts with their data, address or ID", async () => {
    const heard = listen();
    const mediaType = "application/pdf";
    const data = [
      { type: "data", data: new Uint8Array([1, 2, 3]) },
      { type: "url", url: new URL("https://x.y/z.pdf") },
      { type: "reference", reference: { openai: "file-1" } },
    ];
    const content = data.map((each) => ({ type: "file", data: each, mediaType }));
    const sdk = new FakeCall(heard.telemetry, { messages: [{ role: "user", content }] });
    await sdk.start();
    const of = { modality: "document", mime_type: mediaType };
    expect(heard.ofType("started")[0]?.sentIn.details?.input).toEqual([
      {
        role: "user",
        parts: [
          { type: "blob", ...of, content: "AQID" },
          { type: "uri", ...of, uri: "https://x.y/z.pdf" },
          { type: "file", ...of, file_id: "file-1" },
        ],
      },
    ]);
  });
});
