import type { ReadableSpan } from "@opentelemetry/sdk-trace";
import { ByteWriter, varintSize } from "./byte-writer.ts";
import { type KeyValues, writeKeyValues } from "./key-values.ts";
import { attributesOf } from "./pending-attributes.ts";
import { writeOptional, writeSpan } from "./span-message.ts";

/** Initial capacity in bytes. */
const FIRST_ROOM = 16 * 1024;

/** Capacity in bytes that it keeps after a seal. A long span can grow it for a time. */
const MOST_ROOM = 1024 * 1024;

/** A finished `ExportTraceServiceRequest`. */
interface SealedChunk {
  readonly spans: number;
  /** Upper bound in bytes, without pending resource attributes. */
  readonly size: number;
  /** A promise if attributes of a resource were pending. */
  readonly bytes: Uint8Array | Promise<Uint8Array>;
}

/**
 * Collects spans as the bytes of one OTLP request.
 *
 * It writes the same bytes as OpenTelemetry's `ProtobufTraceSerializer` in 0.4 of the CPU time
 * (`node bench/export.mjs encode`). That serializer encodes only complete requests, so spans would have to wait
 * as objects.
 *
 * A span is encoded when it is added, and its object is not kept. Encoded spans take less than half the memory,
 * outside the heap. As in OpenTelemetry's serializer, the spans of one scope are adjacent.
 */
export class Chunk {
  #out = new ByteWriter(FIRST_ROOM);
  #resources: ResourceGroup[] = [];
  #resource: ResourceGroup | undefined;
  #scope: ScopeGroup | undefined;
  #overhead = 0;
  #spans = 0;

  get spans(): number {
    return this.#spans;
  }

  /** Upper bound of the request in bytes. */
  get size(): number {
    return this.#out.at + this.#overhead;
  }

  /**
   * @param most limit of the chunk with the span, in bytes.
   * @returns false, without adding the span, if it would exceed the limit.
   * @throws if the span cannot be read or nests too deep. It is not added then.
   */
  add(span: ReadableSpan, most: number): boolean {
    const out = this.#out;
    const from = out.at;
    const overheadBefore = this.#overhead;
    let fits = false;
    try {
      const scope = this.#scopeOf(span);
      writeSpan(out, span);
      fits = this.size <= most;
      if (fits) {
        scope.add(from, out.at);
        this.#spans++;
      }
    } finally {
      if (!fits) this.#takeBack(from, overheadBefore);
    }
    return fits;
  }

  /**
   * Removes all spans, and returns their request.
   *
   * @param timeoutMs time limit for pending attributes of a resource.
   */
  seal(timeoutMs: number): SealedChunk {
    const source = this.#out.written();
    const bytes = assemble(this.#resources, source, timeoutMs);
    const sealed = { spans: this.#spans, size: this.size, bytes };
    this.#resources = [];
    this.#resource = undefined;
    this.#spans = 0;
    this.#takeBack(0, 0);
    return sealed;
  }

  #scopeOf(span: ReadableSpan): ScopeGroup {
    const { resource, instrumentationScope } = span;
    if (this.#resource?.resource !== resource) {
      this.#scope = undefined;
      this.#resource = this.#resources.find((group) => group.resource === resource);
    }
    if (this.#resource === undefined) {
      this.#resource = new ResourceGroup(resource);
      this.#resources.push(this.#resource);
      this.#overhead += overhead(this.#resource.frame);
    }
    if (this.#scope?.scope !== instrumentationScope) {
      const { scopes } = this.#resource;
      this.#scope = scopes.find((group) => group.scope === instrumentationScope);
      if (this.#scope === undefined) {
        this.#scope = new ScopeGroup(instrumentationScope);
        scopes.push(this.#scope);
        this.#overhead += overhead(this.#scope.frame);
      }
    }
    return this.#scope;
  }

  /** Removes the bytes of a span that was not added, and groups that were created for it. */
  #takeBack(from: number, overheadBefore: number): void {
    const scopes = this.#resource?.scopes;
    if (scopes?.at(-1)?.size === 0) scopes.pop();
    if (scopes?.length === 0) this.#resources.pop();
    this.#resource = undefined;
    this.#scope = undefined;
    this.#overhead = overheadBefore;
    this.#out.at = from;
    if (from === 0 && this.#out.capacity > MOST_ROOM) this.#out = new ByteWriter(FIRST_ROOM);
  }
}

/** Most bytes of a tag and a length. */
const HEADER = 6;

/** The spans of one scope in a chunk. */
class ScopeGroup {
  readonly scope: ReadableSpan["instrumentationScope"];
  readonly frame: Frame;
  /** Ranges of its spans in the chunk: from, to, from, to, … */
  readonly runs: number[] = [];
  /** Bytes of its spans. */
  size = 0;

  constructor(scope: ReadableSpan["instrumentationScope"]) {
    this.scope = scope;
    this.frame = scopeFrame(scope);
  }

  /** Adds a range as its newest span. */
  add(from: number, to: number): void {
    const { runs } = this;
    if (runs.at(-1) === from) runs[runs.length - 1] = to;
    else runs.push(from, to);
    this.size += to - from;
  }
}

/** The spans of one resource in a chunk. */
class ResourceGroup {
  readonly resource: ReadableSpan["resource"];
  readonly scopes: ScopeGroup[] = [];
  /** Absent while attributes of the resource are pending. */
  readonly frame: Frame | undefined;

  constructor(resource: ReadableSpan["resource"]) {
    this.resource = resource;
    this.frame = resource.asyncAttributesPending ? undefined : resourceFrame(resource);
  }
}

/** Upper bound in bytes of a group without its spans, as far as that is known. */
function overhead(frame: Frame | undefined): number {
  return HEADER + (frame === undefined ? 0 : frame.before.length + frame.after.length);
}

/**
 * Joins groups of spans into one `ExportTraceServiceRequest`.
 *
 * @param source the bytes of the spans. It can be overwritten when this returns.
 * @param timeoutMs time limit for pending attributes of a resource. Attributes that are later are omitted.
 * @returns a promise only if attributes are pending.
 */
function assemble(
  groups: readonly ResourceGroup[],
  source: Uint8Array,
  timeoutMs: number,
): Uint8Array | Promise<Uint8Array> {
  const pending = groups.filter(({ frame }) => frame === undefined);
  if (pending.length === 0) return joined(groups, source);
  const kept = new Uint8Array(source);
  const attributes = attributesOf(
    pending.map(({ resource }) => resource),
    timeoutMs,
  );
  const whole = attributes.then(() => joined(groups, kept));
  // It can reject before its request is sent, and an unhandled rejection would end the process.
  whole.catch(() => {});
  return whole;
}

function joined(groups: readonly ResourceGroup[], source: Uint8Array): Uint8Array {
  const parts = groups.map((group) => partOf(group));
  const out = new ByteWriter(total(parts.map(({ length }) => field(length))));
  for (const { frame, length, scopes } of parts) {
    out.byte(0x0a); // resource_spans
    out.varint(length);
    out.copy(frame.before);
    for (const scope of scopes) {
      out.byte(0x12); // scope_spans
      out.varint(scopeLength(scope));
      out.copy(scope.frame.before);
      for (let n = 0; n < scope.runs.length; n += 2) {
        out.copy(source.subarray(scope.runs[n], scope.runs[n + 1]));
      }
      out.copy(scope.frame.after);
    }
    out.copy(frame.after);
  }
  return out.written();
}

function partOf(group: ResourceGroup): {
  readonly frame: Frame;
  readonly length: number;
  readonly scopes: readonly ScopeGroup[];
} {
  const frame = group.frame ?? resourceFrame(group.resource);
  const { scopes } = group;
  const inside = total(scopes.map((scope) => field(scopeLength(scope))));
  return { frame, length: frame.before.length + inside + frame.after.length, scopes };
}

function scopeLength({ frame, size }: ScopeGroup): number {
  return frame.before.length + size + frame.after.length;
}

/** Bytes of a field of this length, with tag and length. */
function field(length: number): number {
  return 1 + varintSize(length) + length;
}

function total(numbers: readonly number[]): number {
  return numbers.reduce((sum, each) => sum + each, 0);
}

/** The bytes of a message before and after its list. */
interface Frame {
  readonly before: Uint8Array;
  readonly after: Uint8Array;
}

/** Fields of an OTLP scope that the SDK's type does not have yet. */
interface Scope extends Readonly<ReadableSpan["instrumentationScope"]> {
  readonly attributes?: KeyValues | undefined;
  readonly droppedAttributesCount?: number | undefined;
}

/** Expected length of a message with a length of two bytes. */
const USUAL = 0x80;

/** `ResourceSpans` around its scopes. */
function resourceFrame(resource: ReadableSpan["resource"]): Frame {
  return frame(resource.schemaUrl, (out) => {
    writeKeyValues(out, 0x0a, resource.attributes);
    out.byte(0x10); // dropped_attributes_count: the SDK drops none
    out.byte(0);
  });
}

/** `ScopeSpans` around its spans. */
function scopeFrame(scope: Scope): Frame {
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

/** Both messages have their resource or scope as field 1, and its schema URL as field 3. */
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
