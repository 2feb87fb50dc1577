import { fieldsOf } from "../bridge/export/support/decode-request.ts";

/** An `ExportTraceServiceRequest` in protobuf, with all it says of spans, in the shape of OTLP/JSON. */
export function traceRequestOf(bytes: Uint8Array) {
  return {
    resourceSpans: new Message(bytes).all(1).map((resourceSpans) => ({
      resource: { attributes: resourceSpans.one(1).keyValues(1) },
      schemaUrl: resourceSpans.text(3),
      scopeSpans: resourceSpans.all(2).map((scopeSpans) => ({
        scope: { name: scopeSpans.one(1).text(1), version: scopeSpans.one(1).text(2) },
        schemaUrl: scopeSpans.text(3),
        spans: scopeSpans.all(2).map(spanOf),
      })),
    })),
  };
}

function spanOf(span: Message) {
  const parent = span.hex(4);
  return {
    traceId: span.hex(1),
    spanId: span.hex(2),
    traceState: span.text(3),
    ...(parent === "" ? {} : { parentSpanId: parent }),
    name: span.text(5),
    kind: span.number(6),
    startTimeUnixNano: span.fixed64(7),
    endTimeUnixNano: span.fixed64(8),
    attributes: span.keyValues(9),
    droppedAttributesCount: span.number(10),
    events: span.all(11).map((event) => ({
      timeUnixNano: event.fixed64(1),
      name: event.text(2),
      attributes: event.keyValues(3),
      droppedAttributesCount: event.number(4),
    })),
    droppedEventsCount: span.number(12),
    links: span.all(13).map((link) => ({
      traceId: link.hex(1),
      spanId: link.hex(2),
      traceState: link.text(3),
      attributes: link.keyValues(4),
      droppedAttributesCount: link.number(5),
      flags: link.fixed32(6),
    })),
    droppedLinksCount: span.number(14),
    status: { message: span.one(15).text(2), code: span.one(15).number(3) },
    flags: span.fixed32(16),
  };
}

/** An `ExportMetricsServiceRequest` in protobuf, with its sums, gauges and histograms in the shape of OTLP/JSON. */
export function metricsRequestOf(bytes: Uint8Array) {
  return {
    resourceMetrics: new Message(bytes).all(1).map((resourceMetrics) => ({
      resource: { attributes: resourceMetrics.one(1).keyValues(1) },
      scopeMetrics: resourceMetrics.all(2).map((scopeMetrics) => ({
        scope: { name: scopeMetrics.one(1).text(1) },
        metrics: scopeMetrics.all(2).map((metric) => ({
          name: metric.text(1),
          unit: metric.text(3),
          ...(metric.has(5)
            ? { gauge: { dataPoints: metric.one(5).all(1).map(numberPoint) } }
            : {}),
          ...(metric.has(7) ? { sum: { dataPoints: metric.one(7).all(1).map(numberPoint) } } : {}),
          ...(metric.has(9)
            ? { histogram: { dataPoints: metric.one(9).all(1).map(histogramPoint) } }
            : {}),
        })),
      })),
    })),
  };
}

function numberPoint(point: Message) {
  const value = point.has(6) ? { asInt: point.fixed64(6) } : { asDouble: point.double(4) };
  return { attributes: point.keyValues(7), ...value };
}

function histogramPoint(point: Message) {
  return { attributes: point.keyValues(9), count: point.fixed64(4) };
}

/** A message whose fields are asked for by their numbers; what is absent is empty, or 0. */
class Message {
  readonly #fields: ReturnType<typeof fieldsOf>;

  constructor(bytes: Uint8Array) {
    this.#fields = fieldsOf(bytes);
  }

  all(field: number): Message[] {
    return this.#all(field).map((bytes) => new Message(bytes));
  }

  one(field: number): Message {
    return new Message(this.#bytes(field));
  }

  has(field: number): boolean {
    return this.#fields.some(({ number }) => number === field);
  }

  double(field: number): number {
    return Buffer.from(this.#bytes(field)).readDoubleLE();
  }

  text(field: number): string {
    return new TextDecoder().decode(this.#bytes(field));
  }

  hex(field: number): string {
    return Buffer.from(this.#bytes(field)).toString("hex");
  }

  number(field: number): number {
    const found = this.#fields.find((each) => each.number === field);
    return typeof found?.value === "bigint" ? Number(found.value) : 0;
  }

  fixed64(field: number): string {
    return String(Buffer.from(this.#bytes(field)).readBigUInt64LE());
  }

  fixed32(field: number): number {
    const bytes = this.#bytes(field);
    return bytes.length === 0 ? 0 : Buffer.from(bytes).readUInt32LE();
  }

  keyValues(field: number) {
    return this.all(field).map((each) => ({ key: each.text(1), value: anyValue(each.#bytes(2)) }));
  }

  #bytes(field: number): Uint8Array {
    return this.#all(field)[0] ?? new Uint8Array();
  }

  #all(field: number): Uint8Array[] {
    return this.#fields.flatMap(({ number, value }) =>
      number === field && value instanceof Uint8Array ? [value] : [],
    );
  }
}

function anyValue(bytes: Uint8Array): Record<string, unknown> {
  const [field] = fieldsOf(bytes);
  if (field === undefined) return {};
  const { number: which, value } = field;
  if (!(value instanceof Uint8Array)) {
    return which === 2
      ? { boolValue: value === 1n }
      : { intValue: Number(BigInt.asIntN(64, value)) };
  }
  switch (which) {
    case 1:
      return { stringValue: new TextDecoder().decode(value) };
    case 4:
      return { doubleValue: Buffer.from(value).readDoubleLE() };
    case 5: {
      const values = fieldsOf(value).map((item) =>
        item.value instanceof Uint8Array ? anyValue(item.value) : {},
      );
      return { arrayValue: { values } };
    }
    case 6:
      return { kvlistValue: { values: new Message(value).keyValues(1) } };
    default:
      return { bytesValue: Buffer.from(value).toString("base64") };
  }
}
