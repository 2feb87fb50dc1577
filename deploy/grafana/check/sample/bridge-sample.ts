import type { ObjectiveSample } from "./objective-sample.ts";
import type { Labels, Recorder } from "./recorder.ts";

/** How a sampled run ends. */
export interface RunEnd {
  readonly agent: string;
  readonly tenant: string;
  readonly root: boolean;
  readonly outcome: "complete" | "failed" | "interrupted" | "abandoned";
  /** Only of failed runs. */
  readonly failureKind?: string;
  /** Of `tool_error_terminal`: the tool that ended the run, and why. */
  readonly endedBy?: ToolFailure;
  readonly seconds: number;
  readonly toolCalls: number;
  /** The tools whose last call failed. */
  readonly degraded?: readonly string[];
  /** The tool that the run called in a loop. */
  readonly loopsIn?: string | undefined;
  /** Of root runs that completed. */
  readonly usage?: { readonly input: number; readonly output: number; readonly cost: number };
}

/** How a sampled model call ends. */
export interface ModelCallEnd {
  readonly provider: string;
  readonly model: string;
  readonly seconds: number;
  /** Only of calls that failed. */
  readonly failureKind?: string | undefined;
  readonly input: number;
  readonly output: number;
}

export interface ToolFailure {
  readonly tool: string;
  readonly kind: string;
}

/** As collector-config.yaml has them, in seconds. */
const SPAN_BUCKETS = [0.01, 0.05, 0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800];

const FAILURE_KINDS = [
  "tool_error_terminal",
  "usage_limit_exceeded",
  "cancelled",
  "deadline_exceeded",
  "model_dispatch",
  "internal",
  "unclassified",
];

/** Where failures of root runs arise that no tool has ended. Others: `run`. */
const ORIGINS: Readonly<Record<string, string>> = { model_dispatch: "model" };

/** Class and wire code of the errors behind the kinds. */
const ERRORS: Readonly<Record<string, readonly [string, string]>> = {
  auth: ["HttpError", "upstream_unauthorized"],
  transient: ["TimeoutError", "transport_failure"],
  rate_limit: ["HttpError", "rate_limited"],
  validation: ["ZodError", "invalid_request"],
  quota: ["HttpError", "rate_limited"],
  permanent: ["HttpError", "upstream_invalid"],
  model_dispatch: ["APIConnectionError", "upstream_unavailable"],
  internal: ["TypeError", "internal"],
};

/** What one process would record, by the metrics' own table, and what the collector would count of its spans. */
export class BridgeSample {
  readonly #recorder: Recorder;
  readonly #process: Labels;
  readonly #objectives: ObjectiveSample;
  readonly #known = new Set<string>();
  /** When the pauses began that have not ended, by tenant. */
  readonly #waiting = new Map<string, Set<number>>();
  readonly #openOf = new Map<string, number>();
  #open = 0;

  constructor(recorder: Recorder, objectives: ObjectiveSample, job: string, instance: string) {
    this.#recorder = recorder;
    this.#objectives = objectives;
    this.#process = { job, instance };
    const bridge = this.#process;
    recorder.add("entelix.bridge.events", bridge, {}, 0);
    recorder.add("entelix.audit.append_failures", bridge, {}, 0);
    recorder.set("entelix.bridge.open_runs", bridge, {}, 0);
    for (const reason of ["duplicate", "after_end", "second_terminal"]) {
      this.ignored(reason, 0);
    }
    for (const reason of ["evicted_runs", "aged_runs", "unseen_starts", "clamped"]) {
      this.adjusted(reason, 0);
    }
    for (const label of ["tenant", "agent", "tool", "model"]) this.overflowed(label, 0);
    for (const reason of ["queue_full", "export_failed"]) this.dropped(reason, 0);
  }

  started(agent: string, tenant: string): void {
    const who = { "gen_ai.agent.name": agent, "entelix.tenant_id": tenant };
    if (!this.#known.has(`${agent} ${tenant}`)) {
      this.#known.add(`${agent} ${tenant}`);
      const root = { ...who, "entelix.root": "true" };
      for (const kind of FAILURE_KINDS) {
        const failed = { "entelix.run.outcome": "failed", "entelix.failure.kind": kind };
        this.#recorder.add("entelix.runs", this.#process, { ...root, ...failed }, 0);
      }
      for (const outcome of ["complete", "interrupted", "abandoned"]) {
        this.#recorder.add(
          "entelix.runs",
          this.#process,
          { ...root, "entelix.run.outcome": outcome },
          0,
        );
      }
    }
    this.#event();
    this.#open++;
    this.#openOf.set(agent, (this.#openOf.get(agent) ?? 0) + 1);
    this.#recorder.add("entelix.runs.active", this.#process, who);
  }

  called(agent: string, tenant: string, tool: string, seconds: number, errorKind?: string): void {
    this.#event(2);
    const failed: Labels = errorKind === undefined ? {} : { "error.type": errorKind };
    this.#recorder.observe(
      "gen_ai.execute_tool.duration",
      this.#process,
      {
        "gen_ai.tool.name": tool,
        "gen_ai.tool.type": "function",
        "gen_ai.agent.name": agent,
        ...failed,
      },
      seconds,
    );
    if (errorKind === undefined) return;
    this.#failed(errorKind, "tool", tool);
    this.#recorder.add("entelix.tool.failures", this.#process, {
      "gen_ai.tool.name": tool,
      "entelix.tool.error_kind": errorKind,
      "gen_ai.agent.name": agent,
      "entelix.tenant_id": tenant,
    });
  }

  asked({ failureKind, input, model, output, provider, seconds }: ModelCallEnd): void {
    this.#event(2);
    const record = this.#recorder;
    const chat = {
      "gen_ai.operation.name": "chat",
      "gen_ai.provider.name": provider,
      "gen_ai.request.model": model,
    };
    const failed: Labels = failureKind === undefined ? {} : { "error.type": failureKind };
    const duration = { ...chat, ...failed };
    record.observe("gen_ai.client.inference.duration", this.#process, duration, seconds);
    if (failureKind !== undefined) return;
    const tokens = { ...chat, "gen_ai.token.modality": "unknown" };
    record.add("gen_ai.client.inference.usage.input_tokens", this.#process, tokens, input);
    record.add("gen_ai.client.inference.usage.output_tokens", this.#process, tokens, output);
  }

  ended({
    agent,
    degraded = [],
    endedBy,
    failureKind,
    loopsIn,
    outcome,
    root,
    seconds,
    tenant,
    toolCalls,
    usage,
  }: RunEnd): void {
    this.#event();
    this.#open--;
    // A process that was started meanwhile does not know the run.
    this.#openOf.set(agent, Math.max((this.#openOf.get(agent) ?? 0) - 1, 0));
    const record = this.#recorder;
    const who = { "gen_ai.agent.name": agent, "entelix.tenant_id": tenant };
    const kind: Labels = failureKind === undefined ? {} : { "entelix.failure.kind": failureKind };
    const error: Labels = failureKind === undefined ? {} : { "error.type": failureKind };
    record.add("entelix.runs.active", this.#process, who, -1);
    record.add("entelix.runs", this.#process, {
      ...who,
      ...kind,
      "entelix.run.outcome": outcome,
      "entelix.root": String(root),
    });
    record.observe(
      "gen_ai.invoke_agent.duration",
      this.#process,
      { "gen_ai.agent.name": agent, ...error },
      seconds,
    );
    record.observe(
      "gen_ai.invoke_agent.tool_calls",
      this.#process,
      { "gen_ai.agent.name": agent },
      toolCalls,
    );
    if (root && failureKind !== undefined) {
      const origin = endedBy === undefined ? (ORIGINS[failureKind] ?? "run") : "tool";
      const name = endedBy?.tool ?? (origin === "model" ? "small-1" : "");
      this.#failed(failureKind, origin, name, endedBy?.kind);
    }
    if (root) {
      const { job = "" } = this.#process;
      this.#objectives.ended({ job, agent, tenant, outcome, failureKind, seconds });
      if (outcome === "complete" || outcome === "interrupted") {
        record.observe("entelix.runs.working_time", this.#process, who, seconds);
      }
    }
    for (const tool of outcome === "complete" ? degraded : []) {
      record.add("entelix.runs.degraded", this.#process, { ...who, "gen_ai.tool.name": tool });
    }
    if (loopsIn !== undefined) {
      record.add("entelix.runs.looping", this.#process, {
        ...who,
        "entelix.run.loop": "repeat",
        "gen_ai.tool.name": loopsIn,
      });
    }
    if (root && endedBy !== undefined) {
      record.add("entelix.tool.terminal_failures", this.#process, {
        ...who,
        "gen_ai.tool.name": endedBy.tool,
        "entelix.tool.error_kind": endedBy.kind,
      });
    }
    if (usage !== undefined) {
      const tokens = (type: string, count: number): void =>
        record.add("entelix.tokens", this.#process, { ...who, "gen_ai.token.type": type }, count);
      tokens("input", usage.input);
      tokens("output", usage.output);
      record.add("entelix.cost", this.#process, who, usage.cost);
    }
    const span = {
      job: this.#process.job ?? "",
      instance: "collector:8889",
      gen_ai_operation_name: "invoke_agent",
      gen_ai_agent_name: agent,
      entelix_tenant_id: tenant,
      entelix_root: String(root),
      entelix_run_outcome: outcome,
      entelix_failure_kind: failureKind ?? "none",
    };
    record.addTo("entelix_spans_calls_total", span, 1);
    record.observeIn("entelix_spans_duration_seconds", SPAN_BUCKETS, span, seconds);
  }

  #failed(kind: string, origin: string, name: string, errorKind = kind): void {
    const [type = "", code = ""] = ERRORS[errorKind] ?? [];
    const fingerprint = [kind, origin, name, type, code].join("|");
    const attributes = { "entelix.failure.fingerprint": fingerprint };
    this.#recorder.add("entelix.failures", this.#process, attributes);
  }

  /** A root run waits for an approval from this time on. */
  waits(agent: string, tenant: string, since: number): void {
    this.#waiting.set(tenant, (this.#waiting.get(tenant) ?? new Set()).add(since));
    this.#pending(agent, tenant, 1);
  }

  /** It goes on. A process that was started meanwhile does not know that it waited. */
  goesOn(agent: string, tenant: string, since: number): void {
    if (this.#waiting.get(tenant)?.delete(since) === true) this.#pending(agent, tenant, -1);
  }

  /** Half of the open runs are in the model, a third in tools, the rest between calls. */
  sampleOpen(now: number): void {
    for (const [agent, open] of this.#openOf) {
      const model = Math.ceil(open / 2);
      const tool = Math.floor(open / 3);
      const shares = [
        ["model", model, 13],
        ["tool", tool, 31],
        ["nothing", open - model - tool, 3],
      ] as const;
      for (const [kind, count, longest] of shares) {
        const labels = { "entelix.run.waits_for": kind, "gen_ai.agent.name": agent };
        const idle = count === 0 ? 0 : 1 + (now % longest);
        this.#recorder.set("entelix.runs.waiting", this.#process, labels, count);
        this.#recorder.set("entelix.runs.idle.max", this.#process, labels, idle);
      }
    }
  }

  sampleOldest(now: number): void {
    for (const [tenant, since] of this.#waiting) {
      const age = since.size === 0 ? 0 : now - Math.min(...since);
      const attributes = { "entelix.tenant_id": tenant };
      this.#recorder.set("entelix.approvals.oldest", this.#process, attributes, age);
    }
  }

  #pending(agent: string, tenant: string, change: number): void {
    const who = { "gen_ai.agent.name": agent, "entelix.tenant_id": tenant };
    this.#recorder.add("entelix.approvals.pending", this.#process, who, change);
  }

  ignored(reason: string, count = 1): void {
    this.#recorder.add(
      "entelix.bridge.ignored",
      this.#process,
      { "entelix.reason": reason },
      count,
    );
  }

  adjusted(reason: string, count = 1): void {
    const attributes = { "entelix.reason": reason };
    this.#recorder.add("entelix.bridge.adjustments", this.#process, attributes, count);
  }

  overflowed(label: string, count = 1): void {
    const attributes = { "entelix.label": label };
    this.#recorder.add("entelix.bridge.label_overflow", this.#process, attributes, count);
  }

  dropped(reason: string, count = 1): void {
    const attributes = { "entelix.reason": reason };
    this.#recorder.add("entelix.bridge.spans_dropped", this.#process, attributes, count);
  }

  auditFailed(): void {
    this.#recorder.add("entelix.audit.append_failures", this.#process, {});
  }

  #event(count = 1): void {
    this.#recorder.add("entelix.bridge.events", this.#process, {}, count);
    this.#recorder.set("entelix.bridge.open_runs", this.#process, {}, this.#open);
  }
}
