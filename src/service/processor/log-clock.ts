import type { Instant } from "../../events/door.ts";

/**
 * How far an event's time may be ahead of its line's arrival, in seconds. One wrong clock must not age the runs of all
 * senders.
 */
const BELIEVED_AHEAD = 3600;

/** The time of a log, by the arrival of its lines and by their events. It continues while no line comes. */
export class LogClock {
  /** Arrival of the latest line, in ms since 1970. 0 if lines do not have it. */
  arrivedMs = 0;
  /** Time of the newest accepted event, in ms since 1970. 0 before the first. */
  newestMs = 0;
  /** When this process read the last line, in ms since 1970. */
  lastLineMs = 0;

  lineArrived(arrivedMs: number): void {
    if (arrivedMs > this.arrivedMs) this.arrivedMs = arrivedMs;
    this.lastLineMs = Date.now();
  }

  /** The maximum accepted time of an event, in seconds. */
  get horizon(): number {
    if (this.arrivedMs === 0) return Number.POSITIVE_INFINITY;
    return this.arrivedMs / 1000 + BELIEVED_AHEAD;
  }

  eventPlayed([seconds, nanos]: Readonly<Instant>): void {
    const ms = seconds * 1000 + Math.trunc(nanos / 1e6);
    if (ms > this.newestMs && seconds <= this.horizon) this.newestMs = ms;
  }

  /** Time since the last line, in ms. */
  silentMs(nowMs: number): number {
    if (this.lastLineMs === 0) return 0;
    // The machine's clock was set back. Otherwise no time would pass until it has caught up.
    if (nowMs < this.lastLineMs) this.lastLineMs = nowMs;
    return nowMs - this.lastLineMs;
  }

  /** The current time in the log's events. `undefined` before the first one. */
  eventTime(nowMs: number): Instant | undefined {
    if (this.newestMs === 0) return undefined;
    const ms = this.newestMs + this.silentMs(nowMs);
    return [Math.trunc(ms / 1000), (ms % 1000) * 1e6];
  }
}
