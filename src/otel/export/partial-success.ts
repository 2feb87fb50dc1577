/** Some receivers take protobuf and answer in JSON all the same; no message of protobuf begins so. */
export function isJson(response: Uint8Array): boolean {
  return response[0] === BRACE;
}

const BRACE = 0x7b;

/**
 * How many spans an `ExportTraceServiceResponse` says were refused:
 * `partial_success` (1) { `rejected_spans` (1) }. 0 for what is no such response.
 */
export function rejectedSpans(response: Uint8Array): number {
  if (isJson(response)) return rejectedInJson(Buffer.from(response).toString());
  const partial = fieldOne(response);
  if (!(partial instanceof Uint8Array)) return 0;
  const rejected = fieldOne(partial);
  return typeof rejected === "number" ? rejected : 0;
}

/** The last value of a message's field 1; numbers and messages are told apart by their types. */
function fieldOne(message: Uint8Array): number | Uint8Array | undefined {
  let at = 0;
  let found: number | Uint8Array | undefined;
  /** NaN past the end, which no comparison below takes for a length. */
  const varint = () => {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = message[at++];
      if (byte === undefined) return Number.NaN;
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
    }
  };
  while (at < message.length) {
    const tag = varint();
    const isOne = Math.floor(tag / 8) === 1;
    switch (tag % 8) {
      case 0: {
        const value = varint();
        if (isOne && !Number.isNaN(value)) found = value;
        break;
      }
      case 1:
        at += 8;
        break;
      case 2: {
        const length = varint();
        if (!(length <= message.length - at)) return found;
        if (isOne) found = message.subarray(at, at + length);
        at += length;
        break;
      }
      case 5:
        at += 4;
        break;
      default:
        return found;
    }
  }
  return found;
}

/** `{ "partialSuccess": { "rejectedSpans": "1" } }`: 64 bits are text in OTLP's JSON, or a number. */
function rejectedInJson(response: string): number {
  let message: unknown;
  try {
    message = JSON.parse(response);
  } catch {
    return 0;
  }
  const rejected = Number(field(field(message, "partialSuccess"), "rejectedSpans"));
  return rejected > 0 ? Math.floor(rejected) : 0;
}

function field(of: unknown, name: string): unknown {
  return typeof of === "object" && of !== null ? Reflect.get(of, name) : undefined;
}
