import type { Random } from "../../support/random.ts";
import { AgentProcess, type ProcessOptions } from "./agent-process.ts";
import type { SimulatedCollector } from "./collector.ts";
import type { SeriesBook } from "./series-book.ts";
import { play, type Script, secondsNow } from "./simulated-time.ts";

/** How long the collector shows what a process sent last: METRIC_EXPIRATION. */
const EXPIRATION_SECONDS = 300;
/** How long a process that ends waits for its runs. */
const DRAIN_SECONDS = 180;

interface ServiceOptions
  extends Pick<ProcessOptions, "job" | "metrics" | "problem" | "shutsDown" | "took"> {
  readonly processes: number;
  readonly collector: SimulatedCollector;
  readonly random: Random;
}

interface Member {
  readonly process: AgentProcess;
  /** It is given new runs. */
  takesRuns: boolean;
  pushedAt: number;
}

/** The processes of one service, which come and go. */
export class Service {
  readonly job: string;
  readonly #options: ServiceOptions;
  #members: Member[] = [];
  #started = 0;
  #version = 1;

  constructor(options: ServiceOptions) {
    this.job = options.job;
    this.#options = options;
    for (let n = 0; n < options.processes; n++) this.start();
  }

  /** One of the processes that take runs; `undefined` while there is none. */
  any(): AgentProcess | undefined {
    const open = this.#members.filter(({ takesRuns }) => takesRuns);
    return open.length === 0 ? undefined : this.#options.random.of(open).process;
  }

  /** A process more. */
  start(): AgentProcess {
    this.#started++;
    const process = new AgentProcess({
      ...this.#options,
      instance: `${this.job}-${this.#started}`,
      version: `1.${this.#version}.0`,
      spanEnded: (span) => this.#options.collector.spanEnded(this.job, span),
    });
    this.#members.push({ process, takesRuns: true, pushedAt: secondsNow() });
    return process;
  }

  /** Takes no more runs, waits for those that are open, and ends: what is open then is given up. */
  *drain(process: AgentProcess): Script {
    for (const member of this.#members) if (member.process === process) member.takesRuns = false;
    for (let waited = 0; waited < DRAIN_SECONDS && process.openRuns.size > 0; waited += 10)
      yield 10;
    process.shutdown(secondsNow());
  }

  /** A new version, one process after the other. */
  *deploy(): Script {
    this.#version++;
    for (const { process } of this.#members.filter(({ takesRuns }) => takesRuns)) {
      this.start();
      yield 30;
      play(this.drain(process));
      yield 60;
    }
  }

  /** One is killed. What it counted since its last push nobody hears of; a new one is there soon. */
  *crash(): Script {
    const process = this.any();
    if (process === undefined) return;
    for (const member of this.#members) if (member.process === process) member.takesRuns = false;
    process.kill(secondsNow());
    yield 20;
    this.start();
  }

  /** What the processes send, and what the collector shows of it. */
  async scrape(book: SeriesBook): Promise<void> {
    const now = secondsNow();
    for (const member of this.#members) {
      const { process } = member;
      if (process.isAlive || process.hasLastWord) {
        await process.push(book);
        member.pushedAt = now;
      }
    }
    this.#members = this.#members.filter(({ pushedAt }) => now - pushedAt < EXPIRATION_SECONDS);
    if (!this.#options.collector.answers(now)) return;
    for (const { process } of this.#members) {
      for (const [key, value] of process.shown) book.record(key, value);
    }
  }
}
