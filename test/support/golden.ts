import { readFileSync } from "node:fs";

const ROOT = new URL("../", import.meta.url);

export function readText(path: string): string {
  return readFileSync(new URL(path, ROOT), "utf8");
}

/** The lines of a file of `test/`, without the last empty one. */
export function readLines(path: string): string[] {
  return readText(path)
    .split("\n")
    .filter((line) => line !== "");
}

/** Which run of `test/golden` a shipped recording is, as its README says. */
export const RECORDED_AS: Readonly<Record<string, string>> = {
  success: "react_three_tools_with_budget",
  tool_error: "tool_error_recovered",
  tool_error_terminal: "tool_error_terminal_event_layer_outside",
  model_failure: "model_dispatch_failed",
  nested_subagent: "nested_subagent",
  approval: "approval_approved_and_denied",
  pause: "approval_pending_interrupts",
  cancelled: "cancelled",
  two_tenants: "two_tenants_interleaved",
};
