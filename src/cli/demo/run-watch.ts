import type { AgentEvent } from "../../events/agent-event.ts";

/** What one recording is doing while it is played: which runs and calls are open, how runs ended. */
export class RunWatch {
  /** Milliseconds after the beginning; `undefined` before the first event. */
  startedMs: number | undefined;
  endedMs: number | undefined;
  readonly tenants = new Set<string>();
  readonly endings: string[] = [];
  failed = false;
  paused = false;
  readonly #open = new Map<string, string>();
  #runs = 0;

  /** Names of the open runs and calls, outermost first. */
  get path(): readonly string[] {
    return [...this.#open.values()];
  }

  take(event: AgentEvent, nowMs: number): void {
    this.startedMs ??= nowMs;
    this.tenants.add(event.tenant_id);
    switch (event.type) {
      case "started":
        this.#runs++;
        this.#open.set(event.run_id, event.agent);
        return;
      case "tool_start":
        this.#open.set(callKey(event), event.tool);
        return;
      case "tool_complete":
      case "tool_error":
        this.#open.delete(callKey(event));
        return;
      case "tool_call_approved":
      case "tool_call_denied":
      case "model_start":
      case "model_complete":
      case "model_error":
        return;
      case "complete":
        this.#end(event.run_id, "complete", nowMs);
        return;
      case "failed":
        this.failed = true;
        this.#end(event.run_id, `failed: ${event.kind?.type ?? event.envelope.wire_code}`, nowMs);
        return;
      case "interrupted":
        this.paused = true;
        this.#end(event.run_id, `paused: ${event.kind.type}`, nowMs);
        return;
      default:
        event satisfies never;
    }
  }

  #end(runId: string, how: string, nowMs: number): void {
    this.#open.delete(runId);
    this.#runs--;
    if (this.#runs > 0) return;
    // A child's end is not the end of the story: the outermost run's is.
    this.endings.push(how);
    this.endedMs = nowMs;
  }
}

function callKey(event: { readonly run_id: string; readonly tool_use_id: string }): string {
  return `${event.run_id}/${event.tool_use_id}`;
}
