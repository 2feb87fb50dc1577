import { SpanKind, SpanStatusCode } from "@opentelemetry/api";
import { JsonTraceSerializer, ProtobufTraceSerializer } from "@opentelemetry/otlp-transformer";
import { resourceFromAttributes } from "@opentelemetry/resources";
import {
  InMemorySpanExporter,
  NodeTracerProvider,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-node";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { rawSpansOf, readSpan, traceRequestOf } from "../../src/cli/door.ts";
import { traceRequestBytes } from "../../src/cli/traces/otlp-protobuf.ts";

/** Spans of the SDK with everything that a span can have. */
function spans() {
  const memory = new InMemorySpanExporter();
  const provider = new NodeTracerProvider({
    resource: resourceFromAttributes({ "service.name": "shop" }),
    spanProcessors: [new SimpleSpanProcessor(memory)],
  });
  const tracer = provider.getTracer("tracer", "1.2.3", { schemaUrl: "https://example.test/1" });
  const parent = tracer.startSpan("parent", {
    kind: SpanKind.SERVER,
    attributes: {
      text: "straße 🎲",
      integer: -17,
      large: 2 ** 53,
      number: 0.25,
      yes: true,
      list: ["a", "b"],
    },
  });
  parent.addEvent("asked", { by: "ann" });
  parent.addLink({ context: parent.spanContext(), attributes: { kind: "self" } });
  parent.setStatus({ code: SpanStatusCode.ERROR, message: "no answer" });
  parent.end();
  return memory.getFinishedSpans();
}

const bytes = ProtobufTraceSerializer.serializeRequest(spans()) ?? new Uint8Array();

describe("a request of spans in protobuf", () => {
  it("reads as its form in JSON does", () => {
    const made = spans();
    const json = new TextDecoder().decode(JsonTraceSerializer.serializeRequest(made));
    const inJson: unknown = JSON.parse(json);
    const request = traceRequestOf(
      ProtobufTraceSerializer.serializeRequest(made) ?? new Uint8Array(),
    );
    const read = (from: object) => [...rawSpansOf({ ...from })].map(readSpan);
    expect(read(request)).toEqual(read(Object(inJson)));
    expect(request).toMatchObject({
      resourceSpans: [
        {
          resource: { attributes: [{ key: "service.name", value: { stringValue: "shop" } }] },
          scopeSpans: [{ scope: { name: "tracer", version: "1.2.3" } }],
        },
      ],
    });
  });

  it("is written as it was read, in every field", () => {
    const made = spans();
    const sent = ProtobufTraceSerializer.serializeRequest(made) ?? new Uint8Array();
    expect(traceRequestOf(traceRequestBytes(traceRequestOf(sent)))).toEqual(traceRequestOf(sent));
    const json = new TextDecoder().decode(JsonTraceSerializer.serializeRequest(made));
    const inJson: object = Object(JSON.parse(json));
    const again = traceRequestOf(traceRequestBytes({ ...inJson }));
    const read = (from: object) => [...rawSpansOf({ ...from })].map(readSpan);
    expect(read(again)).toEqual(read(inJson));
  });

  it("is written with names of enumerations, large numbers and nested values", () => {
    const span = {
      traceId: "0af7651916cd43dd8448eb211c80319c",
      spanId: "b7ad6b7169203331",
      kind: "SPAN_KIND_CLIENT",
      startTimeUnixNano: "18446744073709551615",
      endTimeUnixNano: 1,
      flags: 257,
      status: { code: "STATUS_CODE_ERROR" },
      attributes: [
        { key: "large", value: { intValue: "-9223372036854775808" } },
        { key: "none", value: { doubleValue: "NaN" } },
        { key: "bytes", value: { bytesValue: "AQI=" } },
        { key: "list", value: { arrayValue: { values: [{ stringValue: "" }, {}] } } },
        {
          key: "map",
          value: { kvlistValue: { values: [{ key: "a", value: { boolValue: false } }] } },
        },
      ],
    };
    const request = { resourceSpans: [{ scopeSpans: [{ spans: [span] }] }] };
    const [read] = rawSpansOf(traceRequestOf(traceRequestBytes(request)));
    expect(read).toEqual({ ...span, kind: 3, endTimeUnixNano: "1", status: { code: 2 } });
  });

  it("is written without values of wrong types, and not with more than 100 levels", () => {
    const wrong = { traceId: 5, name: {}, kind: "other", flags: -1, endTimeUnixNano: "soon" };
    const request = { resourceSpans: [{ scopeSpans: [{ spans: [wrong, { name: "a" }] }] }] };
    expect([...rawSpansOf(traceRequestOf(traceRequestBytes(request)))]).toEqual([
      {},
      { name: "a" },
    ]);
    let value: object = { stringValue: "deep" };
    for (let level = 0; level < 60; level += 1) value = { arrayValue: { values: [value] } };
    const deep = { attributes: [{ key: "deep", value }] };
    expect(() =>
      traceRequestBytes({ resourceSpans: [{ scopeSpans: [{ spans: [deep] }] }] }),
    ).toThrow("more than 100 levels");
  });

  it("may be empty", () => {
    expect(traceRequestOf(new Uint8Array())).toEqual({ resourceSpans: [] });
  });

  it("is read without fields that are not known", () => {
    const unknown = [0xf8, 0x3e, 7, 0xfa, 0x3e, 2, 1, 2];
    expect(traceRequestOf(Uint8Array.from([...unknown, ...bytes]))).toEqual(traceRequestOf(bytes));
  });

  it("has not more than 100 levels", () => {
    let value = Buffer.from([0x10, 1]);
    for (let level = 0; level < 200; level++) {
      const list = Buffer.concat([Buffer.from([0x0a]), length(value), value]);
      value = Buffer.concat([Buffer.from([0x2a]), length(list), list]);
    }
    const within = (field: number, inner: Buffer) =>
      Buffer.concat([Buffer.from([(field << 3) | 2]), length(inner), inner]);
    const span = within(9, within(2, value));
    const request = within(1, within(2, within(2, span)));
    expect(() => traceRequestOf(request)).toThrow("more than 100 levels");
  });

  it("is refused or read, however it is damaged", () => {
    fc.assert(
      fc.property(
        fc.nat(bytes.length - 1),
        fc.array(fc.tuple(fc.nat(bytes.length - 1), fc.nat(255)), { maxLength: 4 }),
        (end, changes) => {
          const damaged = bytes.slice(0, end);
          for (const [at, byte] of changes) if (at < damaged.length) damaged[at] = byte;
          try {
            const request = traceRequestOf(damaged);
            expect(Array.isArray(request.resourceSpans)).toBe(true);
          } catch (error) {
            expect(error).toBeInstanceOf(Error);
          }
        },
      ),
    );
  });
});

function length({ length: bytes }: Buffer): Buffer {
  const varint: number[] = [];
  for (let rest = bytes; ; rest >>>= 7) {
    varint.push(rest > 0x7f ? (rest & 0x7f) | 0x80 : rest);
    if (rest <= 0x7f) return Buffer.from(varint);
  }
}
