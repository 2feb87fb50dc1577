import type { ViewAttributes, ViewSpan } from "../format.ts";
import { costIn, numberIn, textIn } from "../model/attributes.ts";

/** Names of a run's agent, outcome and failure. */
export interface RunTraits {
  readonly tenant_id: string;
  readonly agent?: string;
  readonly outcome: string;
  readonly failure_kind?: string;
  readonly failure_origin?: string;
  readonly failure_fingerprint?: string;
  readonly interruption_kind?: string;
  readonly degraded?: readonly string[];
  readonly loop?: string;
}

/** Usage of a run's model calls; `undefined` if its span does not have it. */
export interface RunUsage {
  readonly input: number | undefined;
  readonly output: number | undefined;
  /** US dollars as decimal text. */
  readonly cost: string | undefined;
  /** Whether child runs are included. */
  readonly whole: boolean;
}

/** A wait for a person: Unix times in ms. */
export interface Wait {
  /** The call that waited; empty if unknown. */
  readonly callId: string;
  readonly from: number;
  readonly to: number;
}

/** The tenant of a span's run; empty for spans of others. */
export function tenantOf({ attributes }: ViewSpan): string {
  return textIn(attributes, "entelix.tenant_id") ?? "";
}

/** Traits of a run, from its span. Other spans have only tenant and agent. */
export function traitsOf(span: ViewSpan): RunTraits {
  const { attributes, end_ns, kind } = span;
  const tenant_id = tenantOf(span);
  const agent = textIn(attributes, "gen_ai.agent.name");
  const named = agent === undefined ? { tenant_id } : { tenant_id, agent };
  if (kind !== "run" || end_ns === null) return { ...named, outcome: "open" };
  const traits: { -readonly [N in keyof RunTraits]: RunTraits[N] } = {
    ...named,
    outcome: textIn(attributes, "entelix.run.outcome") ?? "open",
  };
  for (const name of ["failure_kind", "failure_origin", "failure_fingerprint"] as const) {
    const text = textIn(attributes, FAILURE[name]);
    if (text !== undefined) traits[name] = text;
  }
  const interruption = textIn(attributes, "entelix.interruption.kind");
  if (interruption !== undefined) traits.interruption_kind = interruption;
  const degraded = attributes["entelix.run.degraded"];
  if (Array.isArray(degraded)) traits.degraded = degraded.map(String);
  const loop = textIn(attributes, "entelix.run.loop");
  if (loop !== undefined) traits.loop = loop;
  return traits;
}

const FAILURE = {
  failure_kind: "entelix.failure.kind",
  failure_origin: "entelix.failure.origin",
  failure_fingerprint: "entelix.failure.fingerprint",
} as const;

/** Usage in the span of a run. A root may have the usage of its whole tree; other runs have that of their own calls. */
export function usageOf({ attributes }: ViewSpan): RunUsage {
  const input = numberIn(attributes, "gen_ai.usage.input_tokens");
  const output = numberIn(attributes, "gen_ai.usage.output_tokens");
  const cost = costIn(attributes, "entelix.agent.usage.cost");
  const whole = input !== undefined || output !== undefined || cost !== undefined;
  return {
    input: whole ? input : numberIn(attributes, "entelix.run.input_tokens"),
    output: whole ? output : numberIn(attributes, "entelix.run.output_tokens"),
    cost: whole ? cost : costIn(attributes, "entelix.run.cost"),
    whole,
  };
}

/**
 * Waits for people's decisions, as the metric `entelix.runs.working_time` counts them: decisions of a policy do not
 * count. The span of a run has the time of each decision. The span of a call has the length of the wait, and may have
 * its start.
 */
export function waitsOf(span: ViewSpan): Wait[] {
  if (span.kind === "run") {
    return decisionsIn(span).flatMap(({ attributes, time_ns }) => waitOf(attributes, time_ns));
  }
  if (span.kind !== "tool") return [];
  const waits = waitOf(span.attributes, span.start_ns);
  const asked = span.events.find(({ name }) => name === "entelix.approval_asked");
  if (asked === undefined) return waits;
  const at = Number(asked.time_ns) / 1e6;
  return waits.map(({ callId, from, to }) => ({ callId, from: at, to: at + to - from }));
}

/** Times of the decisions about calls, from the span of a run. */
export function decisionsOf(span: ViewSpan): { readonly callId: string; readonly at: number }[] {
  if (span.kind !== "run") return [];
  return decisionsIn(span).map(({ attributes, time_ns }) => {
    return { callId: callIdIn(attributes), at: Number(time_ns) / 1e6 };
  });
}

function decisionsIn({ events }: ViewSpan): ViewSpan["events"] {
  if (events.length === 0) return events;
  return events.filter(({ name }) => name === "entelix.approval");
}

function waitOf(attributes: ViewAttributes, until_ns: string): Wait[] {
  const ms = numberIn(attributes, "entelix.approval.wait_ms");
  if (ms === undefined || ms <= 0) return [];
  if (textIn(attributes, "entelix.approval.by") === "policy") return [];
  const to = Number(until_ns) / 1e6;
  return [{ callId: callIdIn(attributes), from: to - ms, to }];
}

function callIdIn(attributes: ViewAttributes): string {
  return textIn(attributes, "gen_ai.tool.call.id") ?? "";
}
