/** A field of a protobuf message: number, and its varint or its bytes. */
export interface Field {
  readonly number: number;
  readonly value: bigint | Uint8Array;
}

/** A span of a request, with what stands round it. */
export interface DecodedSpan {
  readonly name: string;
  readonly service: string;
  readonly scope: string;
}

/** The fields of a message, in their order. Throws where the bytes are none. */
export function fieldsOf(bytes: Uint8Array): Field[] {
  const fields: Field[] = [];
  let at = 0;
  const take = (length: number) => {
    if (at + length > bytes.length) throw new Error(`the message ends within a field at ${at}`);
    at += length;
    return bytes.subarray(at - length, at);
  };
  const varint = () => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const [byte = 0] = take(1);
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  while (at < bytes.length) {
    const tag = Number(varint());
    const number = tag >>> 3;
    switch (tag & 7) {
      case 0:
        fields.push({ number, value: varint() });
        break;
      case 1:
        fields.push({ number, value: take(8) });
        break;
      case 2:
        fields.push({ number, value: take(Number(varint())) });
        break;
      case 5:
        fields.push({ number, value: take(4) });
        break;
      default:
        throw new Error(`field ${number}: wire type ${tag & 7}`);
    }
  }
  return fields;
}

/** The spans of an `ExportTraceServiceRequest`, in their order. */
export function decodeRequest(bytes: Uint8Array): DecodedSpan[] {
  return messages(bytes, 1).flatMap((resourceSpans) => {
    const attributes = messages(messages(resourceSpans, 1)[0] ?? NOTHING, 1);
    const service = attributes.find((each) => text(each, 1) === "service.name");
    const value = service === undefined ? undefined : messages(service, 2)[0];
    return messages(resourceSpans, 2).flatMap((scopeSpans) => {
      const scope = text(messages(scopeSpans, 1)[0] ?? NOTHING, 1);
      return messages(scopeSpans, 2).map((span) => ({
        name: text(span, 5),
        service: value === undefined ? "" : text(value, 1),
        scope,
      }));
    });
  });
}

const NOTHING = new Uint8Array();

function messages(bytes: Uint8Array, number: number): Uint8Array[] {
  return fieldsOf(bytes).flatMap(({ number: other, value }) =>
    other === number && value instanceof Uint8Array ? [value] : [],
  );
}

function text(bytes: Uint8Array, number: number): string {
  const [value = NOTHING] = messages(bytes, number);
  return new TextDecoder().decode(value);
}
