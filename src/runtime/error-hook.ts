import { callHook } from "../errors/call-hook.ts";

/** Tells a hook of an error. What the hook throws, or rejects with, is its own trouble. */
export function tellHook(hook: ((error: unknown) => void) | undefined, error: unknown): void {
  callHook(() => hook?.(error));
}
