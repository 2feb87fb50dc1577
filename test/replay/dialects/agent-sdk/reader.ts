import { formatRfc3339, type Signal } from "../../../../src/events/door.ts";
import {
  AgentSdkMapping,
  type AgentSdkMappingOptions,
} from "../../../../src/replay/dialects/agent-sdk/agent-sdk-mapping.ts";
import type { JsonObject } from "../../../../src/replay/dialects/dialect.ts";
import type { ProjectedRow, Translated } from "../../../../src/replay/dialects/mapping.ts";
import { eventOf } from "./golden-lines.ts";

/** A mapping that reads parsed lines, and all that came of them. */
export class Reader {
  readonly mapping: AgentSdkMapping;
  readonly signals: Signal[] = [];
  readonly rows: ProjectedRow[] = [];

  constructor(options?: AgentSdkMappingOptions) {
    this.mapping = new AgentSdkMapping(options);
  }

  read(...lines: readonly JsonObject[]): this {
    for (const line of lines) {
      const { event, envelope } = eventOf(line);
      this.#keep(this.mapping.translate(event, envelope));
    }
    return this;
  }

  end(): this {
    for (const translated of this.mapping.end()) this.#keep(translated);
    return this;
  }

  #keep(translated: Translated): void {
    this.signals.push(...translated.signals);
    this.rows.push(...translated.rows);
  }
}

/** Lines of one thread by hand: a second apart, with ids `e0`, `e1`, …; fields may override. */
export function lines(...events: readonly JsonObject[]): JsonObject[] {
  return events.map((event, n) => ({
    event_id: `e${n}`,
    sequence: n,
    timestamp: formatRfc3339([1_780_653_600 + n, 0]),
    ...event,
  }));
}

/** A signal without its tenant and run, its time as `12:00:00.5Z` says it, `undefined`s left out. */
export function brief(signal: Signal): Record<string, unknown> {
  const { tenantId: _tenant, runId: _run, at, ...rest } = signal;
  const time = formatRfc3339(at).slice(11);
  return JSON.parse(JSON.stringify({ at: time, ...rest }));
}

export const USAGE = { input_tokens: 10, output_tokens: 2 };
export const ENDED = { thread_id: "th", total_turns: 1, total_usage: USAGE, duration_ms: 1 };
export const start = (turn = 1, more: JsonObject = {}): JsonObject => ({
  type: "start",
  thread_id: "th",
  turn,
  ...more,
});
export const text = (id = "m1"): JsonObject => ({ type: "text", message_id: id, text: "hi" });
export const done: JsonObject = { type: "done", ...ENDED };
export const turnComplete = (turn = 1): JsonObject => ({
  type: "turn_complete",
  turn,
  usage: USAGE,
});
export const call = (id: string, name = "bash"): JsonObject => ({
  type: "tool_call_start",
  id,
  name,
  display_name: "",
  input: {},
  tier: "Confirm",
});
export const result = (id: string, more: JsonObject = {}, name = "bash"): JsonObject => ({
  type: "tool_call_end",
  id,
  name,
  display_name: "",
  result: { success: true, output: "ok", data: null, duration_ms: 500, ...more },
});
export const confirm = (id: string, name = "bash"): JsonObject => ({
  type: "tool_requires_confirmation",
  id,
  name,
  display_name: "",
  input: { usd: 10 },
  description: "Pay?",
});
