import { ByteWriter, varintSize } from "./byte-writer.ts";
import type { ResourceGroup, ScopeGroup } from "./chunk.ts";
import { type Frame, resourceFrame } from "./frame.ts";

/**
 * Puts groups of spans together as one `ExportTraceServiceRequest`.
 *
 * @param source holds the bytes of the spans; it may be written over when this returns.
 * @param timeoutMs how long attributes of a resource that are still to come are waited for; those
 *   that have not come by then are left out.
 * @returns a promise only where attributes are still to come.
 */
export function assemble(
  groups: readonly ResourceGroup[],
  source: Uint8Array,
  timeoutMs: number,
): Uint8Array | Promise<Uint8Array> {
  const pending = groups.filter(({ frame }) => frame === undefined);
  if (pending.length === 0) return joined(groups, source);
  const kept = new Uint8Array(source);
  const attributes = pending.map(async (group) => group.resource.waitForAsyncAttributes?.());
  const whole = settled(attributes, timeoutMs).then(() => joined(groups, kept));
  // It may fail before its request is sent: an unhandled rejection would end the process.
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

/** Bytes of a field of that length, with tag and length. */
function field(length: number): number {
  return 1 + varintSize(length) + length;
}

function total(numbers: readonly number[]): number {
  return numbers.reduce((sum, each) => sum + each, 0);
}

/** Waits until all are settled, but not longer than `ms`; keeps no process alive. */
async function settled(promises: readonly Promise<unknown>[], ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
    timer.unref();
  });
  await Promise.race([Promise.allSettled(promises), late]);
  clearTimeout(timer);
}
