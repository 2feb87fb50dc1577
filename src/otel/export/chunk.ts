import type { ReadableSpan } from "@opentelemetry/sdk-trace-node";
import { assemble } from "./assemble.ts";
import { ByteWriter } from "./byte-writer.ts";
import { type Frame, resourceFrame, scopeFrame } from "./frame.ts";
import { writeSpan } from "./span-message.ts";

/** Room that it begins with, in bytes. */
const FIRST_ROOM = 16 * 1024;

/** Room that it keeps for the spans after a seal, in bytes; more is there only for a long span. */
const MOST_ROOM = 1024 * 1024;

/** An `ExportTraceServiceRequest` that is finished. */
export interface SealedChunk {
  readonly spans: number;
  /** The most bytes that it takes, without resource attributes that were still to come. */
  readonly size: number;
  /** A promise where attributes of a resource were still to come. */
  readonly bytes: Uint8Array | Promise<Uint8Array>;
}

/**
 * Collects spans as the bytes of one OTLP request.
 *
 * The encoder is our own, with the bytes of OpenTelemetry's `ProtobufTraceSerializer`: it takes 0.4 of its
 * CPU (`node bench/export.mjs encode`), and that one encodes whole requests only, so that spans would have
 * to wait as objects.
 *
 * A span is encoded when it is added and not kept: it dies young, and one that waits takes less than
 * half the memory, and none of the heap. Spans of one scope stand together in the request, as they
 * do in those of OpenTelemetry's own serializer.
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

  /** The most bytes that it takes as a request. */
  get size(): number {
    return this.#out.at + this.#overhead;
  }

  /**
   * @param most bytes that the chunk may take with the span.
   * @returns false where it would take more: then the span is not in it.
   * @throws what the span throws where it can't be read, or nests too deep; then it is not in it.
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
   * Takes everything out.
   *
   * @param timeoutMs how long attributes of a resource that are still to come are waited for.
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

  /** Takes out what came after, also the groups that were made for a span that is not in it. */
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

/** The most that a tag and the length after it take. */
const HEADER = 6;

/** The spans of one scope in a chunk. */
export class ScopeGroup {
  readonly scope: ReadableSpan["instrumentationScope"];
  readonly frame: Frame;
  /** Where its spans are in the chunk: from, to, from, to, … */
  readonly runs: number[] = [];
  /** Bytes of its spans. */
  size = 0;

  constructor(scope: ReadableSpan["instrumentationScope"]) {
    this.scope = scope;
    this.frame = scopeFrame(scope);
  }

  /** Takes what stands between two places for its newest span. */
  add(from: number, to: number): void {
    const { runs } = this;
    if (runs.at(-1) === from) runs[runs.length - 1] = to;
    else runs.push(from, to);
    this.size += to - from;
  }
}

/** The spans of one resource in a chunk. */
export class ResourceGroup {
  readonly resource: ReadableSpan["resource"];
  readonly scopes: ScopeGroup[] = [];
  /** Absent while some of the resource's attributes are still to come. */
  readonly frame: Frame | undefined;

  constructor(resource: ReadableSpan["resource"]) {
    this.resource = resource;
    this.frame = resource.asyncAttributesPending ? undefined : resourceFrame(resource);
  }
}

/** The most bytes that a group takes beside its spans, as far as that is known. */
function overhead(frame: Frame | undefined): number {
  return HEADER + (frame === undefined ? 0 : frame.before.length + frame.after.length);
}
