import { OTLPExporterError } from "@opentelemetry/otlp-exporter-base";
import { describe, expect, it } from "vitest";
import { describeFailure, probeOf } from "../../../src/otel/replay/otlp-failure.ts";

/** As the exporter tells of an answer: it makes text of the body, whatever it is. */
function answered(body: Uint8Array | string): Error {
  return new OTLPExporterError("Bad Request", 400, Buffer.from(body).toString());
}

/** A `google.rpc.Status` in protobuf. */
function statusOf(message: string, code = 3): Buffer {
  const text = Buffer.from(message);
  const { length } = text;
  const prefix = length < 0x80 ? [length] : [(length & 0x7f) | 0x80, length >> 7];
  const before = code === 0 ? [] : [0x08, code];
  return Buffer.concat([Buffer.from([...before, 0x12, ...prefix]), text]);
}

describe("a failed request in a line", () => {
  it.each([
    ["short", "no"],
    ["of a length that is a line feed", "ten bytes."],
    ["of a length that is a letter", "x".repeat(65)],
    ["of the longest length of one byte", "x".repeat(127)],
    ["of the shortest length of two bytes", "x".repeat(128)],
    ["of a length that begins as text does", "x".repeat(200)],
    ["not in ASCII", "zu groß ✗"],
  ])("says what a receiver of protobuf answers: %s", (_, message) => {
    const line = `HTTP 400 Bad Request: ${message}`;
    expect(describeFailure(answered(statusOf(message)))).toBe(line);
    expect(describeFailure(answered(statusOf(message, 0)))).toBe(line);
  });

  it("says no more than 300 characters of it", () => {
    const line = describeFailure(answered(statusOf("y".repeat(5_000))));
    expect(line).toBe(`HTTP 400 Bad Request: ${"y".repeat(300)}`);
  });

  it.each([
    ['{"code":3,"message":"no"}', ': {"code":3,"message":"no"}'],
    [" plain text\n", ": plain text"],
    ["{}", ""],
    ["", ""],
    ["\b\u0003", ""],
  ])("says any other answer as it is: %j", (body, shown) => {
    expect(describeFailure(answered(body))).toBe(`HTTP 400 Bad Request${shown}`);
  });

  it("tells an answer from none", () => {
    const gone = Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
    expect(probeOf(answered(statusOf("no")))).toEqual({
      ok: false,
      status: 400,
      busy: false,
      said: "HTTP 400 Bad Request: no",
    });
    const said = "connect ECONNREFUSED";
    expect(probeOf(gone)).toEqual({ ok: false, status: undefined, busy: false, said });
    expect(probeOf(undefined)).toEqual({ ok: true, status: undefined, busy: false, said: "" });
  });
});
