import type { ReadableSpan } from "@opentelemetry/sdk-trace-node";
import { ByteWriter } from "./byte-writer.ts";
import { type KeyValues, writeKeyValues } from "./key-values.ts";
import { writeOptional } from "./span-message.ts";

/** What a message has before and after its list. */
export interface Frame {
  readonly before: Uint8Array;
  readonly after: Uint8Array;
}

/** What OTLP has for a scope, and the SDK's type not yet. */
interface Scope extends Readonly<ReadableSpan["instrumentationScope"]> {
  readonly attributes?: KeyValues | undefined;
  readonly droppedAttributesCount?: number | undefined;
}

/** Messages whose length takes two bytes. */
const USUAL = 0x80;

/** `ResourceSpans` round its scopes. */
export function resourceFrame(resource: ReadableSpan["resource"]): Frame {
  return frame(resource.schemaUrl, (out) => {
    writeKeyValues(out, 0x0a, resource.attributes);
    out.byte(0x10); // dropped_attributes_count: the SDK drops none
    out.byte(0);
  });
}

/** `ScopeSpans` round its spans. */
export function scopeFrame(scope: Scope): Frame {
  return frame(scope.schemaUrl, (out) => {
    out.byte(0x0a); // name
    out.text(scope.name);
    writeOptional(out, 0x12, scope.version); // version
    if (scope.attributes !== undefined) writeKeyValues(out, 0x1a, scope.attributes);
    if (scope.droppedAttributesCount) {
      out.byte(0x20); // dropped_attributes_count
      out.varint(scope.droppedAttributesCount);
    }
  });
}

/** Both messages have what they are of as field 1, and its schema as field 3. */
function frame(schemaUrl: string | undefined, write: (out: ByteWriter) => void): Frame {
  const out = new ByteWriter(512);
  out.byte(0x0a);
  const start = out.open(USUAL);
  write(out);
  out.close(start, USUAL);
  const end = out.at;
  writeOptional(out, 0x1a, schemaUrl);
  return { before: out.written(0, end), after: out.written(end) };
}
