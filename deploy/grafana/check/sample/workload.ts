import { BridgeSample, type RunEnd, type ToolFailure } from "./bridge-sample.ts";
import { ObjectiveSample } from "./objective-sample.ts";
import { Random } from "./random.ts";
import { Recorder } from "./recorder.ts";
import { Timeline } from "./timeline.ts";

/** Seconds since 1970. */
export interface SampledTime {
  readonly from: number;
  readonly to: number;
}

const TENANTS = { acme: 5, globex: 3, initech: 2 };
const TOOLS = { search: 6, crm_lookup: 4, sql_query: 3, send_email: 2 };
const TOOL_SECONDS = { search: 0.4, crm_lookup: 0.9, sql_query: 2.5, send_email: 0.15 };
const TOOL_ERRORS = { transient: 4, rate_limit: 3, validation: 4, quota: 1, permanent: 1 };
const MODELS = { "large-2": 3, "small-1": 5, "fast-mini": 2 };
const MODEL_SECONDS = { "large-2": 6, "small-1": 1.8, "fast-mini": 0.7 };
const PROVIDERS = { "large-2": "anthropic", "small-1": "openai", "fast-mini": "openai" };
const MODEL_ERRORS = { model_dispatch: 5, deadline_exceeded: 2, cancelled: 1 };
const RARE_FAILURES = {
  usage_limit_exceeded: 3,
  cancelled: 4,
  deadline_exceeded: 4,
  internal: 1,
  unclassified: 1,
};

type Tool = keyof typeof TOOLS;
type Tenant = keyof typeof TENANTS;

const SERVICES = [
  { job: "support-desk", agents: { coordinator: 3, triage: 2 }, everySeconds: 40 },
  { job: "research", agents: { analyst: 1 }, everySeconds: 75 },
] as const;

/**
 * Some hours of two services with three tenants, the same each time: a credential that expires for one tenant, a model
 * that is away for some minutes, approvals that wait, a backend that is away, and a process that is replaced.
 */
export function sampleWorkload({ from, to }: SampledTime): Recorder {
  const recorder = new Recorder();
  const objectives = new ObjectiveSample(recorder);
  const timeline = new Timeline();
  const hour = (to - from) / 6;
  for (const [index, { agents, everySeconds, job }] of SERVICES.entries()) {
    const random = new Random(17 + index);
    const replaced = index === 0 ? from + 3 * hour : to;
    const first = new BridgeSample(recorder, objectives, job, `${job}-1`);
    let bridge = first;
    timeline.plan(replaced, () => {
      if (replaced === to) return;
      recorder.end(`${job}-1`);
      bridge = new BridgeSample(recorder, objectives, job, `${job}-2`);
    });
    // Numbers of their own, so that what is not about models stays as it is.
    const models = new Random(91 + index);
    const desk = new Desk({ timeline, random, models, bridge: () => bridge, from, hour });
    for (let at = from + 20; at < to - 200; at += random.between(0.4, 1.6) * everySeconds) {
      // Nothing is open when the process is replaced.
      if (at < replaced - 600 || at >= replaced) desk.run(at, random.pick<string>(agents), true);
    }
    timeline.plan(from + 1.2 * hour, () => bridge.ignored("duplicate", 7));
    timeline.plan(from + 2.7 * hour, () => bridge.adjusted("unseen_starts", 2));
    timeline.plan(from + 4.4 * hour, () => bridge.ignored("after_end", 3));
    if (index === 1) {
      timeline.plan(from + 3.3 * hour, () => bridge.auditFailed());
      timeline.plan(from + 3.5 * hour, () => bridge.adjusted("aged_runs"));
      timeline.plan(from + 4.1 * hour, () => bridge.dropped("queue_full", 12));
      timeline.plan(from + 5.1 * hour, () => bridge.overflowed("tenant", 4));
    }
    desk.sampleWaits(to);
  }
  collectorSample(recorder, timeline, from, hour);
  timeline.play(from, to, SAMPLE_SECONDS, (time) => {
    objectives.sample();
    recorder.sample(time);
  });
  return recorder;
}

const SAMPLE_SECONDS = 30;

interface DeskOptions {
  readonly timeline: Timeline;
  readonly random: Random;
  /** For the model calls. */
  readonly models: Random;
  readonly bridge: () => BridgeSample;
  readonly from: number;
  readonly hour: number;
}

/** Plans the runs of one service. */
class Desk {
  readonly #timeline: Timeline;
  readonly #random: Random;
  readonly #models: Random;
  readonly #bridge: () => BridgeSample;
  readonly #from: number;
  readonly #hour: number;

  constructor({ bridge, from, hour, models, random, timeline }: DeskOptions) {
    this.#timeline = timeline;
    this.#random = random;
    this.#models = models;
    this.#bridge = bridge;
    this.#from = from;
    this.#hour = hour;
  }

  run(start: number, agent: string, root: boolean, of?: Tenant): void {
    const random = this.#random;
    const tenant = of ?? random.pick(TENANTS);
    const seconds = random.duration(root ? 14 : 6);
    const end = start + seconds;
    const calls = Math.floor(random.between(0, 6));
    this.#timeline.plan(start, () => this.#bridge().started(agent, tenant));
    let endedBy: ToolFailure | undefined;
    const failed = new Map<Tool, boolean>();
    for (let call = 0; call < calls; call++) {
      const at = start + (seconds * (call + 1)) / (calls + 1);
      endedBy = this.#call(at, agent, tenant, failed) ?? endedBy;
    }
    for (let call = 0; call <= calls; call++) {
      this.#ask(start + (seconds * (call + 0.5)) / (calls + 1));
    }
    if (agent === "coordinator" && random.chance(0.6)) {
      this.run(start + 1, random.pick({ researcher: 3, triage: 1 }), false, tenant);
    }
    const failureKind = this.#failureKind(start, endedBy);
    const paused = failureKind === undefined && root && agent === "triage" && random.chance(0.25);
    const degraded = [...failed].flatMap(([tool, isLast]) => (isLast ? [tool] : []));
    // No draw of its own: all that is drawn after it would be another.
    const loopsIn = calls === 5 && degraded.length > 0 ? degraded[0] : undefined;
    const common = { agent, tenant, root, seconds, toolCalls: calls, degraded, loopsIn };
    this.#timeline.plan(end, () =>
      this.#bridge().ended({ ...common, ...this.#ending(failureKind, endedBy, paused, root) }),
    );
    if (paused) this.#pause(end, agent, tenant);
  }

  /** Keeps the age of the oldest approval, and what is open, as the seconds pass. */
  sampleWaits(until: number): void {
    for (let at = this.#from; at <= until; at += SAMPLE_SECONDS) {
      this.#timeline.plan(at, () => {
        this.#bridge().sampleOldest(at);
        this.#bridge().sampleOpen(at);
      });
    }
  }

  #ending(
    failureKind: string | undefined,
    endedBy: ToolFailure | undefined,
    paused: boolean,
    root: boolean,
  ): Pick<RunEnd, "outcome" | "failureKind" | "endedBy" | "usage"> {
    if (paused) return { outcome: "interrupted" };
    if (failureKind !== undefined) {
      const tool = failureKind === "tool_error_terminal" && endedBy !== undefined;
      return { outcome: "failed", failureKind, ...(tool ? { endedBy } : {}) };
    }
    if (this.#random.chance(0.004)) return { outcome: "abandoned" };
    if (!root) return { outcome: "complete" };
    const input = Math.round(this.#random.duration(6_000));
    const output = Math.round(this.#random.duration(900));
    return { outcome: "complete", usage: { input, output, cost: input * 3e-6 + output * 15e-6 } };
  }

  /**
   * Returns the failure when the run can't go on after it.
   *
   * @param failed whether the last call of each tool failed.
   */
  #call(
    at: number,
    agent: string,
    tenant: Tenant,
    failed: Map<Tool, boolean>,
  ): ToolFailure | undefined {
    const random = this.#random;
    const tool = random.pick(TOOLS);
    const kind = this.#toolError(at, tool, tenant);
    failed.set(tool, kind !== undefined);
    const seconds = random.duration(TOOL_SECONDS[tool]);
    this.#timeline.plan(at, () => this.#bridge().called(agent, tenant, tool, seconds, kind));
    const fatal = kind === "auth" || kind === "permanent" || kind === "quota";
    return kind !== undefined && fatal && random.chance(0.8) ? { tool, kind } : undefined;
  }

  #ask(at: number): void {
    const random = this.#models;
    const model = random.pick(MODELS);
    const failed = this.#modelIsAway(at) ? random.chance(0.8) : random.chance(0.01);
    const failureKind = this.#modelIsAway(at) ? "model_dispatch" : random.pick(MODEL_ERRORS);
    const end = {
      model,
      provider: PROVIDERS[model],
      seconds: random.duration(MODEL_SECONDS[model]),
      input: Math.round(random.duration(2_500)),
      output: Math.round(random.duration(350)),
      ...(failed ? { failureKind } : {}),
    };
    this.#timeline.plan(at, () => this.#bridge().asked(end));
  }

  #modelIsAway(at: number): boolean {
    const hour = (at - this.#from) / this.#hour;
    return hour > 4.2 && hour < 4.37;
  }

  /** In the second hour globex' credential for the customer database is no longer accepted. */
  #toolError(at: number, tool: Tool, tenant: Tenant): string | undefined {
    const hour = (at - this.#from) / this.#hour;
    if (tool === "crm_lookup" && tenant === "globex" && hour > 1.5 && hour < 2.1) return "auth";
    return this.#random.chance(0.04) ? this.#random.pick(TOOL_ERRORS) : undefined;
  }

  /** In the fifth hour the model is away for ten minutes. */
  #failureKind(at: number, endedBy: ToolFailure | undefined): string | undefined {
    if (endedBy !== undefined) return "tool_error_terminal";
    if (this.#modelIsAway(at) && this.#random.chance(0.7)) return "model_dispatch";
    return this.#random.chance(0.015) ? this.#random.pick(RARE_FAILURES) : undefined;
  }

  #pause(end: number, agent: string, tenant: Tenant): void {
    const goesOn = end + this.#random.between(60, 1_500);
    this.#timeline.plan(end, () => this.#bridge().waits(agent, tenant, end));
    this.#timeline.plan(goesOn, () => {
      this.#bridge().goesOn(agent, tenant, end);
      this.#bridge().started(agent, tenant);
    });
    const seconds = this.#random.duration(5);
    const rest = { agent, tenant, root: true, seconds, toolCalls: 1 };
    this.#timeline.plan(goesOn + seconds, () =>
      this.#bridge().ended({ ...rest, ...this.#ending(undefined, undefined, false, true) }),
    );
  }
}

/** The collector's own metrics; in the fourth hour Jaeger is away for ten minutes. */
function collectorSample(recorder: Recorder, timeline: Timeline, from: number, hour: number): void {
  const random = new Random(5);
  const self = { job: "otelcol-self", instance: "collector:8888" };
  const jaeger = { ...self, exporter: "otlp_grpc/jaeger", data_type: "traces" };
  let queued = 0;
  recorder.setTo("up", { job: "entelix", instance: "collector:8889" }, 1);
  recorder.setTo("up", self, 1);
  for (let at = from; at <= from + 6 * hour; at += SAMPLE_SECONDS) {
    timeline.plan(at, () => {
      const spans = Math.round(random.between(6, 22));
      const away = at > from + 3.4 * hour && at < from + 3.57 * hour;
      const sent = away ? 0 : spans + queued;
      queued = away ? queued + spans : 0;
      recorder.addTo(
        "otelcol_receiver_accepted_spans",
        { ...self, receiver: "otlp", transport: "http" },
        spans,
      );
      recorder.addTo(
        "otelcol_receiver_refused_spans",
        { ...self, receiver: "otlp", transport: "http" },
        0,
      );
      recorder.addTo("otelcol_exporter_sent_spans", { ...self, exporter: jaeger.exporter }, sent);
      recorder.setTo("otelcol_exporter_queue_size", jaeger, queued * 900);
      recorder.setTo("otelcol_exporter_queue_capacity", jaeger, 1_048_576);
      recorder.setTo("otelcol_process_memory_rss", self, 2 ** 20 * random.between(78, 84));
      const traces = Math.round(spans / 4);
      const kept = Math.round(traces * 0.3);
      const sampled = "otelcol_processor_tail_sampling_global_count_traces_sampled";
      recorder.addTo(sampled, { ...self, sampled: "true" }, kept);
      recorder.addTo(sampled, { ...self, sampled: "false" }, traces - kept);
      recorder.setTo(
        "otelcol_processor_tail_sampling_sampling_traces_on_memory",
        self,
        Math.round(random.between(3, 12)),
      );
    });
  }
}
