import { durationText } from "../../events/format/door.ts";
import type { ViewRun } from "../format.ts";
import type { CallItem } from "./exchange-items.ts";
import type { SpanNode } from "./span-tree.ts";
import { outcomeOf } from "./span-words.ts";

/** How a tool call went, in a few words: `not run`, `open`, `failed after 1.2 s`, or how long it took. */
export function callState(
  { asker, handoff, node, received, waits }: CallItem,
  { end_ns }: ViewRun,
): string {
  if (handoff !== undefined) return `handed over to ${handoff}`;
  if (node === undefined) {
    if (received !== undefined || waits === true) return "";
    // The span of a call, and of its run, mostly comes when it has ended.
    const isOpen = asker.run === undefined ? end_ns === null : asker.run.end === undefined;
    return isOpen ? "open" : "not run";
  }
  if (node.end === undefined) return isAsking(node) ? "waits for a decision" : "open";
  const outcome = outcomeOf(node.span);
  const length = durationText(node.end - node.start);
  if (outcome === "denied") return "denied";
  if (node.span.failed) return `failed after ${length}`;
  return outcome === undefined || outcome === "complete" ? length : `${outcome}, ${length}`;
}

/** Whether an open call asked for a decision and has none. */
function isAsking({ span: { attributes, events } }: SpanNode): boolean {
  const asked = events.some(({ name }) => name === "entelix.approval_asked");
  return asked && attributes["entelix.approval.outcome"] === undefined;
}
