import { roughBytes } from "../../bridge/door.ts";
import {
  type ActivityLine,
  type DecodedLine,
  type RecordedEvent,
  ReorderBuffer,
  type ReorderBufferOptions,
} from "../../replay/door.ts";
import type { LogClock } from "./log-clock.ts";

/**
 * A line may be written to the log, and read from it, so much later than its stamp says: what is
 * released while no line comes must be what the next line would release.
 */
const DELIVERY_MS = 1_000;
/** Bytes of large lines that wait at most, roughly; smaller lines are bounded by their number. */
const MOST_BYTES = 32 * 1024 * 1024;
const LARGE = 1_024;

type Line = DecodedLine<RecordedEvent> | ActivityLine<RecordedEvent>;

/**
 * The reorder buffer of a log processor. What it releases, and when, follows from the lines of the log alone: a log
 * processor that begins anywhere in the log soon releases what one from the beginning does. Where clocks of some
 * runs are wrong, that holds for the order of each run's lines, but not for when they are released. It does not hold for
 * lines that are later in their run than the buffer puts in order, or that do not fit in memory.
 */
export class LineOrder {
  readonly #window: ReorderBuffer<Line>;
  readonly #clock: LogClock;
  /** No more than so many bytes wait. */
  #bytes = 0;

  constructor(options: ReorderBufferOptions = {}, clock: LogClock) {
    this.#window = new ReorderBuffer({ batch: 1, ...options });
    this.#clock = clock;
  }

  /** Lines that came too late to be put in order. */
  get late(): number {
    return this.#window.late;
  }

  get waiting(): number {
    return this.#window.held;
  }

  /** The lowest offset that waits; `Infinity` where none does. */
  get lowest(): number {
    let lowest = Number.POSITIVE_INFINITY;
    for (const { line } of this.#window.waiting) if (line < lowest) lowest = line;
    return lowest;
  }

  /** A line has arrived: what has waited long enough by its time is released before it is added. */
  arrived(): readonly Line[] {
    return this.#window.drainOlderThan(this.#clock.arrivedMs);
  }

  add(line: Line): readonly Line[] {
    const released = this.#window.push(line, this.#clock.arrivedMs);
    this.#bytes += bytesOf(line);
    if (this.#bytes <= MOST_BYTES) return released;
    this.#bytes = this.#window.waiting.reduce((sum, waiting) => sum + bytesOf(waiting), 0);
    return this.#bytes <= MOST_BYTES ? released : [...released, ...this.#flush()];
  }

  /** No line comes: what has waited long enough all the same. */
  idle(nowMs: number): readonly Line[] {
    const silent = this.#clock.silentMs(nowMs) - DELIVERY_MS;
    return silent > 0 ? this.#window.drainOlderThan(this.#clock.arrivedMs + silent) : [];
  }

  #flush(): readonly Line[] {
    this.#bytes = 0;
    return this.#window.flush();
  }
}

function bytesOf(line: Line): number {
  const { length } = line.text;
  if (length < LARGE) return 0;
  return length + roughBytes("event" in line ? line.event : line.value);
}
