import type { ReadableSpan } from "@opentelemetry/sdk-trace-node";
import { type Frame, resourceFrame, scopeFrame } from "./frame.ts";

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
export function overhead(frame: Frame | undefined): number {
  return HEADER + (frame === undefined ? 0 : frame.before.length + frame.after.length);
}
