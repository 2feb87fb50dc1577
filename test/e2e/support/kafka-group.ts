import { setTimeout as sleep } from "node:timers/promises";
import { KafkaWorker, type WorkerOptions } from "./kafka-worker.ts";
import { until } from "./until.ts";

/** The workers of one consumer group. */
export class KafkaGroup {
  readonly workers: readonly KafkaWorker[];

  private constructor(workers: readonly KafkaWorker[]) {
    this.workers = workers;
  }

  /**
   * Resolves when all of them are members.
   *
   * @throws Error when one of them ends instead, with what it said.
   */
  static async start(count: number, options: WorkerOptions): Promise<KafkaGroup> {
    const workers = Array.from({ length: count }, (_, at) => {
      return new KafkaWorker({ ...options, name: `${options.name}-${at}` });
    });
    const group = new KafkaGroup(workers);
    for (const worker of workers) await worker.start();
    await Promise.all(workers.map(readyOrEnded));
    return group;
  }

  /**
   * Resolves when the group has played and stored all that its partitions have, and no run is open.
   *
   * @param partitions how many they are.
   */
  async done(partitions: number, timeoutMs: number): Promise<void> {
    let quiet = 0;
    await until(
      "the group has done everything",
      async () => {
        const sum = await this.#sum();
        const left = LEFT.reduce((all, name) => all + (sum.get(name) ?? 0), 0);
        // Those whose end of the log is not known yet say nothing of what is behind.
        const known = sum.get("known_partitions");
        quiet = left === 0 && known === partitions ? quiet + 1 : 0;
        if (quiet >= 3) return true;
        throw new Error(JSON.stringify(Object.fromEntries(sum)));
      },
      { timeoutMs, everyMs: 500 },
    );
    // Twice the time between commits.
    await sleep(2_000);
  }

  /** Records of the log that were not played yet; `undefined` while nobody knows, since workers are away. */
  async behind(partitions: number): Promise<number | undefined> {
    try {
      const sum = await this.#sum();
      return sum.get("known_partitions") === partitions ? sum.get("behind_records") : undefined;
    } catch {
      return undefined;
    }
  }

  /**
   * Resolves when the partitions are shared out evenly, and all of them are read.
   *
   * @param partitions how many they are: a multiple of the workers.
   */
  async shared(partitions: number): Promise<void> {
    const share = partitions / this.workers.length;
    await until("the partitions are shared out", async () => {
      const all = await Promise.all(this.workers.map((worker) => worker.figures()));
      const shares = all.map((figures) => figures.get("known_partitions") ?? 0);
      if (shares.every((one) => one === share)) return true;
      throw new Error(`${shares.join(", ")} of ${partitions}`);
    });
  }

  /** Sums of their figures, as of {@link KafkaWorker.figures}. @throws when one does not answer. */
  figures(): Promise<ReadonlyMap<string, number>> {
    return this.#sum();
  }

  /** @returns their exit codes. */
  stop(): Promise<(number | string)[]> {
    return Promise.all(this.workers.map((worker) => worker.stop()));
  }

  async kill(): Promise<void> {
    await Promise.all(this.workers.map((worker) => worker.kill()));
  }

  async #sum(): Promise<Map<string, number>> {
    const sum = new Map<string, number>();
    for (const worker of this.workers) {
      for (const [name, value] of await worker.figures()) {
        sum.set(name, (sum.get(name) ?? 0) + value);
      }
    }
    return sum;
  }
}

/** So much of what a worker said is told when it ends at its start. */
const TAIL = 2_000;
const LEFT = ["behind_records", "waiting_lines", "in_flight", "open_runs"];

/** @throws Error when the worker has ended before it is ready, with what it said. */
async function readyOrEnded(worker: KafkaWorker): Promise<void> {
  let over = false;
  const ended = async () => {
    while (!over && worker.pid !== undefined) await sleep(100);
    if (over) return;
    throw new Error(`${worker.options.name} has ended: ${(await worker.said()).slice(-TAIL)}`);
  };
  const ready = worker.ready().finally(() => {
    over = true;
  });
  await Promise.race([ready, ended()]);
}
