interface Queue {
  /** Resolves when the last work is over, however it ended. */
  last: Promise<unknown>;
  waiting: number;
}

/** Runs work one at a time for each key, in the order of the calls. */
export class KeyedMutex {
  readonly #queues = new Map<string, Queue>();
  #bytes = 0;

  /** Bytes of the work that waits or runs, as its callers measured them. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Whether work waits or runs for the key. */
  has(key: string): boolean {
    return this.#queues.has(key);
  }

  async run<T>(key: string, bytes: number, work: () => Promise<T>): Promise<T> {
    const queue = this.#queues.get(key) ?? { last: Promise.resolve(), waiting: 0 };
    this.#queues.set(key, queue);
    queue.waiting += 1;
    this.#bytes += bytes;
    const done = queue.last.then(work);
    queue.last = done.catch(() => {});
    try {
      return await done;
    } finally {
      this.#bytes -= bytes;
      queue.waiting -= 1;
      if (queue.waiting === 0) this.#queues.delete(key);
    }
  }

  /** Resolves when nothing waits or runs. */
  async settled(): Promise<void> {
    while (this.#queues.size > 0) {
      await Promise.all([...this.#queues.values()].map(({ last }) => last));
    }
  }
}
