import type { Instant } from "../../events/door.ts";

/**
 * How far ahead of its line's arrival the time of an event is believed, in seconds: one clock that is
 * wrong must not age the runs of all others.
 */
const BELIEVED_AHEAD = 3600;

/**
 * The time of a log: as its lines arrived, and as their events say. It goes on while no line comes, by
 * as much as passes meanwhile.
 */
export class LogClock {
  /** When the latest line arrived in the log, in ms since 1970; 0 where lines do not say. */
  arrivedMs = 0;
  /** The time of the newest event that is believed, in ms since 1970; 0 before the first. */
  newestMs = 0;
  /** When this process got the last line, in ms since 1970. */
  lastLineMs = 0;

  lineArrived(arrivedMs: number): void {
    if (arrivedMs > this.arrivedMs) this.arrivedMs = arrivedMs;
    this.lastLineMs = Date.now();
  }

  /** The second up to which the time of an event is believed. */
  get horizon(): number {
    if (this.arrivedMs === 0) return Number.POSITIVE_INFINITY;
    return this.arrivedMs / 1000 + BELIEVED_AHEAD;
  }

  eventPlayed([seconds, nanos]: Readonly<Instant>): void {
    const ms = seconds * 1000 + Math.trunc(nanos / 1e6);
    if (ms > this.newestMs && seconds <= this.horizon) this.newestMs = ms;
  }

  /** How long no line has come, in ms. */
  silentMs(nowMs: number): number {
    if (this.lastLineMs === 0) return 0;
    // The machine's clock was put back: else nothing would be silent until it is where it was.
    if (nowMs < this.lastLineMs) this.lastLineMs = nowMs;
    return nowMs - this.lastLineMs;
  }

  /** What time it is in the log's events, as far as the log says. */
  eventTime(nowMs: number): Instant | undefined {
    if (this.newestMs === 0) return undefined;
    const ms = this.newestMs + this.silentMs(nowMs);
    return [Math.trunc(ms / 1000), (ms % 1000) * 1e6];
  }
}
