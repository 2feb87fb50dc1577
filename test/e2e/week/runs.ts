import type { AgentEvent, EventEnvelope } from "../../../src/index.ts";
import type { Random } from "../../support/random.ts";
import { RunEvents } from "../../support/run-events.ts";
import type { FailureWay } from "./failures.ts";
import type { Script } from "./simulated-time.ts";

/** Who runs, and where its events go. */
export interface RunPlan {
  readonly runId: string;
  readonly tenant: string;
  readonly agent: string;
  /** An agent that it asks now and then. */
  readonly helper: string | undefined;
  /** The paused run that it continues. */
  readonly resumes?: string;
  readonly random: Random;
  readonly send: (event: AgentEvent, envelope?: EventEnvelope) => void;
  readonly opened: () => void;
  readonly ended: () => void;
  readonly failed: (way: FailureWay) => void;
}

interface RunChoices {
  readonly fails?: FailureWay;
  /** It completes though the last call of a tool failed. */
  readonly degraded?: boolean;
  /** Of a run that goes on behind a pause: what the person said. */
  readonly approved?: boolean;
}

const TOOLS = ["search", "crm", "sql"] as const;

/** A run from its start to its end. */
export function* usualRun(plan: RunPlan, choices: RunChoices): Script {
  const { agent, ended, opened, random, resumes, send } = plan;
  const run = new Steps(plan);
  send(run.events.started(agent), resumes === undefined ? {} : { resumed_from_run_id: resumes });
  opened();
  if (choices.approved !== undefined) yield* run.decided("pay", choices.approved);
  yield* run.model();
  for (let calls = 1 + random.below(3); calls > 0; calls--) yield* run.usualCall(random.of(TOOLS));
  if (random.chance(0.01)) yield* run.call("export", { seconds: 60 + random.below(500) });
  if (random.chance(0.01)) yield* run.poll();
  if (random.chance(0.02)) yield* run.askedInProcess();
  if (plan.helper !== undefined && random.chance(0.15)) yield* run.child(plan.helper);
  if (choices.degraded === true) yield* run.call("crm", { fails: true });
  const { fails } = choices;
  if (fails !== undefined) {
    yield* run.fail(fails);
    plan.failed(fails);
  } else {
    yield* run.model();
    send(run.events.complete());
  }
  ended();
}

/** A run up to its pause. */
export function* pausedRun(plan: RunPlan): Script {
  const run = new Steps(plan);
  plan.send(run.events.started(plan.agent));
  plan.opened();
  yield* run.model();
  plan.send(run.events.interrupted({ kind: { type: "approval_pending", tool_use_id: "pay-1" } }));
  plan.ended();
}

/** What happens inside a run. */
class Steps {
  readonly events: RunEvents;
  readonly #plan: RunPlan;
  #calls = 0;

  constructor(plan: RunPlan, runId = plan.runId) {
    this.#plan = plan;
    this.events = new RunEvents(runId, plan.tenant);
  }

  *model(fails?: FailureWay): Script {
    const { random, send } = this.#plan;
    const id = this.#nextId();
    send(this.events.modelStart(id));
    const seconds = 0.5 + random.next() * 8;
    yield seconds;
    const duration_ms = Math.round(seconds * 1000);
    if (fails !== undefined) {
      send(this.events.modelError(id, { duration_ms, kind: fails.kind, envelope: fails.envelope }));
      return;
    }
    const usage = { input_tokens: 500 + random.below(3000), output_tokens: 50 + random.below(400) };
    const cost_usd = ((usage.input_tokens + 4 * usage.output_tokens) / 1e6).toFixed(6);
    send(this.events.modelComplete(id, { duration_ms, usage, cost_usd }));
  }

  /** A call that works, now and then at the second or third try. */
  *usualCall(tool: string): Script {
    const { random } = this.#plan;
    for (let tries = 0; tries < 2 && random.chance(0.06); tries++) {
      yield* this.call(tool, { fails: true });
      yield 1 + random.next() * 4;
    }
    yield* this.call(tool);
  }

  *call(tool: string, how: { readonly seconds?: number; readonly fails?: boolean } = {}): Script {
    const { random, send } = this.#plan;
    const id = this.#nextId();
    send(this.events.toolStart(id, tool, { question: `${id} of ${this.events.run_id}` }));
    const seconds = how.seconds ?? 0.1 + random.next() * 3;
    yield seconds;
    const duration_ms = Math.round(seconds * 1000);
    if (how.fails === true) send(this.events.toolError(id, { tool, duration_ms }));
    else send(this.events.toolComplete(id, tool, duration_ms, `answer to ${id}`));
  }

  /** A job that is asked for its state until it is done: the bridges know the tool as one for that. */
  *poll(): Script {
    const { random, send } = this.#plan;
    for (let polls = 2 + random.below(6); polls > 0; polls--) {
      const id = this.#nextId();
      send(this.events.toolStart(id, "job_state", { job: 7 }));
      yield 0.5;
      send(this.events.toolComplete(id, "job_state", 500, polls > 1 ? "working" : "done"));
      yield 20;
      if (random.chance(0.5)) yield* this.model();
    }
  }

  /** A person is asked while the run stays open: by day minutes, and hours now and then. */
  *askedInProcess(): Script {
    const { random, send } = this.#plan;
    const id = this.#nextId();
    send(this.events.asked(id, "pay"));
    yield random.chance(0.3) ? 3600 + random.below(8 * 3600) : 60 + random.below(1800);
    yield* this.decided("pay", random.chance(0.8), id);
  }

  *decided(tool: string, approved: boolean, id = this.#nextId()): Script {
    const { send } = this.#plan;
    if (!approved) {
      send(this.events.denied(id, tool));
      return;
    }
    send(this.events.approved(id, tool));
    send(this.events.toolStart(id, tool, { sum: 900 }));
    yield 1;
    send(this.events.toolComplete(id, tool, 1000, "paid"));
  }

  *child(agent: string): Script {
    const { send } = this.#plan;
    const id = this.#nextId();
    send(this.events.toolStart(id, "ask_helper", { question: id }));
    const child = new Steps(this.#plan, `${this.events.run_id}-${id}`);
    send(child.events.started(agent, this.events.run_id), { parent_tool_use_id: id });
    yield* child.model();
    yield* child.usualCall("search");
    send(child.events.complete());
    send(this.events.toolComplete(id, "ask_helper", 5000, "helped"));
  }

  *fail(way: FailureWay): Script {
    const { send } = this.#plan;
    const { envelope, kind, tool } = way;
    if (tool !== undefined) {
      const id = this.#nextId();
      send(this.events.toolStart(id, tool.name, { question: id }));
      yield 2;
      const error = { tool: tool.name, kind: tool.error, envelope, duration_ms: 2000 };
      send(this.events.toolError(id, error));
    } else if (kind.type === "model_dispatch") {
      yield* this.model(way);
    } else {
      yield 30;
    }
    send(this.events.failed({ error: "a run of the week fails", kind, envelope }));
  }

  #nextId(): string {
    this.#calls++;
    return `c${this.#calls}`;
  }
}
