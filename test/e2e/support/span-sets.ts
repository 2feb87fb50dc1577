import type { WireSpan } from "../../support/otlp-server.ts";

/**
 * Spans by their ids, each with the different contents it came with: one, unless a span was made twice
 * and differently.
 */
export function contentsBySpan(spans: readonly WireSpan[]): ReadonlyMap<string, readonly string[]> {
  const contents = new Map<string, Set<string>>();
  for (const span of spans) {
    const id = `${span.traceId} ${span.spanId}`;
    const known = contents.get(id) ?? new Set();
    contents.set(id, known.add(JSON.stringify(span)));
  }
  return new Map([...contents].map(([id, texts]) => [id, [...texts]]));
}
