import { withoutRejections } from "../../events/door.ts";
import { ActivityLine } from "./activity-line.ts";
import type { DecodedLine } from "./decode-line.ts";
import { ReorderBuffer, type ReorderBufferOptions } from "./reorder-buffer.ts";

/** A line that takes its turn among the events. */
export type OrderedLine<E> = DecodedLine<E> | ActivityLine<E>;

/** Callbacks that take events in order. */
export interface EventTakers<E> {
  /** Takes one event. The next event waits for the promise. */
  readonly onEvent: (item: DecodedLine<E>) => void | Promise<void>;
  /** Takes lines of unknown types that name their run, in order with the events. */
  readonly onActivity?: ((line: ActivityLine<E>) => void) | undefined;
}

/** Counts of the delivered events. */
export interface OrderReport {
  /** Events that were delivered. */
  readonly events: number;
  /**
   * Events skipped because the line before was identical. They count as events. Only lines with a sequence and without
   * an event ID are skipped: event IDs are compared later, and lines with neither may be two events.
   */
  readonly repeated: number;
  /** Events delivered after a later one of their stream because they came too late. They count as events. */
  readonly late: number;
  /** Streams whose last event was forgotten. Their next events cannot be counted as late. */
  readonly forgottenStreams: number;
  /** Groups of events of equal time that were too large to be ordered together. */
  readonly splitTies: number;
}

/**
 * Orders and delivers the events of one source, or of several sources of one history, even if these are read at the
 * same time.
 */
export class EventOrder<E> {
  /** Arrival of the next lines, in ms. Never decreases. Only {@link EventOrder.releaseOlder} uses it. */
  arrivedMs = 0;
  /** Number of the last line of all sources. The lines of the next source are counted on from it. */
  lastLine = 0;
  #events = 0;
  #repeated = 0;
  readonly #takers: EventTakers<E>;
  readonly #buffer: ReorderBuffer<OrderedLine<E>>;
  #lastText: string | undefined = undefined;
  /** A delivery in progress. Deliveries of other sources wait for it. */
  #busy: Promise<void> | undefined;

  /** @throws RangeError if an option of the buffer is not a whole number in its range. */
  constructor(takers: EventTakers<E>, window?: ReorderBufferOptions) {
    this.#takers = takers;
    this.#buffer = new ReorderBuffer(window);
  }

  /** Events delivered so far. */
  get events(): number {
    return this.#events;
  }

  /** Whether lines of unknown types must be pushed too. */
  get takesActivity(): boolean {
    return this.#takers.onActivity !== undefined;
  }

  report(): OrderReport {
    const { forgottenStreams, late, splitTies } = this.#buffer;
    return { events: this.#events, repeated: this.#repeated, late, forgottenStreams, splitTies };
  }

  /** @returns a promise only if something is delivered. */
  push(item: OrderedLine<E>): Promise<void> | undefined {
    const released = this.#buffer.push(item, this.arrivedMs);
    return released.length === 0 ? undefined : this.#deliver(released);
  }

  /** Delivers all waiting events: the sources give no more for now. */
  async release(): Promise<void> {
    await this.#deliver(this.#buffer.flush());
  }

  /** Delivers lines that have waited for `maxWaitMs` or longer: the sources are slow. */
  async releaseOlder(nowMs: number): Promise<void> {
    await this.#deliver(this.#buffer.drainOlderThan(nowMs));
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
    const { onEvent } = this.#takers;
    const onActivity = withoutRejections(this.#takers.onActivity);
    for (const item of items) {
      if (item instanceof ActivityLine) {
        onActivity(item);
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

  /** Equal lines are neighbours when in order. */
  #isRepeat({ envelope, text }: DecodedLine<E>): boolean {
    if (envelope.event_id !== undefined || envelope.sequence === undefined) return false;
    const before = this.#lastText;
    this.#lastText = text;
    return text === before;
  }
}
