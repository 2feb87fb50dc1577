interface Queue {
  /** Resolves when the last task has ended, with or without an error. */
  last: Promise<unknown>;
  waiting: number;
}

/** Runs one task at a time for each key, in the order of the calls. */
export class KeyedMutex {
  readonly #queues = new Map<string, Queue>();
  #bytes = 0;

  /** Bytes of the tasks that wait or run, as the callers measured them. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Whether a task waits or runs for the key. */
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
