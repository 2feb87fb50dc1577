import type { WireSpan } from "./otlp-server.ts";

/**
 * A line a span, indented below its parent, in the order of their start.
 *
 * @param textOf the text of a line. Default: the name, of requests also the path.
 */
export function wireTree(
  spans: readonly WireSpan[],
  textOf: (span: WireSpan) => string = nameAndPath,
): readonly string[] {
  const ids = new Set(spans.map(({ spanId }) => spanId));
  const inOrder = [...spans].sort((a, b) =>
    Number(BigInt(a.startTimeUnixNano) - BigInt(b.startTimeUnixNano)),
  );
  const lines = (children: readonly WireSpan[], indent: string): readonly string[] =>
    children.flatMap((span) => {
      const below = inOrder.filter(({ parentSpanId }) => parentSpanId === span.spanId);
      return [`${indent}${textOf(span)}`, ...lines(below, `${indent}  `)];
    });
  return lines(
    inOrder.filter(({ parentSpanId = "" }) => !ids.has(parentSpanId)),
    "",
  );
}

function nameAndPath({ attributes, name }: WireSpan): string {
  const path = attributes["url.path"];
  return path === undefined ? name : `${name} ${path}`;
}
