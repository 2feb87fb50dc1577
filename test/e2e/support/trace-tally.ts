import type { Stack } from "./stack.ts";

/** How many traces Jaeger has, by how many of their spans it has. */
export async function tally(
  stack: Stack,
  traceIds: readonly string[],
): Promise<Readonly<Record<number, number>>> {
  const counts: Record<number, number> = {};
  for (const id of traceIds) {
    const spans = (await stack.jaeger.trace(id)).map(({ spanId }) => spanId);
    const found = new Set(spans).size;
    // Sent twice or not, a span is shown once.
    if (found !== spans.length) throw new Error(`${id}: a span is shown twice`);
    counts[found] = (counts[found] ?? 0) + 1;
  }
  return counts;
}
