import { Random } from "../../support/random.ts";
import type { AgentProcess } from "./agent-process.ts";
import { Approvals } from "./approvals.ts";
import { SimulatedCollector } from "./collector.ts";
import { EventServices } from "./event-services.ts";
import type { FailureName } from "./failures.ts";
import { Reports } from "./reports.ts";
import { SeriesBook, selectorsOf } from "./series-book.ts";
import { Service } from "./service.ts";
import { passMinute, play, type Script, secondsNow } from "./simulated-time.ts";
import { type Customer, type Desk, isWeekend, Traffic } from "./traffic.ts";

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const ACME: Customer = {
  tenant: "acme",
  runsPerHour: 60,
  failures: { model: 900, tool: 950, deadline: 1000, cancelled: 150, budget: 1000 },
};
const GLOBEX: Customer = {
  tenant: "globex",
  runsPerHour: 40,
  failures: { model: 700, rate: 750, internal: 800, cancelled: 150 },
};
/** So few runs that each failure is a large share of an hour. */
const INITECH: Customer = { tenant: "initech", runsPerHour: 4, failures: { model: 100 } };

/** Traffic of all kinds in which nothing is wrong. */
export class Week {
  readonly book: SeriesBook;
  readonly minutes: number;
  /** The bridges' own errors. */
  readonly problems: string[] = [];
  readonly reports: Reports;
  readonly #random: Random;
  readonly #approvals = new Approvals();
  readonly #collector = new SimulatedCollector();
  readonly #eventServices = new EventServices();
  readonly #services: readonly Service[];
  readonly #desks: readonly { readonly desk: Desk; readonly traffic: Traffic }[];

  /** @param queries of the rules that will read the series. */
  constructor(seed: number, minutes: number, queries: readonly string[]) {
    this.book = new SeriesBook(selectorsOf(queries));
    this.minutes = minutes;
    this.#random = new Random(seed);
    this.reports = new Reports(minutes);
    const service = (job: string, processes: number, metrics = true) =>
      new Service({
        job,
        processes,
        metrics,
        collector: this.#collector,
        random: this.#random,
        took: () => this.#eventServices.took(),
        problem: (text) => void this.problems.push(text),
        shutsDown: (process) => this.#givenUp(process),
      });
    const support = service("support", 2);
    const billing = service("billing", 1);
    const mailer = service("mailer", 1, false);
    this.#services = [support, billing, mailer];
    const desks: readonly Desk[] = [
      {
        service: support,
        agent: "planner",
        helper: "researcher",
        customers: [ACME, GLOBEX, INITECH],
        degraded: 0.03,
        pauses: 0.02,
      },
      {
        service: billing,
        agent: "clerk",
        customers: [{ ...GLOBEX, runsPerHour: 25, failures: { model: 500, tool: 550 } }],
        degraded: 0.01,
        pauses: 0.3,
      },
      {
        service: mailer,
        agent: "mailer",
        customers: [{ ...ACME, runsPerHour: 15, failures: { tool: 250, cancelled: 150 } }],
        degraded: 0,
        pauses: 0.05,
      },
    ];
    this.#desks = desks.map((desk) => ({
      desk,
      traffic: new Traffic(desk, this.#random, this.reports, this.#approvals),
    }));
  }

  /** A run of acme's planner that begins now, and fails this way. */
  readonly acme = (way: FailureName): void => {
    this.#desks[0]?.traffic.arrive(ACME, way);
  };

  /** @param happens called before each minute. */
  async pass(happens: (minute: number, week: Week) => void = () => {}): Promise<void> {
    for (let minute = 0; minute < this.minutes; minute++) {
      this.#plan();
      happens(minute, this);
      for (const { traffic } of this.#desks) traffic.minute();
      this.#collector.show(this.book, secondsNow());
      this.#eventServices.show(this.book);
      for (const service of this.#services) await service.scrape(this.book);
      this.book.nextMinute();
      passMinute();
    }
    this.#approvals.report(this.reports);
  }

  /** What happens besides the usual runs, by the hour of the day. */
  #plan(): void {
    const now = secondsNow();
    const day = Math.floor(now / DAY);
    const at = (hour: number) => now % DAY === Math.round(hour * 60) * MINUTE;
    const [support, billing, mailer] = this.#services;
    if (support === undefined || billing === undefined || mailer === undefined) return;
    // Deployments on working days.
    if (!isWeekend(now) && at(11)) play(support.deploy());
    if (!isWeekend(now) && day % 2 === 0 && at(15.5)) play(billing.deploy());
    if (day % 4 === 1 && at(13)) play(mailer.deploy());
    if (day % 3 === 0 && at(10)) this.#eventServices.deploy();
    // Crashes at any time, and a collector that is updated at night.
    if (day % 3 === 2 && at(2.2 + (day % 5) * 4)) play(support.crash());
    if (day % 5 === 3 && at(17.1)) play(billing.crash());
    if (day % 6 === 4 && at(3)) this.#collector.restart(now, 50);
    // A nightly job asks for many approvals, which are given in the morning.
    if (at(22.5)) play(this.#nightOfApprovals());
  }

  /** What is open when a process is stopped counts as abandoned for half an hour. */
  #givenUp({ openRuns, options }: AgentProcess): void {
    for (const tenant of openRuns.values()) {
      const of = { job: options.job, entelix_tenant_id: tenant };
      const subject = { alertname: "EntelixRunsAbandoned", ...of };
      this.reports.may(subject, secondsNow(), secondsNow() + 34 * MINUTE);
    }
  }

  *#nightOfApprovals(): Script {
    const billing = this.#desks[1];
    const [customer] = billing?.desk.customers ?? [];
    if (billing === undefined || customer === undefined) return;
    for (let n = 0; n < 40; n++) {
      billing.traffic.pause(customer);
      yield 60 + this.#random.below(400);
    }
  }
}
