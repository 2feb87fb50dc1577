import type { WireSpan } from "./otlp-server.ts";

/** A line a span, indented below its parent, in the order of their start. Requests have their path. */
export function wireTree(spans: readonly WireSpan[]): readonly string[] {
  const ids = new Set(spans.map(({ spanId }) => spanId));
  const inOrder = [...spans].sort((a, b) =>
    Number(BigInt(a.startTimeUnixNano) - BigInt(b.startTimeUnixNano)),
  );
  const lines = (children: readonly WireSpan[], indent: string): readonly string[] =>
    children.flatMap(({ attributes, name, spanId }) => {
      const path = attributes["url.path"];
      const below = inOrder.filter(({ parentSpanId }) => parentSpanId === spanId);
      return [
        `${indent}${name}${path === undefined ? "" : ` ${path}`}`,
        ...lines(below, `${indent}  `),
      ];
    });
  return lines(
    inOrder.filter(({ parentSpanId = "" }) => !ids.has(parentSpanId)),
    "",
  );
}
