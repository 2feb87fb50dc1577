import type { Instant, JsonValue } from "../../../../src/entries/events.ts";
import type { Signal } from "../../../../src/events/door.ts";
import { DefectMapping } from "../../../../src/replay/dialects/defect/defect-mapping.ts";
import type {
  DefectUsage,
  LeafEvent,
  PermissionOption,
  ToolCallFields,
} from "../../../../src/replay/dialects/defect/events.ts";
import type { DefectLimits } from "../../../../src/replay/dialects/defect/limits.ts";
import type { LineEnvelope } from "../../../../src/replay/dialects/dialect.ts";
import type { ProjectedRow, Translated } from "../../../../src/replay/dialects/mapping.ts";
import { flat } from "./flat.ts";

/** 2026-06-12T10:00:00Z. */
const ZERO = 1_781_258_400;

/** So many ms after the beginning of the tests. */
export function moment(ms: number): Instant {
  return [ZERO + Math.floor(ms / 1000), (ms % 1000) * 1e6];
}

/** ms of a time. */
export function msOf([seconds, nanoseconds]: Readonly<Instant>): number {
  return (seconds - ZERO) * 1000 + nanoseconds / 1e6;
}

const said = (text: string) => ({
  content: [{ type: "content", content: { type: "text", text } }],
});

export const ALLOW: PermissionOption = { id: "y", name: "Yes", kind: "allow_once", allows: true };
export const REJECT: PermissionOption = {
  id: "n",
  name: "No",
  kind: "reject_once",
  allows: false,
};

/** The events of defect, short. */
export const say = {
  prompt: (text = "go"): LeafEvent => ({
    type: "user_prompt_committed",
    content: [{ type: "text", text }],
  }),
  started: (): LeafEvent => ({ type: "turn_started" }),
  ended: (reason = "end_turn", usage: DefectUsage = {}): LeafEvent => ({
    type: "turn_ended",
    reason,
    usage,
  }),
  aborted: (): LeafEvent => ({ type: "turn_aborted" }),
  text: (text: string): LeafEvent => ({ type: "assistant_text", content: { type: "text", text } }),
  thought: (text: string): LeafEvent => ({
    type: "assistant_thought",
    content: { type: "text", text },
  }),
  asks: (attempt = 1, model = "m"): LeafEvent => ({ type: "llm_call_started", model, attempt }),
  answered: (attempt = 1, usage: DefectUsage = {}): LeafEvent => ({
    type: "llm_call_finished",
    model: "m",
    attempt,
    usage,
    error: null,
  }),
  failed: (error: string, attempt = 1): LeafEvent => ({
    type: "llm_call_finished",
    model: "m",
    attempt,
    error,
  }),
  tool: (id: string, name = "bash", rawInput: JsonValue = {}): LeafEvent => ({
    type: "tool_call_started",
    id,
    name,
    fields: { kind: "execute", status: "pending", rawInput },
  }),
  refused: (id: string, name = "bash", text = "denied"): LeafEvent => ({
    type: "tool_call_started",
    id,
    name,
    fields: { status: "failed", ...said(text) },
  }),
  progress: (id: string): LeafEvent => ({
    type: "tool_call_progress",
    id,
    fields: { status: "in_progress" },
  }),
  done: (id: string, fields: ToolCallFields = { rawOutput: "ok" }): LeafEvent => ({
    type: "tool_call_finished",
    id,
    fields: { status: "completed", ...fields },
  }),
  broke: (id: string, text = "no such file"): LeafEvent => ({
    type: "tool_call_finished",
    id,
    fields: { status: "failed", ...said(text) },
  }),
  policy: (id: string, kind: "allow" | "deny"): LeafEvent => ({
    type: "policy_decision",
    id,
    decision: { kind },
  }),
  asked: (id: string, options: readonly PermissionOption[] = [ALLOW, REJECT]): LeafEvent => ({
    type: "policy_decision",
    id,
    decision: { kind: "ask", options },
  }),
  chosen: (id: string, option_id: string): LeafEvent => ({
    type: "permission_resolved",
    id,
    outcome: { kind: "selected", option_id },
  }),
  nobody: (id: string): LeafEvent => ({
    type: "permission_resolved",
    id,
    outcome: { kind: "cancelled" },
  }),
  compacted: (before: number, after: number): LeafEvent => ({
    type: "context_compressed",
    tokens_before: before,
    tokens_after: after,
  }),
};

/** What a signal says, short: ms, number of its run, kind, rest. */
export type Told = readonly [number, number, string, Readonly<Record<string, unknown>>];

/** A mapping, what was told it, and what it made of that. */
export class Session {
  readonly mapping: DefectMapping;
  readonly signals: Signal[] = [];
  readonly rows: (ProjectedRow & { readonly threadId: string | undefined })[] = [];
  readonly #session: string | null;

  constructor(limits: Partial<DefectLimits> = {}, session: string | null = "s") {
    this.mapping = new DefectMapping({ limits });
    this.#session = session;
  }

  /** An event of the session itself, or of the sub-agent at `path`. */
  at(
    ms: number,
    event: LeafEvent,
    path: readonly string[] = [],
    envelope: Partial<LineEnvelope> = {},
  ): this {
    const [top] = path;
    const sent =
      top === undefined
        ? event
        : ({
            type: "subagent",
            ancestor_path: path,
            agent_type: `a-${path.join("-")}`,
            inner: event,
          } as const);
    const session = this.#session === null ? {} : { session_id: this.#session };
    this.#take(this.mapping.translate(sent, { timestamp: moment(ms), ...session, ...envelope }));
    return this;
  }

  end(): this {
    for (const translated of this.mapping.end()) this.#take(translated);
    return this;
  }

  /** The runs in the order they were heard of first. */
  get runs(): string[] {
    return [...new Set(this.signals.map(({ runId }) => runId))];
  }

  /** The signals, short; runs numbered from 1 in the order they were heard of first. */
  get told(): Told[] {
    const runs = this.runs;
    return this.signals.map((signal) => [
      msOf(signal.at),
      runs.indexOf(signal.runId) + 1,
      signal.signal,
      flat(signal),
    ]);
  }

  /** The signals of one kind, short. */
  only(kind: Signal["signal"]): Told[] {
    return this.told.filter(([, , signal]) => signal === kind);
  }

  #take({ rows, signals, threadId }: Translated): void {
    this.signals.push(...signals);
    this.rows.push(...rows.map((row) => ({ ...row, threadId })));
  }
}
