/**
 * Calls a hook of the application. Its errors and rejections are ignored: a hook must not make the agent or a write
 * fail.
 */
export function callHook(call: () => unknown): void {
  try {
    Promise.resolve(call()).catch(() => {});
  } catch {
    // There is no other hook to report it to.
  }
}

/** Calls a hook with an error. Errors and rejections of the hook are ignored. */
export function callErrorHook(hook: ((error: unknown) => void) | undefined, error: unknown): void {
  callHook(() => hook?.(error));
}
