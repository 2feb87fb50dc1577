import { vi } from "vitest";

/** Less than a test may take, so that what was awaited is named. A busy machine must not reach it. */
const LIMITS = { timeout: 100_000, interval: 10 };

/** Repeats a check until it passes, or until a test takes too long: then it rejects with the check's last error. */
export function waitFor<T>(check: () => T | Promise<T>): Promise<T> {
  return vi.waitFor(check, LIMITS);
}

/** Repeats a check until it returns something true. */
export function waitUntil<T>(check: () => T | Promise<T>) {
  return vi.waitUntil(check, LIMITS);
}
