import type { AgentEvent, ContentNeed, EventEnvelope } from "../../src/index.ts";
import type { SpanNode } from "./spans.ts";

/** One event as it reached a sink. */
export interface Told<E extends AgentEvent = AgentEvent> {
  readonly event: E;
  readonly envelope: EventEnvelope;
}

/** The events of one type. */
export function toldOf<T extends AgentEvent["type"]>(told: readonly Told[], type: T) {
  return told.filter((one): one is Told<Extract<AgentEvent, { type: T }>> => {
    return one.event.type === type;
  });
}

/** A sink that keeps everything. */
export function keepingSink(contentNeed: ContentNeed) {
  const sent: Told[] = [];
  return {
    sink: {
      contentNeed,
      send: (event: AgentEvent, envelope: EventEnvelope = {}) =>
        void sent.push({ event, envelope }),
    },
    sent,
    ofType: <T extends AgentEvent["type"]>(type: T) =>
      toldOf(sent, type).map(({ event, envelope }) => ({ ...event, sentIn: envelope })),
    types: () => sent.map(({ event }) => event.type),
  };
}

/** A span and those below it, a line each, indented by depth: name, outcome, and why it failed. */
export function treeLines(node: SpanNode, indent = ""): string[] {
  const { attributes } = node;
  const outcome =
    attributes["entelix.run.outcome"] ??
    attributes["entelix.tool.outcome"] ??
    attributes["entelix.step.outcome"] ??
    attributes["entelix.model.outcome"];
  const why = attributes["entelix.failure.kind"] ?? attributes["entelix.tool.error_kind"];
  const said = [node.span, outcome, why].filter((part) => part !== undefined).join(" ");
  const mark = node.status === "error" ? " !" : "";
  return [
    `${indent}${said}${mark}`,
    ...node.children.flatMap((child) => treeLines(child, `${indent}  `)),
  ];
}
