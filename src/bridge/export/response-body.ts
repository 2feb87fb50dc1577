/**
 * Whether the body of a 2xx response is an `Export…ServiceResponse`, in protobuf or in JSON. A page, a health check
 * or a proxy answers 200, too, but has stored nothing.
 *
 * The specification requires the media type of the request. MLflow and Langfuse answer in the other OTLP type, and
 * other receivers without a body, so these count, too.
 *
 * @param type media type of the response, without parameters.
 */
export function isOtlpAnswer(type: string | undefined, body: Uint8Array): boolean {
  if (type !== undefined && !OTLP_TYPES.has(type)) return false;
  if (body.length === 0 || type === "application/x-protobuf") return true;
  if (type === undefined && body[0] === PARTIAL_SUCCESS) return true;
  const answer = jsonOf(Buffer.from(body).toString());
  return answer !== undefined && Object.keys(answer).every((name) => FIELDS.has(name));
}

const OTLP_TYPES: ReadonlySet<string> = new Set(["application/x-protobuf", "application/json"]);
/** The only field of the message, by both names that the JSON mapping allows. */
const FIELDS: ReadonlySet<string> = new Set(["partialSuccess", "partial_success"]);
/** Tag of that field in protobuf. */
const PARTIAL_SUCCESS = 0x0a;

/** The partial success in the response of a successful request. */
interface PartialSuccess {
  /** Number of rejected spans, or of data points of metrics. */
  readonly refused: number;
  /** The reason. */
  readonly detail: string | undefined;
}

/**
 * Reads an `ExportTraceServiceResponse` or `ExportMetricsServiceResponse`, in protobuf or in JSON:
 * `partial_success` (1) { `rejected_spans` or `rejected_data_points` (1), `error_message` (2) }. Any other body means
 * that nothing was rejected.
 */
export function partialSuccess(body: Uint8Array): PartialSuccess {
  if (body[0] === BRACE) return partialInJson(Buffer.from(body).toString());
  const partial = fieldsOf(body).get(1);
  if (!(partial instanceof Uint8Array)) return { refused: 0, detail: undefined };
  const fields = fieldsOf(partial);
  const refused = fields.get(1);
  return { refused: typeof refused === "number" ? refused : 0, detail: textOf(fields.get(2)) };
}

/**
 * The text of an error response: the message (2) of a `google.rpc.Status` in protobuf, or the body.
 */
export function refusalText(body: Uint8Array): string | undefined {
  const isStatus = body[0] === CODE || body[0] === MESSAGE;
  return isStatus ? textOf(fieldsOf(body).get(2)) : textOf(body);
}

/** The first byte of JSON, which no protobuf message has. Some receivers answer protobuf requests in JSON. */
const BRACE = 0x7b;
/** The possible first tags of a `google.rpc.Status`, which no text has. */
const CODE = 0x08;
const MESSAGE = 0x12;

function textOf(bytes: number | Uint8Array | undefined): string | undefined {
  if (!(bytes instanceof Uint8Array)) return undefined;
  return Buffer.from(bytes).toString().trim() || undefined;
}

/** The last value of each field of a message, as far as its bytes can be read. */
function fieldsOf(message: Uint8Array): Map<number, number | Uint8Array> {
  const found = new Map<number, number | Uint8Array>();
  let at = 0;
  /** NaN after the end, so that all comparisons below are false. */
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
    const number = Math.floor(tag / 8);
    switch (tag % 8) {
      case 0: {
        const value = varint();
        if (!Number.isNaN(value)) found.set(number, value);
        break;
      }
      case 1:
        at += 8;
        break;
      case 2: {
        const length = varint();
        if (!(length <= message.length - at)) return found;
        found.set(number, message.subarray(at, at + length));
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

/**
 * `{ "partialSuccess": { "rejectedSpans": "1" } }`, for metrics `rejectedDataPoints`. 64-bit values are text in OTLP's
 * JSON, or a number.
 */
function partialInJson(text: string): PartialSuccess {
  const answer = jsonOf(text);
  const partial = field(answer, "partialSuccess") ?? field(answer, "partial_success");
  const rejected = Number(
    field(partial, "rejectedSpans") ??
      field(partial, "rejected_spans") ??
      field(partial, "rejectedDataPoints") ??
      field(partial, "rejected_data_points"),
  );
  const message = field(partial, "errorMessage") ?? field(partial, "error_message");
  return {
    refused: rejected > 0 ? Math.floor(rejected) : 0,
    detail: typeof message === "string" && message !== "" ? message : undefined,
  };
}

/** The object in a text, empty for `null`; `undefined` if there is none. */
function jsonOf(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text) ?? {};
    return typeof value === "object" && !Array.isArray(value) && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

function field(of: unknown, name: string): unknown {
  return typeof of === "object" && of !== null ? Reflect.get(of, name) : undefined;
}
