import { LangChainHandler, type LangChainHandlerOptions } from "../../../src/entries/langchain.ts";
import { type AgentEvent, type AgentEventSink, Bridge } from "../../../src/index.ts";
import { collectSpans, toTrees } from "../../support/spans.ts";
import { type Told, toldOf, treeLines } from "../../support/told.ts";

/**
 * A handler whose sink keeps every event and hands it on to a bridge.
 *
 * @param steps default: the steps of nodes and retrievers are neither kept nor spans. Most tests are of
 *   what is in them.
 */
export function observe(options: Partial<LangChainHandlerOptions> = {}, steps = false) {
  const collected = collectSpans();
  const errors: unknown[] = [];
  const bridge = new Bridge({ tracerProvider: collected.provider, captureContent: true, steps });
  const told: Told[] = [];
  const sink: AgentEventSink & Pick<Bridge, "withSpan"> = {
    send(event, envelope = {}) {
      if (steps || !event.type.startsWith("step_")) told.push({ event, envelope });
      return bridge.send(event, envelope);
    },
    withSpan: (place, work) => bridge.withSpan(place, work),
  };
  const handlerOptions: LangChainHandlerOptions = {
    sink,
    tenant: "acme",
    onError: (error) => void errors.push(error),
    ...options,
  };
  return {
    handlerOptions,
    handler: new LangChainHandler(handlerOptions),
    sink,
    bridge,
    told,
    errors,
    /** What was told, a line an event. */
    lines: () => told.map(({ event }) => lineOf(event)),
    of: <T extends AgentEvent["type"]>(type: T) => toldOf(told, type),
    spans: () => collected.spans(),
    ended: () => [...collected.ended.values()],
    started: () => collected.started.size,
    trees: () => toTrees(collected.spans()),
    /** The spans, a line each, indented by depth. */
    tree: () => toTrees(collected.spans()).flatMap((node) => treeLines(node)),
  };
}

function lineOf(event: AgentEvent): string {
  switch (event.type) {
    case "started":
      return `started ${event.agent}`;
    case "complete":
      return "complete";
    case "failed":
      return `failed ${event.kind?.type}: ${event.error.split("\n")[0]}`;
    case "interrupted":
      return `interrupted ${event.kind.type}`;
    case "tool_start":
    case "tool_complete":
      return `${event.type} ${event.tool}`;
    case "tool_error":
      return `tool_error ${event.tool} ${event.envelope.wire_code}`;
    case "model_start":
    case "model_complete":
      return `${event.type} ${event.model}`;
    case "step_start":
    case "step_complete":
    case "step_error":
      return `${event.type} ${event.step}`;
    case "model_error":
      return `model_error ${event.model} ${event.kind.type}`;
    default:
      return event.type;
  }
}
