import { describe, expect, it } from "vitest";
import { withoutBytes } from "../../../src/agents/ai-sdk/prompt-text.ts";

const SIZE = 30_000;
const bytes = new Uint8Array(SIZE).map((_, index) => (index * 7) % 256);
const file = (data: unknown) => ({ type: "file", data, mediaType: "application/pdf" });

describe("the JSON of a prompt of the AI SDK 6", () => {
  it("has long bytes by type and length, and all else unchanged", () => {
    const text = { type: "text", text: 'a {"0":1} and {"type":"Buffer","data":[1]}' };
    const content = [file(bytes), text, file(Buffer.from(bytes)), file(bytes.slice(0, 3)), text];
    const messages = [
      { role: "user", content },
      { role: "assistant", content: "x}".repeat(SIZE) },
    ];
    const short = withoutBytes(JSON.stringify({ messages }));
    expect(short.length).toBeLessThan(3 * SIZE);
    expect(JSON.parse(short)).toEqual({
      messages: [
        {
          role: "user",
          content: [
            file({ type: "Uint8Array", bytes: SIZE }),
            text,
            file({ type: "Buffer", bytes: SIZE }),
            file({ 0: 0, 1: 7, 2: 14 }),
            text,
          ],
        },
        messages[1],
      ],
    });
  });

  it.each<[string, unknown]>([
    ["a short prompt", { data: bytes.slice(0, 100) }],
    ["an object of other values", Object.fromEntries(Array(SIZE).entries())],
    [
      "an object of larger numbers",
      Object.fromEntries(Array.from({ length: SIZE }, (_, n) => [n, 1e6 + n])),
    ],
    ["an object with other names", { ...Array(SIZE).fill(7), name: "x" }],
    ["an object in an object", { ...Array(SIZE).fill(7), [SIZE]: { a: 1 }, [SIZE + 1]: 7 }],
    ["a text in it", { 0: 7, text: "x".repeat(5 * SIZE), 9: 7 }],
    ["a list that is no bytes", { type: "Buffer", data: Array(SIZE).fill("x") }],
  ])("is unchanged if it is %s", (_, value) => {
    const json = JSON.stringify({ value });
    expect(withoutBytes(json)).toBe(json);
  });
});
