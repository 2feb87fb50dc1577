import { setTimeout as sleep } from "node:timers/promises";

/** What a process holds above what it held when this was made: on the heap, and in buffers outside of it. */
export class Held {
  #before;
  #most = { held: 0, rss: 0 };

  constructor() {
    collect();
    this.#before = now();
  }

  look() {
    const { held, rss } = now();
    this.#most.held = Math.max(this.#most.held, held - this.#before.held);
    this.#most.rss = Math.max(this.#most.rss, rss - this.#before.rss);
  }

  /** Looks every ms until that is settled. */
  async lookUntil(promise) {
    let done = false;
    const settled = promise.then(() => {
      done = true;
    });
    while (!done) {
      this.look();
      await Promise.race([settled, sleep(1)]);
    }
  }

  /** Bytes that are held after a collection. */
  withoutGarbage() {
    collect();
    return now().held - this.#before.held;
  }

  /** The most that any look has seen, garbage too. `rss` is all that the system has given the process. */
  most() {
    return this.#most;
  }
}

function now() {
  // What is external has the buffers in it.
  const { external, heapUsed, rss } = process.memoryUsage();
  return { held: heapUsed + external, rss };
}

/** Twice: buffers go after the objects that had them. */
function collect() {
  gc();
  gc();
}
