import { setTraceProcessors, setTracingDisabled } from "@openai/agents-core";
import type { SpanTarget } from "../../../src/entries/context.ts";
import {
  OpenAIAgentsProcessor,
  type OpenAIAgentsProcessorOptions,
} from "../../../src/entries/openai-agents.ts";
import { type AgentEvent, Bridge, type EventEnvelope } from "../../../src/index.ts";
import { collectSpans, type SpanNode, toTrees } from "../../support/spans.ts";

type Options = Partial<OpenAIAgentsProcessorOptions> & { readonly captureContent?: boolean };

/** A processor that is registered with the SDK, alone, and what it told a bridge. */
export function listen({ captureContent = false, ...options }: Options = {}) {
  const collected = collectSpans();
  const bridge = new Bridge({ tracerProvider: collected.provider, captureContent });
  const told: { readonly event: AgentEvent; readonly envelope: EventEnvelope }[] = [];
  const sink = {
    send(event: AgentEvent, envelope: EventEnvelope = {}) {
      told.push({ event, envelope });
      return bridge.send(event, envelope);
    },
    forceFlush: () => bridge.forceFlush(),
    withSpan: <T>(place: SpanTarget, work: () => T): T => bridge.withSpan(place, work),
  };
  const processor = new OpenAIAgentsProcessor({ sink, tenant: "acme", ...options });
  // The SDK is silent in tests unless it is told otherwise.
  setTracingDisabled(false);
  setTraceProcessors([processor]);
  return {
    ...collected,
    bridge,
    sink,
    processor,
    told,
    /** The events in order, a line each, with names instead of run ids. */
    async events(): Promise<readonly string[]> {
      await processor.forceFlush();
      const names = new Map<string, string>();
      return told.map(({ event }) => {
        if (event.type === "started") names.set(event.run_id, event.agent);
        return `${names.get(event.run_id) ?? "?"} ${eventLine(event, names)}`;
      });
    },
    /** The finished spans, a line each, indented below their parent. */
    async tree(): Promise<string> {
      await processor.forceFlush();
      return treeText(toTrees(collected.spans()));
    },
  };
}

function eventLine(event: AgentEvent, names: ReadonlyMap<string, string>): string {
  const { type } = event;
  switch (event.type) {
    case "started": {
      const parent = event.parent_run_id ?? undefined;
      return parent === undefined ? type : `${type} below ${names.get(parent) ?? parent}`;
    }
    case "failed":
      return `${type} ${event.kind?.type}: ${event.error}`;
    case "interrupted":
      return event.kind.type === "approval_pending"
        ? `${type} ${event.kind.type} ${event.kind.tool_use_id}`
        : `${type} ${event.kind.type}`;
    case "tool_error":
      return `${type} ${event.tool} ${event.kind}: ${event.error}`;
    case "model_error":
      return `${type} ${event.kind.type}: ${event.error}`;
    case "model_start":
    case "model_complete":
    case "complete":
      return type;
    case "step_start":
    case "step_complete":
    case "step_error":
      return `${type} ${event.step}`;
    default:
      return `${type} ${event.tool} ${event.tool_use_id}`;
  }
}

export function treeText(nodes: readonly SpanNode[], indent = ""): string {
  return nodes
    .map((node) => {
      const { attributes } = node;
      const outcome =
        attributes["entelix.run.outcome"] ??
        attributes["entelix.tool.outcome"] ??
        attributes["entelix.model.outcome"];
      const why = attributes["entelix.failure.kind"] ?? attributes["entelix.tool.error_kind"];
      // The Responses API of the scripted model, whose name all calls would have.
      const name = node.span === "chat small-1-2026" ? "chat" : node.span;
      const line = [name, outcome, ...(why === undefined ? [] : [why])].join(" ");
      return `${indent}${line}\n${treeText(node.children, `${indent}  `)}`;
    })
    .join("");
}
