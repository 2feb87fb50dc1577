import { CaptureSink } from "../../../src/entries/sinks.ts";
import { type AgentEvent, setUnclassifiedWarning } from "../../../src/index.ts";

// Tests throw a lot that nothing classifies; the warnings would only be noise.
setUnclassifiedWarning(() => {});

/** A sink for the runs of a test, and what it was told as short lines. */
export class Told extends CaptureSink {
  /** One line an event, of every run or of one. */
  said(runId?: string): string[] {
    return this.events
      .filter((event) => runId === undefined || event.run_id === runId)
      .map((event) => lineOf(event));
  }

  /** The only event of a type. */
  only<T extends AgentEvent["type"]>(type: T): Extract<AgentEvent, { type: T }> {
    const found = this.events.filter((event) => isOf(event, type));
    const [first] = found;
    if (first === undefined || found.length > 1) throw new Error(`${found.length} ${type}`);
    return first;
  }
}

function isOf<T extends AgentEvent["type"]>(
  event: AgentEvent,
  type: T,
): event is Extract<AgentEvent, { type: T }> {
  return event.type === type;
}

function lineOf(event: AgentEvent): string {
  switch (event.type) {
    case "started":
      return `started ${event.agent}`;
    case "tool_start":
    case "tool_complete":
    case "tool_call_asked":
    case "tool_call_approved":
      return `${event.type} ${event.tool}`;
    case "tool_error":
      return `tool_error ${event.tool} ${event.kind} ${event.envelope.wire_code}`;
    case "tool_call_denied":
      return `tool_call_denied ${event.tool}: ${event.reason}`;
    case "model_start":
    case "model_complete":
      return `${event.type} ${event.model}`;
    case "model_error":
      return `model_error ${event.model} ${event.kind.type}`;
    case "complete":
      return "complete";
    case "failed":
      return `failed ${event.kind?.type}`;
    case "interrupted":
      return `interrupted ${event.kind.type}`;
    case "step_start":
    case "step_complete":
    case "step_error":
      return `${event.type} ${event.step}`;
  }
}

/** What a promise rejects with. */
export async function rejection(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error("it did not reject");
}

/** Work that never ends. */
export function forever(): Promise<never> {
  return new Promise(() => {});
}
