import { type OpenRun, WAIT_KINDS, type WaitKind } from "../../bridge/door.ts";
import { MOST_NAME } from "../../events/door.ts";
import type { Answer } from "./answer.ts";
import type { OpenRunOnWire } from "./open-runs-form.ts";
import { Refusal } from "./refusal.ts";

/** Default and maximum number of runs in an answer. */
export const USUAL_RUNS = 100;
export const MOST_RUNS = 1_000;

/** How long a list is reused, in ms: frequent requests must not slow down events. */
const HELD_MS = 1_000;

/** The open runs at one time. */
interface RunsSnapshot {
  /** In ms since 1970. */
  readonly atMs: number;
  /** Runs of all tenants, longest idle first. */
  readonly runs: readonly OpenRun[];
}

/** The list of open runs, made at most once a second. */
export class OpenRunsList {
  readonly #list: (atMs: number) => readonly OpenRun[];
  #held: RunsSnapshot | undefined;

  constructor(list: (atMs: number) => readonly OpenRun[]) {
    this.#list = list;
  }

  now(): RunsSnapshot {
    if (this.#held === undefined) {
      const atMs = Date.now();
      this.#held = { atMs, runs: this.#list(atMs) };
      const release = () => {
        this.#held = undefined;
      };
      setTimeout(release, HELD_MS).unref();
    }
    return this.#held;
  }
}

/** Filters of a request. */
export interface RunsQuery {
  readonly limit: number;
  readonly tenant: string | undefined;
  readonly agent: string | undefined;
  readonly waitsFor: WaitKind | undefined;
  /** Only runs without an event for longer than this, in ms. */
  readonly idleOverMs: number;
}

const PARAMETERS: readonly string[] = ["limit", "tenant", "agent", "waits_for", "idle_over"];

/**
 * Reads the query of `GET /v1/runs`. An unknown parameter is an error, because a misspelt filter would show all runs.
 *
 * @throws Refusal `query` with the parameter's name.
 */
export function readRunsQuery(query: URLSearchParams): RunsQuery {
  for (const name of query.keys()) {
    if (!PARAMETERS.includes(name)) {
      throw new Refusal("query", `expected no parameter but ${PARAMETERS.join(", ")}`);
    }
    if (query.getAll(name).length > 1) throw new Refusal("query", `expected one ${name}`);
  }
  const waitsFor = query.get("waits_for") ?? undefined;
  const kind = WAIT_KINDS.find((known) => known === waitsFor);
  if (waitsFor !== undefined && kind === undefined) {
    throw new Refusal("query", `expected waits_for to be one of ${WAIT_KINDS.join(", ")}`);
  }
  return {
    limit: whole(query, "limit", 1, MOST_RUNS) ?? USUAL_RUNS,
    tenant: name(query, "tenant"),
    agent: name(query, "agent"),
    waitsFor: kind,
    idleOverMs: 1_000 * (whole(query, "idle_over", 0, 1e9) ?? -1),
  };
}

function whole(
  query: URLSearchParams,
  name: string,
  least: number,
  most: number,
): number | undefined {
  const text = query.get(name);
  if (text === null) return undefined;
  const value = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= least && value <= most) return value;
  throw new Refusal("query", `expected ${name} to be a whole number from ${least} to ${most}`);
}

function name(query: URLSearchParams, parameter: string): string | undefined {
  const text = query.get(parameter) ?? undefined;
  if (text === undefined || (text !== "" && text.length <= MOST_NAME)) return text;
  throw new Refusal("query", `expected ${parameter} to have 1 to ${MOST_NAME} characters`);
}

/** The answer of `GET /v1/runs`. It never contains content. */
export function runsAnswer({ atMs, runs }: RunsSnapshot, query: RunsQuery): Answer {
  const { agent, idleOverMs, limit, tenant, waitsFor } = query;
  const matching = runs.filter(
    (run) =>
      (tenant === undefined || run.tenantId === tenant) &&
      (agent === undefined || run.agent === agent) &&
      (waitsFor === undefined || run.waitsFor.kind === waitsFor) &&
      run.idleMs > idleOverMs,
  );
  const shown = matching.slice(0, limit);
  const head = { at: new Date(atMs).toISOString(), left_out: matching.length - shown.length };
  return { status: 200, body: () => pieces(JSON.stringify(head), shown) };
}

/** The text in pieces: a thousand runs with the longest names take 30 MB. */
function* pieces(head: string, runs: readonly OpenRun[]): Generator<string, void, undefined> {
  yield `${head.slice(0, -1)},"runs":[`;
  let between = "";
  for (const run of runs) {
    yield `${between}\n${JSON.stringify(wireOf(run))}`;
    between = ",";
  }
  yield "]}\n";
}

/** JSON omits `undefined`. */
function wireOf(run: OpenRun): { [K in keyof OpenRunOnWire]: unknown } {
  const { kind, name, sinceMs } = run.waitsFor;
  return {
    tenant_id: run.tenantId,
    run_id: run.runId,
    parent_run_id: run.parentRunId,
    root_run_id: run.rootRunId,
    trace_id: run.traceId,
    span_id: run.spanId,
    sampled: run.sampled,
    agent: run.agent,
    thread_id: run.threadId,
    started_at: run.startedAt,
    age_ms: Math.round(run.ageMs),
    idle_ms: Math.round(run.idleMs),
    waits_for: { kind, name, since_ms: Math.round(sinceMs) },
    input_tokens: run.tokens.input,
    output_tokens: run.tokens.output,
    cost_usd: run.cost,
  };
}
