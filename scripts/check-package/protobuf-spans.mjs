/** The spans of an `ExportTraceServiceRequest` in protobuf: their ids and names, as OTLP/JSON has them. */
export function spansOfProtobuf(bytes) {
  return parts(bytes, 1) // resource_spans
    .flatMap((resourceSpans) => parts(resourceSpans, 2)) // scope_spans
    .flatMap((scopeSpans) => parts(scopeSpans, 2)) // spans
    .map((span) => {
      const hex = (number) => parts(span, number)[0]?.toString("hex");
      const name = parts(span, 5)[0]?.toString("utf8");
      return { traceId: hex(1), spanId: hex(2), parentSpanId: hex(4), name };
    });
}

/** The data points of a sum in an `ExportMetricsServiceRequest` in protobuf: texts of attributes, and the number. */
export function pointsOfProtobuf(bytes, metric) {
  return parts(bytes, 1) // resource_metrics
    .flatMap((resourceMetrics) => parts(resourceMetrics, 2)) // scope_metrics
    .flatMap((scopeMetrics) => parts(scopeMetrics, 2)) // metrics
    .filter((each) => parts(each, 1)[0]?.toString("utf8") === metric)
    .flatMap((each) => parts(each, 7)) // sum
    .flatMap((sum) => parts(sum, 1)) // data_points
    .map((point) => ({
      attributes: parts(point, 7).map((pair) => ({
        key: parts(pair, 1)[0]?.toString("utf8"),
        value: { stringValue: parts(parts(pair, 2)[0] ?? Buffer.alloc(0), 1)[0]?.toString("utf8") },
      })),
      asInt: parts(point, 6)[0]?.readBigInt64LE(),
      asDouble: parts(point, 4)[0]?.readDoubleLE(),
    }));
}

/** The contents of a message's fields of that number that have a length, or eight bytes. */
export function parts(bytes, wanted) {
  const found = [];
  let at = 0;
  const varint = () => {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      if (at >= bytes.length) throw new Error("protobuf: cut off");
      const byte = bytes[at++];
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
    }
  };
  while (at < bytes.length) {
    const tag = varint();
    const type = tag % 8;
    if (type === 0) varint();
    else if (type === 1) {
      if (Math.floor(tag / 8) === wanted) found.push(bytes.subarray(at, at + 8));
      at += 8;
    } else if (type === 5) at += 4;
    else if (type !== 2) throw new Error(`protobuf: wire type ${type}`);
    else {
      const length = varint();
      if (Math.floor(tag / 8) === wanted) found.push(bytes.subarray(at, at + length));
      at += length;
    }
  }
  return found;
}
