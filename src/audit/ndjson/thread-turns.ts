interface Turns {
  /** Resolves when the last one is over, however it ended. */
  last: Promise<unknown>;
  waiting: number;
}

/** Work that has to wait for the disk: one at a time for each thread, in the order it came. */
export class ThreadTurns {
  readonly #threads = new Map<string, Turns>();
  #bytes = 0;

  /** What waits, as its callers have measured it. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Whether anything waits in the thread of this name. */
  has(name: string): boolean {
    return this.#threads.has(name);
  }

  async take<T>(name: string, bytes: number, work: () => Promise<T>): Promise<T> {
    const turns = this.#threads.get(name) ?? { last: Promise.resolve(), waiting: 0 };
    this.#threads.set(name, turns);
    turns.waiting += 1;
    this.#bytes += bytes;
    const done = turns.last.then(work);
    turns.last = done.catch(() => {});
    try {
      return await done;
    } finally {
      this.#bytes -= bytes;
      turns.waiting -= 1;
      if (turns.waiting === 0) this.#threads.delete(name);
    }
  }

  /** Resolves when nothing waits. */
  async settled(): Promise<void> {
    while (this.#threads.size > 0) {
      await Promise.all([...this.#threads.values()].map(({ last }) => last));
    }
  }
}
