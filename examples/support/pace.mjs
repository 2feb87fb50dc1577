import { setTimeout as sleep } from "node:timers/promises";

/** By default, people, models and tools are 20 times as fast as real ones. */
const DEFAULT_PACE = 0.05;

/** How fast the example goes. */
export function paceOf(text = String(DEFAULT_PACE)) {
  const pace = Number(text);
  if (!(pace >= 0 && pace <= 10)) {
    throw new TypeError(`--pace: expected a number from 0 to 10, got ${text}`);
  }
  return {
    /** How long something takes that takes so many milliseconds with real people and models. */
    msOf: (ms) => ms * pace,
    wait: (ms) => sleep(ms * pace),
  };
}
