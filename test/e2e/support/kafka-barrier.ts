import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { KafkaBroker } from "./kafka-broker.ts";
import { keep } from "./keeper.ts";

const PROGRAM = fileURLToPath(new URL("../kafka/hold-back.mjs", import.meta.url));

/** Lines that a barrier adds to each partition, all of a type that no dialect knows. */
export const BARRIER_LINES = 2;

/** Hides what is written to a topic from its readers, until all of it is to be seen at once. */
export class KafkaBarrier {
  readonly #lift: () => Promise<void>;

  private constructor(lift: () => Promise<void>) {
    this.#lift = lift;
  }

  /** Resolves when it holds; it does for 14 min at most. */
  static async hold(broker: KafkaBroker, topic: string, partitions: number): Promise<KafkaBarrier> {
    const { client, node } = broker.installed;
    const child = spawn(node, [PROGRAM, topic, String(partitions)], {
      env: { ...process.env, KAFKA_CLIENT: client, KAFKA_BROKERS: broker.address },
      stdio: ["pipe", "pipe", "inherit"],
    });
    keep(child);
    const said = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const expect = async (word: string) => {
      const { value } = await said.next();
      if (value !== word) throw new Error(`hold-back.mjs: expected ${word}, got ${value}`);
    };
    await expect("held");
    return new KafkaBarrier(() => {
      child.stdin.end();
      return expect("free");
    });
  }

  /** Resolves when everything is to be seen. */
  lift(): Promise<void> {
    return this.#lift();
  }
}
