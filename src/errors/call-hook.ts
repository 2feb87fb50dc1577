/**
 * Calls a hook of the application, which only listens. What it throws, or rejects with, is its own
 * trouble: neither the agent nor a write may fail by it.
 */
export function callHook(call: () => unknown): void {
  try {
    Promise.resolve(call()).catch(() => {});
  } catch {
    // Nobody is left who could be told.
  }
}

/** Tells a hook of an error. What the hook throws, or rejects with, is its own trouble. */
export function tellHook(hook: ((error: unknown) => void) | undefined, error: unknown): void {
  callHook(() => hook?.(error));
}
