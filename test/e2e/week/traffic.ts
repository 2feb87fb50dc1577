import type { Random } from "../../support/random.ts";
import type { AgentProcess } from "./agent-process.ts";
import type { Approvals, Wait } from "./approvals.ts";
import { FAILURES, type FailureName } from "./failures.ts";
import type { Reports } from "./reports.ts";
import { pausedRun, type RunPlan, usualRun } from "./runs.ts";
import type { Service } from "./service.ts";
import { later, play, secondsNow } from "./simulated-time.ts";

/** A tenant of an agent, and what usually happens to its runs. */
export interface Customer {
  readonly tenant: string;
  /** At noon of a working day. */
  readonly runsPerHour: number;
  /** Runs from one failure of a kind to the next: by hours it would be a large share at night. */
  readonly failures: Partial<Readonly<Record<FailureName, number>>>;
}

/** An agent and its tenants. */
export interface Desk {
  readonly service: Service;
  readonly agent: string;
  /** An agent that it asks now and then. */
  readonly helper?: string;
  readonly customers: readonly Customer[];
  /** Share of runs that complete though the last call of a tool failed. */
  readonly degraded: number;
  /** Share of runs that pause for a person. */
  readonly pauses: number;
}

const HOUR = 3600;
const DAY = 24 * HOUR;
/** Alerts of a failure last for 5 minutes; those from spans begin a minute later. */
const REPORTED_SECONDS = 8 * 60;

/** The first of January 1970 was a Thursday. */
export function isWeekend(at: number): boolean {
  const day = Math.floor(at / DAY) % 7;
  return day === 2 || day === 3;
}

/** How much of the traffic at noon of a working day there is. */
function share(at: number): number {
  const hour = (at % DAY) / HOUR;
  const ofDay = hour < 6 || hour >= 22 ? 0.08 : hour < 8 || hour >= 18 ? 0.4 : 1;
  return isWeekend(at) ? ofDay * 0.3 : ofDay;
}

/** Starts the runs of a desk's tenants, as they come. */
export class Traffic {
  readonly #desk: Desk;
  readonly #random: Random;
  readonly #reports: Reports;
  readonly #approvals: Approvals;
  /** Runs until each failure is due, by tenant and way. */
  readonly #due = new Map<string, number>();

  /** When each way of failing came last, by the alert that reports it. */
  readonly #last = new Map<string, number>();

  constructor(desk: Desk, random: Random, reports: Reports, approvals: Approvals) {
    this.#desk = desk;
    this.#random = random;
    this.#reports = reports;
    this.#approvals = approvals;
  }

  /** The runs that begin in the next minute. */
  minute(): void {
    for (const customer of this.#desk.customers) {
      const expected = (customer.runsPerHour / 60) * share(secondsNow());
      for (let n = this.#arrivals(expected); n > 0; n--) {
        later(this.#random.next() * 60, () => this.arrive(customer));
      }
    }
  }

  /** One run begins. @param way how it is to fail; default: as is due. */
  arrive(customer: Customer, way: FailureName | undefined = this.#failureOf(customer)): void {
    const process = this.#desk.service.any();
    if (process === undefined) return;
    const plan = this.#plan(customer, process);
    if (way !== undefined) this.#play(process, usualRun(plan, { fails: FAILURES[way] }));
    else if (this.#random.chance(this.#desk.pauses)) this.pause(customer);
    else {
      const degraded = this.#random.chance(this.#desk.degraded);
      this.#play(process, usualRun(plan, { degraded }));
    }
  }

  /** A run that asks a person, pauses, and goes on when there is an answer. */
  pause(customer: Customer): void {
    const process = this.#desk.service.any();
    if (process === undefined) return;
    const plan = this.#plan(customer, process);
    this.#play(process, pausedRun(plan));
    const from = secondsNow();
    const { job } = this.#desk.service;
    const wait = this.#approvals.asked({ job, tenant: customer.tenant, asker: process, from });
    const seconds = this.#answerTo(from) - from;
    later(seconds, () => this.#resume(customer, plan, wait));
  }

  #resume(customer: Customer, paused: RunPlan, wait: Wait): void {
    // The answer comes to the process that asked, else to another one, which does not know of it.
    const here = wait.asker.isAlive && this.#random.chance(0.8);
    const process = here ? wait.asker : this.#desk.service.any();
    if (process === undefined) return;
    wait.answer = { at: secondsNow(), by: process };
    const plan = { ...this.#plan(customer, process), resumes: paused.runId };
    this.#play(process, usualRun(plan, { approved: this.#random.chance(0.85) }));
  }

  #plan({ tenant }: Customer, process: AgentProcess): RunPlan {
    const { agent, helper, service } = this.#desk;
    const runId = nextRunId();
    return {
      runId,
      tenant,
      agent,
      helper,
      random: this.#random,
      send: (event, envelope) => process.send(event, envelope),
      opened: () => process.openRuns.set(runId, tenant),
      ended: () => process.openRuns.delete(runId),
      failed: ({ alert, tool }) => {
        const subject = {
          alertname: alert,
          job: service.job,
          entelix_tenant_id: tenant,
          ...(tool === undefined ? {} : { gen_ai_tool_name: tool.name }),
        };
        const now = secondsNow();
        this.#reports.may(subject, now, now + REPORTED_SECONDS);
        this.#mayReturn(alert, now);
        later(120, () => {
          // Of one that is killed the last counts may be missing.
          if (!process.isKilled) this.#reports.must(subject, now + 180, now + 240);
        });
      },
    };
  }

  /** A failure that comes again after 3 days is reported as such, whoever has it. */
  #mayReturn(alert: string, now: number): void {
    const last = this.#last.get(alert);
    this.#last.set(alert, now);
    if (last === undefined || now - last < 3 * DAY) return;
    const subject = { alertname: "EntelixFailureReturned", job: this.#desk.service.job };
    this.#reports.may(subject, now, now + REPORTED_SECONDS);
  }

  #play(process: AgentProcess, script: Generator<number, void>): void {
    play(script, () => process.isAlive);
  }

  #failureOf({ failures, tenant }: Customer): FailureName | undefined {
    let fails: FailureName | undefined;
    for (const [name, runs] of Object.entries(failures)) {
      if (!isFailure(name)) continue;
      const key = `${tenant} ${name}`;
      // Not all of them in the first minutes.
      const left = (this.#due.get(key) ?? runs * this.#random.next()) - 1;
      const isDue = left <= 0 && fails === undefined;
      if (isDue) fails = name;
      this.#due.set(key, isDue ? runs * (0.6 + 0.8 * this.#random.next()) : left);
    }
    return fails;
  }

  #arrivals(expected: number): number {
    let n = 0;
    let product = this.#random.next();
    for (const limit = Math.exp(-expected); product > limit; product *= this.#random.next()) n++;
    return n;
  }

  /** By day within the hour, in the evening and at night in the next working morning. */
  #answerTo(asked: number): number {
    const hour = (asked % DAY) / HOUR;
    if (!isWeekend(asked) && hour >= 8 && hour < 17) return asked + 60 + this.#random.below(2400);
    let morning = Math.floor(asked / DAY) * DAY + 8 * HOUR;
    while (morning <= asked || isWeekend(morning)) morning += DAY;
    return morning + this.#random.below(90 * 60);
  }
}

let runs = 0;

function nextRunId(): string {
  runs++;
  return `018f3c7a-0000-7000-8000-${runs.toString(16).padStart(12, "0")}`;
}

function isFailure(name: string): name is FailureName {
  return Object.hasOwn(FAILURES, name);
}
