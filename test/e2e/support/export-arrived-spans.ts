import { type Field, fieldsOf } from "../../bridge/export/support/decode-request.ts";
import type {
  WholeAttributes,
  WholeEvent,
  WholeLink,
  WholeSpan,
  WholeValue,
} from "./export-whole-span.ts";

const NOTHING = new Uint8Array();

/** The spans of an `ExportTraceServiceRequest`, whoever wrote it; what is not there has its default. */
export function arrivedSpans(request: Uint8Array): WholeSpan[] {
  return messages(request, 1).flatMap((resourceSpans) => {
    const resource = {
      attributes: attributes(message(resourceSpans, 1), 1),
      schema: text(resourceSpans, 3),
    };
    return messages(resourceSpans, 2).flatMap((scopeSpans) => {
      const named = message(scopeSpans, 1);
      const scope = { name: text(named, 1), version: text(named, 2), schema: text(scopeSpans, 3) };
      return messages(scopeSpans, 2).map((span) => ({ ...spanOf(span), scope, resource }));
    });
  });
}

function spanOf(span: Uint8Array): Omit<WholeSpan, "scope" | "resource"> {
  const status = message(span, 15);
  return {
    traceId: hex(span, 1),
    spanId: hex(span, 2),
    traceState: text(span, 3),
    parentSpanId: hex(span, 4),
    name: text(span, 5),
    kind: number(span, 6),
    start: fixed64(span, 7),
    end: fixed64(span, 8),
    attributes: attributes(span, 9),
    dropped: { attributes: number(span, 10), events: number(span, 12), links: number(span, 14) },
    events: messages(span, 11).map(eventOf),
    links: messages(span, 13).map(linkOf),
    status: { code: number(status, 3), message: text(status, 2) },
    flags: fixed32(span, 16),
  };
}

function eventOf(event: Uint8Array): WholeEvent {
  return {
    name: text(event, 2),
    time: fixed64(event, 1),
    attributes: attributes(event, 3),
    droppedAttributes: number(event, 4),
  };
}

function linkOf(link: Uint8Array): WholeLink {
  return {
    traceId: hex(link, 1),
    spanId: hex(link, 2),
    traceState: text(link, 3),
    attributes: attributes(link, 4),
    droppedAttributes: number(link, 5),
    flags: fixed32(link, 6),
  };
}

function attributes(holder: Uint8Array, field: number): WholeAttributes {
  return messages(holder, field).map((pair) => [text(pair, 1), wholeValue(message(pair, 2))]);
}

function wholeValue(any: Uint8Array): WholeValue {
  const [field, another] = fieldsOf(any);
  if (another !== undefined) throw new Error("a value of two types");
  if (field === undefined) return null;
  const { number: which, value } = field;
  if (typeof value === "bigint") {
    if (which === 2) return value === 1n;
    if (which === 3) return { int: BigInt.asIntN(64, value) };
    throw new Error(`a value of field ${which}`);
  }
  switch (which) {
    case 1:
      return decode(value);
    case 4:
      return { double: Buffer.from(value).readDoubleLE() };
    case 5:
      return { list: messages(value, 1).map(wholeValue) };
    case 6:
      return { map: attributes(value, 1) };
    case 7:
      return { bytes: Buffer.from(value).toString("hex") };
    default:
      throw new Error(`a value of field ${which}`);
  }
}

function all(bytes: Uint8Array, field: number): Field["value"][] {
  return fieldsOf(bytes).flatMap(({ number: other, value }) => (other === field ? [value] : []));
}

function messages(bytes: Uint8Array, field: number): Uint8Array[] {
  return all(bytes, field).map((value) => {
    if (typeof value === "bigint") throw new Error(`field ${field}: expected a message`);
    return value;
  });
}

function message(bytes: Uint8Array, field: number): Uint8Array {
  return messages(bytes, field)[0] ?? NOTHING;
}

function text(bytes: Uint8Array, field: number): string {
  return decode(message(bytes, field));
}

/** @throws TypeError where it is no UTF-8. */
function decode(bytes: Uint8Array): string {
  return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
}

function hex(bytes: Uint8Array, field: number): string {
  return Buffer.from(message(bytes, field)).toString("hex");
}

function number(bytes: Uint8Array, field: number): number {
  return Number(all(bytes, field)[0] ?? 0n);
}

function fixed64(bytes: Uint8Array, field: number): bigint {
  const [value = NOTHING] = messages(bytes, field);
  return value.length === 0 ? 0n : Buffer.from(value).readBigUInt64LE();
}

function fixed32(bytes: Uint8Array, field: number): number {
  const [value = NOTHING] = messages(bytes, field);
  return value.length === 0 ? 0 : Buffer.from(value).readUInt32LE();
}
