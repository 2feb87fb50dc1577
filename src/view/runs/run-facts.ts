import type { ViewAttributes, ViewSpan } from "../format.ts";
import { numberIn, textIn } from "../model/attributes.ts";

/** What a run is known by besides ids, times and numbers: texts that many runs share. */
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

/** What a run's model calls used; absent where its span does not say. */
export interface RunUsage {
  readonly input: number | undefined;
  readonly output: number | undefined;
  /** US dollars as decimal text. */
  readonly cost: string | undefined;
  /** Child runs are in it. */
  readonly whole: boolean;
}

/** A wait for a person: Unix times in ms. */
export interface Wait {
  /** The call that waited; empty where it is not known. */
  readonly callId: string;
  readonly from: number;
  readonly to: number;
}

/** The traits that a span says of its run. Of a span under it: tenant and agent. */
export function traitsOf({ attributes, end_ns, kind }: ViewSpan): RunTraits {
  const tenant_id = textIn(attributes, "entelix.tenant_id") ?? "";
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

/** Of the span of a run. A root that says it names what its whole tree used, else its own calls are named. */
export function usageOf({ attributes }: ViewSpan): RunUsage {
  const input = numberIn(attributes, "gen_ai.usage.input_tokens");
  const output = numberIn(attributes, "gen_ai.usage.output_tokens");
  const cost = textIn(attributes, "entelix.agent.usage.cost");
  const whole = input !== undefined || output !== undefined || cost !== undefined;
  return {
    input: whole ? input : numberIn(attributes, "entelix.run.input_tokens"),
    output: whole ? output : numberIn(attributes, "entelix.run.output_tokens"),
    cost: whole ? cost : textIn(attributes, "entelix.run.cost"),
    whole,
  };
}

/**
 * How long people took to decide, by the rule of the metric `entelix.runs.working_time`: decisions of a policy are no
 * waits. The span of a run says when each decision was made; that of a call how long it waited, and it may say since when.
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

/** Of the span of a run: when its calls were decided about. */
export function decisionsOf(span: ViewSpan): { readonly callId: string; readonly at: number }[] {
  if (span.kind !== "run") return [];
  return decisionsIn(span).map(({ attributes, time_ns }) => {
    return { callId: callIdIn(attributes), at: Number(time_ns) / 1e6 };
  });
}

function decisionsIn({ events }: ViewSpan): ViewSpan["events"] {
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
