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
 * Allowed delay between the arrival stamp of a line and its reading. Lines that are released while no line comes must
 * be those that the next line would release.
 */
const DELIVERY_MS = 1_000;
/** Approximate maximum size of waiting large lines, in bytes. Smaller lines are bounded by their number. */
const MOST_BYTES = 32 * 1024 * 1024;
const LARGE = 1_024;

type Line = DecodedLine<RecordedEvent> | ActivityLine<RecordedEvent>;

/**
 * The reorder buffer of a log processor. Only the lines of the log decide which lines are released, and when. So a
 * processor that begins anywhere in the log soon releases the same lines as one from the beginning. If clocks of some
 * runs are wrong, this holds for the order of each run's lines, but not for the time of their release. It does not hold
 * for lines that are too late in their run for the buffer, or do not fit in memory.
 */
export class LineOrder {
  readonly #buffer: ReorderBuffer<Line>;
  readonly #clock: LogClock;
  /** Upper bound of the waiting bytes. */
  #bytes = 0;

  constructor(options: ReorderBufferOptions = {}, clock: LogClock) {
    this.#buffer = new ReorderBuffer({ batch: 1, ...options });
    this.#clock = clock;
  }

  /** Lines that came too late to be ordered. */
  get late(): number {
    return this.#buffer.late;
  }

  get waiting(): number {
    return this.#buffer.held;
  }

  /** The lowest waiting offset. `Infinity` without one. */
  get lowest(): number {
    let lowest = Number.POSITIVE_INFINITY;
    for (const { line } of this.#buffer.waiting) if (line < lowest) lowest = line;
    return lowest;
  }

  /** A line has arrived. Releases lines that have waited long enough, before it is added. */
  arrived(): readonly Line[] {
    return this.#buffer.drainOlderThan(this.#clock.arrivedMs);
  }

  add(line: Line): readonly Line[] {
    const released = this.#buffer.push(line, this.#clock.arrivedMs);
    this.#bytes += bytesOf(line);
    if (this.#bytes <= MOST_BYTES) return released;
    this.#bytes = this.#buffer.waiting.reduce((sum, waiting) => sum + bytesOf(waiting), 0);
    return this.#bytes <= MOST_BYTES ? released : [...released, ...this.#flush()];
  }

  /** No line comes. Releases lines that have waited long enough. */
  idle(nowMs: number): readonly Line[] {
    const silent = this.#clock.silentMs(nowMs) - DELIVERY_MS;
    return silent > 0 ? this.#buffer.drainOlderThan(this.#clock.arrivedMs + silent) : [];
  }

  #flush(): readonly Line[] {
    this.#bytes = 0;
    return this.#buffer.flush();
  }
}

function bytesOf(line: Line): number {
  const { length } = line.text;
  if (length < LARGE) return 0;
  return length + roughBytes("event" in line ? line.event : line.value);
}
