import { ActivityLine } from "./activity-line.ts";
import type { DecodedLine } from "./decode-line.ts";
import { ReorderBuffer, type ReorderBufferOptions } from "./reorder-buffer.ts";

/** What takes its turn among the events. */
export type OrderedLine<E> = DecodedLine<E> | ActivityLine<E>;

/** Who takes the events, in order. */
export interface EventTakers<E> {
  /** Takes one event; events come in order, and the next waits for the promise. */
  readonly onEvent: (item: DecodedLine<E>) => void | Promise<void>;
  /** Given the lines of unknown types that say whose they are, in order with the events. */
  readonly onActivity?: ((line: ActivityLine<E>) => void) | undefined;
}

/** How the events of all sources were delivered. */
export interface OrderReport {
  /** Events that were delivered. */
  readonly events: number;
  /**
   * Events left out because the same line had come right before. They count as events. Lines with an
   * event id are told apart by that, later on; those with neither id nor sequence may well be two.
   */
  readonly repeated: number;
  /** Events that were delivered after a later one of their stream, since they came too late; they are events all the same. */
  readonly late: number;
  /** Streams whose last event was forgotten, so that none of their events counts as late. */
  readonly forgottenStreams: number;
  /** How often a group of events of one time was too large to be put in order as a whole. */
  readonly splitTies: number;
}

/**
 * Puts the events of one source in order and delivers them; or those of several sources that are one history, also
 * where they are read at the same time.
 */
export class EventOrder<E> {
  /** Arrival of the lines that are pushed next, in ms; never goes back. Only {@link EventOrder.releaseOlder} needs it. */
  arrivedMs = 0;
  /** Number of the last line of all sources: the next source's lines come after it. */
  lastLine = 0;
  #events = 0;
  #repeated = 0;
  readonly #takers: EventTakers<E>;
  readonly #window: ReorderBuffer<OrderedLine<E>>;
  #lastText: string | undefined = undefined;
  /** A delivery that takes a while: what another source has released waits for it. */
  #busy: Promise<void> | undefined;

  /** @throws RangeError when an option of the window is not a whole number in its range. */
  constructor(takers: EventTakers<E>, window?: ReorderBufferOptions) {
    this.#takers = takers;
    this.#window = new ReorderBuffer(window);
  }

  /** Events that were delivered so far. */
  get events(): number {
    return this.#events;
  }

  /** Whether lines of unknown types are to be pushed, too. */
  get takesActivity(): boolean {
    return this.#takers.onActivity !== undefined;
  }

  report(): OrderReport {
    const { forgottenStreams, late, splitTies } = this.#window;
    return { events: this.#events, repeated: this.#repeated, late, forgottenStreams, splitTies };
  }

  /** A promise only where something has to be waited for. */
  push(item: OrderedLine<E>): Promise<void> | undefined {
    const released = this.#window.push(item, this.arrivedMs);
    return released.length === 0 ? undefined : this.#deliver(released);
  }

  /** Delivers the events that wait for later ones: the sources give no more for now. */
  async release(): Promise<void> {
    await this.#deliver(this.#window.flush());
  }

  /** Delivers the lines that arrived more than `maxWaitMs` before now: the sources go on, but slowly. */
  async releaseOlder(nowMs: number): Promise<void> {
    await this.#deliver(this.#window.drainOlderThan(nowMs));
  }

  #deliver(items: readonly OrderedLine<E>[]): Promise<void> {
    const before = this.#busy;
    const delivery =
      before === undefined ? this.#give(items) : before.then(() => this.#give(items));
    this.#busy = delivery;
    const isOver = () => {
      if (this.#busy === delivery) this.#busy = undefined;
    };
    delivery.then(isOver, isOver);
    return delivery;
  }

  async #give(items: readonly OrderedLine<E>[]): Promise<void> {
    const { onActivity, onEvent } = this.#takers;
    for (const item of items) {
      if (item instanceof ActivityLine) {
        onActivity?.(item);
        continue;
      }
      this.#events += 1;
      if (this.#isRepeat(item)) {
        this.#repeated += 1;
        continue;
      }
      const busy = onEvent(item);
      if (busy !== undefined) await busy;
    }
  }

  /** In order, equal lines stand beside each other. */
  #isRepeat({ envelope, text }: DecodedLine<E>): boolean {
    if (envelope.event_id !== undefined || envelope.sequence === undefined) return false;
    const before = this.#lastText;
    this.#lastText = text;
    return text === before;
  }
}
