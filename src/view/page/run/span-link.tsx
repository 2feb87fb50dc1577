import type { ComponentChildren } from "preact";
import type { SpanNode } from "../../model/span-tree.ts";
import { runAddress } from "../route.ts";

export interface SpanLinkProps {
  readonly runKey: string;
  readonly query: URLSearchParams;
  readonly node: SpanNode;
  readonly children: ComponentChildren;
}

/** A link to a span in the timeline of the run that is shown. */
export function SpanLink({ children, node, query, runKey }: SpanLinkProps) {
  return <a href={spanAddress(runKey, query, node)}>{children}</a>;
}

export function spanAddress(runKey: string, query: URLSearchParams, node: SpanNode): string {
  const changed = new URLSearchParams(query);
  changed.set("view", "timeline");
  // They may not show the span.
  changed.delete("zoom");
  changed.delete("only");
  changed.set("span", node.id);
  return runAddress(runKey, changed);
}
