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
    const dropped = numberIn(before.attributes, "entelix.content.dropped_messages") ?? 0;
    pieces.push(firstOf(own, Math.max(0, wanted - count), dropped));
    wanted = Math.min(wanted, count);
  }
  return pieces.reverse().flat();
}

/**
 * The first messages of a span, as far as they are known.
 *
 * @param dropped number of messages that the span dropped. They are missing behind its first one.
 */
function firstOf(own: readonly unknown[], wanted: number, dropped: number): readonly unknown[] {
  if (dropped === 0 || wanted >= own.length + dropped) return own.slice(0, wanted);
  // Which of the others come before the dropped ones is not known. A single one is the newest.
  return own.length > 1 ? own.slice(0, Math.min(wanted, 1)) : [];
}
