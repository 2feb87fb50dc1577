import { describe, expect, it } from "vitest";
import { partialSuccess, refusalText } from "../../../src/bridge/export/response-body.ts";

const NOTHING = { refused: 0, detail: undefined };

/** A `google.rpc.Status` in protobuf. */
function status(message: string, code = 3): Buffer {
  const text = Buffer.from(message);
  const { length } = text;
  const prefix = length < 0x80 ? [length] : [(length & 0x7f) | 0x80, length >> 7];
  const before = code === 0 ? [] : [0x08, code];
  return Buffer.concat([Buffer.from([...before, 0x12, ...prefix]), text]);
}

describe("the answer to a request that was taken", () => {
  const text = Buffer.from("too old");
  const partial = Buffer.concat([Buffer.from([0x08, 2, 0x12, text.length]), text]);

  it("says in protobuf how many spans were refused, and why", () => {
    const answer = Buffer.concat([Buffer.from([0x0a, partial.length]), partial]);
    expect(partialSuccess(answer)).toEqual({ refused: 2, detail: "too old" });
    expect(partialSuccess(new Uint8Array())).toEqual(NOTHING);
    expect(partialSuccess(Buffer.from("<html>"))).toEqual(NOTHING);
  });

  it.each([
    ['{"partialSuccess":{"rejectedSpans":"2","errorMessage":"too old"}}', 2, "too old"],
    ['{"partialSuccess":{"rejectedSpans":2}}', 2, undefined],
    ['{"partialSuccess":{"rejectedSpans":-2}}', 0, undefined],
    ["{}", 0, undefined],
    ["{", 0, undefined],
  ])("says so in JSON: %s", (body, refused, detail) => {
    expect(partialSuccess(Buffer.from(body))).toEqual({ refused, detail });
  });
});

describe("the answer to a request that was refused", () => {
  it.each([
    ["short", "no"],
    ["of a length that is a line feed", "ten bytes."],
    ["of a length that is a letter", "x".repeat(65)],
    ["of the longest length of one byte", "x".repeat(127)],
    ["of the shortest length of two bytes", "x".repeat(128)],
    ["of a length that begins as text does", "x".repeat(200)],
    ["not in ASCII", "zu groß ✗"],
  ])("has a message in protobuf: %s", (_, message) => {
    expect(refusalText(status(message))).toBe(message);
    expect(refusalText(status(message, 0))).toBe(message);
  });

  it.each([
    ['{"code":3,"message":"no"}', '{"code":3,"message":"no"}'],
    [" plain text\n", "plain text"],
    ["", undefined],
    ["\b\u0003", undefined],
  ])("is else the text as it is: %j", (body, text) => {
    expect(refusalText(Buffer.from(body))).toBe(text);
  });
});
