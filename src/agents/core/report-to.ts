import { callErrorHook, notice } from "../../events/door.ts";
import { isRefusal } from "./hooks.ts";

/** Limit of the text of an error in a notice. */
const LONGEST = 300;

/**
 * Passes an error of an adapter to the application's hook. Without a hook, its first line is said once, since a run or an
 * event is lost.
 */
export function reportTo(hook: ((error: unknown) => void) | undefined, error: unknown): void {
  if (hook !== undefined) {
    callErrorHook(hook, error);
    return;
  }
  try {
    const [line = ""] = String(error).split("\n", 1);
    const text = line.slice(0, LONGEST);
    if (!isRefusal(error)) notice("ENTELIX_ERROR", `adapter: ${text}`, "adapter");
    else notice("ENTELIX_NO_TENANT", `a run without a tenant is not reported: ${text}`, "adapter");
  } catch {
    // The error cannot be shown.
  }
}
