import type {
  Complete,
  Failed,
  Instant,
  Interrupted,
  ModelComplete,
  ModelError,
  ModelStart,
  Started,
  StepComplete,
  StepError,
  StepStart,
  ToolCallApproved,
  ToolCallAsked,
  ToolCallDenied,
  ToolComplete,
  ToolError,
  ToolStart,
} from "../../src/entries/events.ts";
import { type AgentEvent, Bridge, renderForLlm, type TelemetryOptions } from "../../src/index.ts";
import { collectSpans, type SpanNode, toTrees } from "./spans.ts";

/** 2026-04-29T12:00:00Z: second 0 of the tests. */
export const ZERO = 1_777_464_000;

/** So many seconds after second 0; fractions to the nanosecond of a millisecond. */
export function second(at: number): Instant {
  const whole = Math.floor(at);
  return [ZERO + whole, Math.round((at - whole) * 1e3) * 1e6];
}

/** Writes the events of one run. */
export class RunEvents {
  readonly run_id: string;
  readonly tenant_id: string;

  constructor(runId: string, tenantId = "acme") {
    this.run_id = runId;
    this.tenant_id = tenantId;
  }

  #scope() {
    return { run_id: this.run_id, tenant_id: this.tenant_id };
  }

  #tool(id: string, tool: string) {
    return { ...this.#scope(), tool_use_id: id, tool };
  }

  started(agent = "react", parent: string | null = null): Started {
    return { type: "started", ...this.#scope(), parent_run_id: parent, agent };
  }

  toolStart(id: string, tool = "fetch", input: unknown = {}): ToolStart {
    return { type: "tool_start", ...this.#tool(id, tool), tool_version: null, input };
  }

  toolComplete(id: string, tool = "fetch", ms = 1000, output: unknown = "ok"): ToolComplete {
    return {
      type: "tool_complete",
      ...this.#tool(id, tool),
      tool_version: null,
      duration_ms: ms,
      output,
    };
  }

  toolError(id: string, more: Partial<ToolError> = {}): ToolError {
    return {
      type: "tool_error",
      ...this.#tool(id, "fetch"),
      tool_version: null,
      error: "connection reset",
      error_for_llm: renderForLlm(new Error("x")),
      envelope: { wire_code: "transport_failure", wire_class: "server" },
      kind: "transient",
      duration_ms: 1000,
      ...more,
    };
  }

  toolCancelled(id: string): ToolError {
    const envelope = { wire_code: "cancelled", wire_class: "client", cancelled: true } as const;
    return this.toolError(id, { error: "called off", envelope, kind: "internal" });
  }

  toolInterrupted(id: string): ToolError {
    return this.toolError(id, {
      error: "dispatch interrupted",
      envelope: { wire_code: "interrupted", wire_class: "client" },
      kind: "internal",
    });
  }

  asked(id: string, tool = "fetch"): ToolCallAsked {
    return { type: "tool_call_asked", ...this.#tool(id, tool) };
  }

  approved(id: string, tool = "fetch"): ToolCallApproved {
    return { type: "tool_call_approved", ...this.#tool(id, tool) };
  }

  denied(id: string, tool = "fetch", reason = "no"): ToolCallDenied {
    return { type: "tool_call_denied", ...this.#tool(id, tool), reason };
  }

  #model(id: string, model: string | null) {
    return { ...this.#scope(), model_call_id: id, model };
  }

  modelStart(id: string, more: Partial<ModelStart> = {}): ModelStart {
    return { type: "model_start", ...this.#model(id, "small-1"), ...more };
  }

  modelComplete(id: string, more: Partial<ModelComplete> = {}): ModelComplete {
    return {
      type: "model_complete",
      ...this.#model(id, "small-1"),
      duration_ms: 1000,
      ...more,
    };
  }

  modelError(id: string, more: Partial<ModelError> = {}): ModelError {
    return {
      type: "model_error",
      ...this.#model(id, "small-1"),
      duration_ms: 1000,
      error: "provider returned 503: busy",
      envelope: { wire_code: "upstream_unavailable", wire_class: "server" },
      kind: { type: "model_dispatch" },
      ...more,
    };
  }

  #step(id: string, step: string) {
    return { ...this.#scope(), step_id: id, step };
  }

  stepStart(id: string, more: Partial<StepStart> = {}): StepStart {
    return { type: "step_start", ...this.#step(id, "route"), ...more };
  }

  stepComplete(id: string, more: Partial<StepComplete> = {}): StepComplete {
    return { type: "step_complete", ...this.#step(id, "route"), duration_ms: 1000, ...more };
  }

  stepError(id: string, more: Partial<StepError> = {}): StepError {
    return {
      type: "step_error",
      ...this.#step(id, "route"),
      duration_ms: 1000,
      error: "no such order",
      envelope: { wire_code: "rate_limited", wire_class: "client" },
      ...more,
    };
  }

  complete(more: Partial<Complete> = {}): Complete {
    return { type: "complete", ...this.#scope(), state: null, usage: null, ...more };
  }

  failed(more: Partial<Failed> = {}): Failed {
    return {
      type: "failed",
      ...this.#scope(),
      error: "vendor down",
      envelope: { wire_code: "upstream_unavailable", wire_class: "server" },
      kind: { type: "model_dispatch" },
      ...more,
    };
  }

  interrupted(more: Partial<Interrupted> = {}): Interrupted {
    return {
      type: "interrupted",
      ...this.#scope(),
      kind: { type: "custom" },
      payload: null,
      ...more,
    };
  }
}

/** A sink over spans that are kept, with what the tests ask of them. */
export function bench(
  options: TelemetryOptions = {},
  provider: Parameters<typeof collectSpans>[0] = {},
) {
  const spans = collectSpans(provider);
  const reports: string[] = [];
  const sink = new Bridge({
    tracerProvider: spans.provider,
    mode: "replay",
    captureContent: false,
    onError: (error, where) => void reports.push(`${where}: ${String(error)}`),
    ...options,
  });
  let next = 0;
  return {
    ...spans,
    sink,
    reports,
    /** Sends the event with its time in seconds after second 0. */
    at(time: number, event: AgentEvent, envelope: Parameters<Bridge["send"]>[1] = {}): void {
      void sink.send(event, { timestamp: second(time), ...envelope });
    },
    /** The same, with an event id of its own. */
    identified(time: number, event: AgentEvent, envelope: Parameters<Bridge["send"]>[1] = {}) {
      next++;
      void sink.send(event, { timestamp: second(time), event_id: `event-${next}`, ...envelope });
    },
    trees: (): SpanNode[] => toTrees(spans.spans()),
    /** The one span of this name and, where given, of this attribute. */
    find(name: string, attribute?: string, value?: unknown): SpanNode {
      const found = flat(toTrees(spans.spans())).filter(
        (node) =>
          node.span === name && (attribute === undefined || node.attributes[attribute] === value),
      );
      const [only] = found;
      if (only === undefined || found.length > 1) {
        const names = flat(toTrees(spans.spans())).map((node) => node.span);
        throw new Error(`expected one span ${name}, found ${found.length} in ${names}`);
      }
      return only;
    },
    diagnostics: () => sink.diagnostics(),
  };
}

/** All nodes of the trees, parents before their children. */
export function flat(trees: readonly SpanNode[]): SpanNode[] {
  return trees.flatMap((node) => [node, ...flat(node.children)]);
}
