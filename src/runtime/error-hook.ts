import { isPromise } from "../sinks/is-promise.ts";

/** Tells a hook of an error. What the hook throws, or rejects with, is its own trouble. */
export function tellHook(hook: ((error: unknown) => void) | undefined, error: unknown): void {
  try {
    const told: unknown = hook?.(error);
    if (isPromise(told)) told.then(undefined, () => {});
  } catch {
    // The agent must not fail because somebody could not be told.
  }
}
