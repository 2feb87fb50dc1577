import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type ContentShape,
  shortened as shortenedValue,
} from "../../../src/bridge/spans/shortened-content.ts";
import { parseExact, stringifyExact } from "../../../src/entries/events.ts";
import { toMessages } from "../../../src/entries/runtime.ts";
import { outputMessages } from "../../../src/events/door.ts";
import { inputForm, outputForm, partsForm } from "../../support/message-form.ts";
import { bench, RunEvents } from "../../support/run-events.ts";
import { runs } from "../../support/runs.ts";

const SHAPES: readonly ContentShape[] = ["value", "messages", "parts", "tools"];
const bytes = (text: string) => Buffer.byteLength(text);
/** The value of a JSON text, shortened. */
const shortened = (text: string, limit: number, shape: ContentShape) =>
  shortenedValue(parseExact(text), limit, shape);

describe("JSON that is too long", () => {
  it("stays JSON within any limit from 64 bytes, and is the same each time", () => {
    const value = fc.oneof(
      fc.jsonValue({ maxDepth: 5 }),
      fc.array(fc.jsonValue(), { minLength: 20, maxLength: 80 }),
      fc.dictionary(fc.string({ maxLength: 80 }), fc.jsonValue(), { minKeys: 10, maxKeys: 60 }),
      fc.string({ unit: "binary", minLength: 100, maxLength: 600 }),
      fc.bigInt().map((big) => [big ** 20n]),
    );
    fc.assert(
      fc.property(
        value,
        fc.integer({ min: 64, max: 2_000 }),
        fc.constantFrom(...SHAPES),
        (it, limit, shape) => {
          const text = stringifyExact(it);
          fc.pre(bytes(text) > limit);
          const short = shortened(text, limit, shape);
          expect(() => JSON.parse(short.text)).not.toThrow();
          expect(bytes(short.text)).toBeLessThanOrEqual(limit);
          expect(shortened(text, limit, shape)).toEqual(short);
        },
      ),
      { numRuns: runs(3_000) },
    );
  });

  it("of messages stays messages from 512 bytes on", () => {
    const content = fc.string({ unit: "binary", maxLength: 900 });
    const part = fc.oneof(
      fc.record({ type: fc.constant("text"), text: content }),
      fc.record({
        type: fc.constant("tool_use"),
        id: content,
        name: content,
        input: fc.jsonValue(),
      }),
      fc.record({ type: fc.constant("tool_result"), content: fc.jsonValue() }),
      fc.record({ type: fc.constant("mine"), more: fc.jsonValue() }),
    );
    const message = fc.record({
      role: fc.constantFrom("user", "assistant", "system"),
      content: fc.oneof(content, fc.array(part, { maxLength: 30 })),
    });
    fc.assert(
      fc.property(
        fc.array(message, { minLength: 1, maxLength: 30 }),
        fc.integer({ min: 512, max: 9_000 }),
        (messages, limit) => {
          const text = stringifyExact(outputMessages(messages));
          fc.pre(bytes(text) > limit);
          const short = shortened(text, limit, "messages");
          expect(bytes(short.text)).toBeLessThanOrEqual(limit);
          const read: unknown = JSON.parse(short.text);
          expect(outputForm.safeParse(read).error).toBeUndefined();
          const parts = stringifyExact(toMessages(messages).flatMap((one) => one.parts));
          if (bytes(parts) <= limit) return;
          const shortParts: unknown = JSON.parse(shortened(parts, limit, "parts").text);
          expect(partsForm.safeParse(shortParts).error).toBeUndefined();
        },
      ),
      { numRuns: runs(1_000) },
    );
  });

  it("leaves what fits as it is, also what was shortened before", () => {
    const value = fc.oneof(fc.jsonValue(), fc.array(fc.jsonValue(), { maxLength: 40 }));
    fc.assert(
      fc.property(
        value,
        fc.integer({ min: 64, max: 1_000 }),
        fc.constantFrom(...SHAPES),
        (it, limit, shape) => {
          const text = stringifyExact(it);
          const whole = { text, cutBytes: 0, droppedMessages: 0 };
          expect(shortened(text, bytes(text), shape)).toEqual(whole);
          const short = bytes(text) > limit ? shortened(text, limit, shape).text : text;
          expect(shortened(short, limit, shape)).toEqual({
            text: short,
            cutBytes: 0,
            droppedMessages: 0,
          });
        },
      ),
      { numRuns: runs(1_000) },
    );
  });

  it("of messages has the first, the newest and the questions, each from its beginning", () => {
    const role = fc.constantFrom("user", "assistant", "tool", "system");
    const size = fc.oneof(fc.integer({ min: 0, max: 60 }), fc.integer({ min: 0, max: 9_000 }));
    fc.assert(
      fc.property(
        fc.array(fc.record({ role, size }), { minLength: 2, maxLength: 60 }),
        fc.integer({ min: 4_800, max: 20_000 }),
        (list, limit) => {
          const messages = list.map(({ role, size }, n) => ({
            role,
            parts: [{ type: "text", content: `${n}:${'"é'.repeat(size)}` }],
          }));
          const text = stringifyExact(messages);
          fc.pre(bytes(text) > limit);
          const short = shortened(text, limit, "messages");
          const read = inputForm.parse(JSON.parse(short.text));
          expect(short.droppedMessages).toBe(messages.length - read.length);
          const found = read.map(({ parts }) => Number.parseInt(String(parts[0]?.content), 10));
          expect(found).toEqual([...found].sort((a, b) => a - b));
          const asked = messages.flatMap((one, n) => (one.role === "user" ? [n] : []));
          const always = [0, asked[0], asked.at(-1), messages.length - 1];
          expect(found).toEqual(expect.arrayContaining(always.filter((n) => n !== undefined)));
          // What is dropped is one piece, but for the questions in it.
          const rest = found.filter((n) => !always.includes(n));
          const first = rest[0] ?? messages.length;
          for (let n = first; n < messages.length; n += 1) expect(found).toContain(n);
        },
      ),
      { numRuns: runs(500) },
    );
  });

  it("has its long texts cut, with the bytes that are missing", () => {
    const text = JSON.stringify({ id: 7, short: "abc", long: "é".repeat(500) });
    const short: { long: string } = JSON.parse(shortened(text, 200, "value").text);
    expect(short).toMatchObject({ id: 7, short: "abc" });
    const [, kept, cut] = /^(é+)… \[(\d+) bytes cut\]$/.exec(short.long) ?? [];
    expect(bytes(kept ?? "") + Number(cut)).toBe(1000);
  });

  it("has items in the middle left out, and the last fields", () => {
    const list = JSON.stringify(Array.from({ length: 1000 }, (_, n) => n));
    expect(shortened(list, 64, "value").text).toBe(
      '[0,1,2,3,4,5,"… [989 items left out]",995,996,997,998,999]',
    );
    const fields = JSON.stringify(
      Object.fromEntries(Array.from({ length: 99 }, (_, n) => [`k${n}`, n])),
    );
    expect(JSON.parse(shortened(fields, 64, "value").text)).toEqual({
      k0: 0,
      k1: 1,
      k2: 2,
      k3: 3,
      k4: 4,
      "…": "94 fields left out",
    });
  });

  it("is a mark where it is nested too deeply for readers", () => {
    let deep: unknown = 1;
    for (let level = 0; level < 1_500; level += 1) deep = [deep];
    const { text } = shortenedValue(deep, 4_096, "value");
    expect(text).toBe(`${"[".repeat(960)}"[unserializable: nested too deeply]"${"]".repeat(960)}`);
    expect(bytes(shortenedValue(deep, 200, "value").text)).toBeLessThanOrEqual(200);
  });
});

describe("a conversation that is too long", () => {
  const run = new RunEvents("018f3c7a-0000-7000-8000-000000000002");

  function chat(input: unknown, options: { maxMessageBytes?: number } = {}) {
    const test = bench({ captureContent: true, ...options });
    test.at(0, run.started());
    test.at(1, run.modelStart("m1", { input }));
    test.at(2, run.modelComplete("m1", { output: "It is on its way." }));
    test.at(3, run.complete());
    return test.find("chat small-1").attributes;
  }

  it("of 200 KB still has the system prompt, the question and the newest messages", () => {
    const messages = [
      { role: "system", content: "be kind" },
      { role: "user", content: "the first question" },
      ...Array.from({ length: 400 }, (_, n) => ({
        role: n % 2 === 0 ? "assistant" : "user",
        content: `${n} ${"x".repeat(500)}`,
      })),
      { role: "user", content: "Where is my order?" },
    ];
    const attributes = chat(messages);
    const text = String(attributes["gen_ai.input.messages"]);
    expect(bytes(text)).toBeLessThanOrEqual(65_536);
    const read = inputForm.parse(JSON.parse(text));
    const said = read.map(({ parts }) => String(parts[0]?.content));
    expect(said.slice(0, 2)).toEqual(["be kind", "the first question"]);
    expect(said.at(-1)).toBe("Where is my order?");
    expect(said.at(-2)).toBe(`399 ${"x".repeat(500)}`);
    expect(attributes["entelix.content.dropped_messages"]).toBe(messages.length - read.length);
    const whole = bytes(stringifyExact(toMessages(messages)));
    expect(attributes["entelix.content.cut_bytes"]).toBe(whole - bytes(text));
    expect(attributes["gen_ai.output.messages"]).toContain("It is on its way.");
  });

  it("of 10,000 messages is shortened in little time", () => {
    const messages = Array.from({ length: 10_000 }, (_, n) => ({
      role: n % 2 === 0 ? "user" : "assistant",
      content: `${n} of many`,
    }));
    const attributes = chat(messages);
    const read = inputForm.parse(JSON.parse(String(attributes["gen_ai.input.messages"])));
    expect(read.at(-1)?.parts).toEqual([{ type: "text", content: "9999 of many" }]);
    expect(read[0]?.parts).toEqual([{ type: "text", content: "0 of many" }]);
  });

  it("does not lose the question to an image, or to a result that is nested deeply", () => {
    const image = { url: `data:image/png;base64,${"A".repeat(2_000_000)}` };
    const question = { type: "text", text: "What is it?" };
    let deep: unknown = "x".repeat(100);
    for (let level = 0; level < 1_500; level += 1) deep = { a: deep, b: "x".repeat(50) };
    const attributes = chat([
      { role: "tool", tool_call_id: "c", content: [deep] },
      { role: "tool", parts: [{ type: "tool_call_response", response: deep }] },
      { role: "user", content: [{ type: "image_url", image_url: image }, question] },
    ]);
    const text = String(attributes["gen_ai.input.messages"]);
    expect(bytes(text)).toBeLessThanOrEqual(65_536);
    const read = inputForm.parse(JSON.parse(text));
    expect(read).toHaveLength(3);
    expect(read[2]?.parts[1]).toEqual({ type: "text", content: "What is it?" });
    const note = expect.stringMatching(/^… \[image\/png, \d+ bytes left out\]$/);
    expect(read[2]?.parts[0]).toEqual({ type: "text", content: note });
  });

  it("has the data of images and files in results left out by type and size", () => {
    const data = "iVBORw".repeat(30_000);
    const image = { type: "image", data, mimeType: "image/png" };
    const results = [[{ type: "text", text: "here" }, image], { content: [image] }, image];
    const messages = [
      ...results.map((content, n) => ({ role: "tool", tool_call_id: `c${n}`, content })),
      { type: "image_generation_call", id: "i", result: data },
      {
        type: "code_interpreter_call",
        id: "i",
        outputs: [{ type: "image", url: `data:image/png;base64,${data}` }],
      },
    ];
    const { text } = shortenedValue(toMessages(messages), 8_192, "messages");
    expect(inputForm.safeParse(JSON.parse(text)).error).toBeUndefined();
    expect(text.match(/… \[image\/png, 180\d\d\d bytes left out\]/g)).toHaveLength(5);
    expect(text).not.toContain("iVBORw");
    expect(text).toContain('{"type":"text","content":"here"}');
  });

  it("does not lose the question to a long system prompt", () => {
    const messages = [
      { role: "system", content: "y".repeat(5_000) },
      { role: "user", content: "Where is my order?" },
    ];
    expect(chat(messages)["gen_ai.input.messages"]).toBe(stringifyExact(toMessages(messages)));
    const attributes = chat(messages, { maxMessageBytes: 1_000 });
    const text = String(attributes["gen_ai.input.messages"]);
    expect(bytes(text)).toBeLessThanOrEqual(1_000);
    expect(text).toContain("Where is my order?");
    expect(text).toMatch(/y+… \[\d+ bytes cut\]/);
    expect(attributes).not.toHaveProperty("entelix.content.dropped_messages");
  });
});
