import { AgentError } from "../errors/agent-error.ts";
import { PendingReads } from "./pending-reads.ts";
import type { ReceiverSource } from "./receiver.ts";
import { Ring } from "./ring.ts";

interface WaitingSend<T> {
  readonly item: T;
  readonly resolve: () => void;
  readonly reject: (error: AgentError) => void;
}

/**
 * A queue between senders and a reader in which a full buffer makes senders wait, in order.
 *
 * Sends wait only while the buffer is full, and reads only while it is empty.
 */
export class BoundedChannel<T extends object> implements ReceiverSource<T> {
  readonly #buffer: Ring<T>;
  readonly #sends: Ring<WaitingSend<T>>;
  readonly #reads = new PendingReads<T>();
  #open = true;

  constructor(capacity: number, maxWaiting: number) {
    this.#buffer = new Ring(capacity);
    this.#sends = new Ring(maxWaiting);
  }

  /** Items held, without those of waiting sends. */
  get buffered(): number {
    return this.#buffer.length;
  }

  get waiting(): number {
    return this.#sends.length;
  }

  /** A promise when the item has to wait for room. It rejects once the channel is closed. */
  send(item: T): void | Promise<void> {
    if (!this.#open) return observed(Promise.reject(AgentError.cancelled()));
    if (this.#reads.give(item)) return;
    if (!this.#buffer.full) return this.#buffer.push(item);
    if (this.#sends.full) {
      const message = `${this.#sends.length} sends already wait for the receiver: await each send`;
      return observed(Promise.reject(AgentError.config(message)));
    }
    return observed(
      new Promise((resolve, reject) => {
        this.#sends.push({ item, resolve, reject });
      }),
    );
  }

  receive(): Promise<IteratorResult<T, undefined>> {
    const value = this.#buffer.shift();
    if (value === undefined) {
      return this.#open ? this.#reads.wait() : Promise.resolve({ value, done: true });
    }
    const send = this.#sends.shift();
    if (send !== undefined) {
      this.#buffer.push(send.item);
      send.resolve();
    }
    return Promise.resolve({ value, done: false });
  }

  /** Ends it from the sending side: what was sent, or waits to be, is still received. */
  finish(): void {
    this.#open = false;
    this.#reads.end();
  }

  /** Ends it from the reading side: waiting sends fail, what is held can still be received. */
  close(): void {
    this.finish();
    for (let send = this.#sends.shift(); send !== undefined; send = this.#sends.shift()) {
      send.reject(AgentError.cancelled());
    }
  }

  discard(): void {
    this.close();
    this.#buffer.clear();
  }
}

/**
 * Marks a rejection as seen: an agent that does not look at the outcome of a send, as it may for
 * all events but two, must not die of an unhandled rejection. Who awaits the promise still gets it.
 */
function observed(promise: Promise<void>): Promise<void> {
  promise.catch(() => {});
  return promise;
}
