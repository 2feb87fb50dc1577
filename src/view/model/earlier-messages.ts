import type { ViewSpan } from "../format.ts";
import { numberIn, textIn } from "./attributes.ts";
import { rawMessagesIn } from "./conversation.ts";
import { compareNs } from "./formats.ts";
import type { SpanNode } from "./span-tree.ts";

/** Number of a model call's messages that are only on the spans of the calls before it in its run. */
export function earlierCount({ attributes }: ViewSpan): number {
  return numberIn(attributes, "entelix.content.earlier_messages") ?? 0;
}

/**
 * The input messages of a model call that are on the spans of the calls before it in its run, in order. Messages that
 * those spans had dropped are missing.
 *
 * @param nodes all spans of the run.
 */
export function earlierMessages(
  nodes: readonly SpanNode[],
  { span }: SpanNode,
): readonly unknown[] {
  let wanted = earlierCount(span);
  if (wanted === 0) return [];
  const calls = nodes
    .map((node) => node.span)
    .filter(({ kind, run_id }) => kind === "model" && run_id === span.run_id)
    .sort((one, other) => compareNs(one.start_ns, other.start_ns));
  const pieces: (readonly unknown[])[] = [];
  for (const before of calls.slice(0, calls.indexOf(span)).reverse()) {
    if (wanted === 0) break;
    const own = rawMessagesIn(textIn(before.attributes, "gen_ai.input.messages") ?? "") ?? [];
    const count = earlierCount(before);
    pieces.push(own.slice(0, Math.max(0, wanted - count)));
    wanted = Math.min(wanted, count);
  }
  return pieces.reverse().flat();
}
