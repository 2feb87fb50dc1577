import { vi } from "vitest";

/** A script of what happens: each value that it yields is a wait in seconds. */
export type Script = Generator<number, void>;

interface Planned {
  /** In ms. */
  readonly at: number;
  readonly happen: () => void;
}

const MINUTE_MS = 60_000;

/** What is planned, by minute. Thousands of waits are far off: a timer each would be looked at with every step. */
const planned = new Map<number, Planned[]>();

/**
 * Time that passes as fast as the work in it is done. It begins at 0, as in promtool's tests. The file of the test
 * replaces `src/events/clock.ts`, whose clock cannot be set.
 */
export function beginSimulatedTime(): void {
  planned.clear();
  vi.useFakeTimers({ now: 0, toFake: ["Date", "setInterval", "clearInterval"] });
}

export function endSimulatedTime(): void {
  vi.useRealTimers();
}

/** Simulated seconds since the beginning. */
export function secondsNow(): number {
  return Date.now() / 1000;
}

/** Lets it happen in so many seconds. */
export function later(seconds: number, happen: () => void): void {
  const at = Math.round(Date.now() + seconds * 1000);
  const minute = Math.floor(at / MINUTE_MS);
  const ofMinute = planned.get(minute) ?? [];
  planned.set(minute, ofMinute);
  // In the order of time; what was planned first is first where times are equal.
  ofMinute.splice(ofMinute.findLastIndex((other) => other.at <= at) + 1, 0, { at, happen });
}

/** @param goesOn asked before each step: a process that ended takes what it did with it. */
export function play(script: Script, goesOn: () => boolean = () => true): void {
  const step = () => {
    if (!goesOn()) return;
    const { done, value } = script.next();
    if (done !== true) later(value, step);
  };
  step();
}

/** Lets a minute pass. */
export function passMinute(): void {
  const minute = Math.floor(Date.now() / MINUTE_MS);
  // What happens may plan more for the same minute.
  for (let next = planned.get(minute)?.shift(); next; next = planned.get(minute)?.shift()) {
    vi.advanceTimersByTime(next.at - Date.now());
    next.happen();
  }
  planned.delete(minute);
  vi.advanceTimersByTime((minute + 1) * MINUTE_MS - Date.now());
}
