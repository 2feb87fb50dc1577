import type { UsageSnapshot } from "../events/agent-event.ts";
import type { ModelCallUsage } from "../events/model-event.ts";

/** What the calls of models and tools in a run, and in the runs below it, came to. */
export class UsageTotals {
  requests = 0;
  toolCalls = 0;
  #inputTokens = 0;
  #outputTokens = 0;
  /** Whether any model said what it used: without that, zeros would be a claim. */
  #reported = false;

  /** Adds what one model call used, where it said so. */
  add(usage: ModelCallUsage | undefined): void {
    if (usage === undefined) return;
    this.#reported = true;
    this.#inputTokens += Number(usage.input_tokens ?? 0);
    this.#outputTokens += Number(usage.output_tokens ?? 0);
  }

  /** The usage of `complete`; `null` as long as no model said what it used. */
  snapshot(): UsageSnapshot | null {
    if (!this.#reported) return null;
    return {
      requests: this.requests,
      input_tokens: this.#inputTokens,
      output_tokens: this.#outputTokens,
      tool_calls: this.toolCalls,
      cost_usd: "0",
    };
  }
}
