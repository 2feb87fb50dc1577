/**
 * Calls a hook of the application, which only listens. What it throws, or rejects with, is dropped:
 * neither the agent nor a write may fail by it.
 */
export function callHook(call: () => unknown): void {
  try {
    Promise.resolve(call()).catch(() => {});
  } catch {
    // There is no other hook to report it to.
  }
}

/** Calls a hook with an error. What the hook throws, or rejects with, is dropped. */
export function tellHook(hook: ((error: unknown) => void) | undefined, error: unknown): void {
  callHook(() => hook?.(error));
}
