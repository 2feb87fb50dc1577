/**
 * Splits an `ExportTraceServiceRequest` in protobuf into two with about half of its spans each. Resources and scopes
 * are repeated as needed.
 *
 * @param request as this package encodes it, with two spans or more.
 * @param spans number of its spans.
 */
export function halvesOf(
  request: Uint8Array,
  spans: number,
): readonly [first: Uint8Array, second: Uint8Array] {
  const half = Math.ceil(spans / 2);
  return [spansWhere(request, (span) => span < half), spansWhere(request, (span) => span >= half)];
}

/** Levels of messages: request, `ResourceSpans`, `ScopeSpans`. The next one is the span. */
const SPAN_LEVEL = 3;

/** Tag of the list in each of these messages. */
const LISTS = [0x0a, 0x12, 0x12];

/** The request with only the spans whose number, from 0, is wanted. */
function spansWhere(request: Uint8Array, isWanted: (span: number) => boolean): Uint8Array {
  let span = 0;
  /** The message with the wanted spans; `undefined` if it has none of them. */
  const kept = (message: Uint8Array, level: number): Uint8Array | undefined => {
    if (level === SPAN_LEVEL) return isWanted(span++) ? message : undefined;
    const parts: Uint8Array[] = [];
    let isEmpty = true;
    for (const { content, field, tag } of fieldsOf(message)) {
      if (tag !== LISTS[level]) {
        parts.push(field);
        continue;
      }
      const inner = kept(content, level + 1);
      if (inner === undefined) continue;
      isEmpty = false;
      parts.push(Uint8Array.from([tag, ...varint(inner.length)]), inner);
    }
    return isEmpty ? undefined : Buffer.concat(parts);
  };
  return kept(request, 0) ?? new Uint8Array();
}

interface Field {
  readonly tag: number;
  /** With tag and length. */
  readonly field: Uint8Array;
  readonly content: Uint8Array;
}

/** The fields of one of these messages. All of them have a length. */
function* fieldsOf(message: Uint8Array): Generator<Field> {
  for (let at = 0; at < message.length; ) {
    const from = at;
    const tag = message[at++] ?? 0;
    let length = 0;
    for (let scale = 1; ; scale *= 0x80) {
      const byte = message[at++] ?? 0;
      length += (byte & 0x7f) * scale;
      if (byte < 0x80) break;
    }
    const to = at + length;
    yield { tag, field: message.subarray(from, to), content: message.subarray(at, to) };
    at = to;
  }
}

function varint(value: number): number[] {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 0x7f; rest >>>= 7) bytes.push((rest & 0x7f) | 0x80);
  return [...bytes, rest];
}
