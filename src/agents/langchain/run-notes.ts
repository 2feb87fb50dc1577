import { fieldsOf, textOf } from "../core/narrow.ts";
import type { RunState } from "./run-state.ts";

/** Which node runs, as long as the step has one alone. */
export function noteNode(run: RunState, metadata: unknown, runName: unknown): void {
  const step = fieldsOf(metadata)?.langgraph_step;
  run.node = run.step === step ? undefined : textOf(runName);
  run.step = step;
}

/** The names of a model's tool calls, by their ids. */
export function namesById(calls: readonly unknown[]): Map<string, string> {
  const names = new Map<string, string>();
  for (const call of calls) {
    const fields = fieldsOf(call);
    const id = textOf(fields?.id);
    const name = textOf(fields?.name);
    if (id !== undefined && name !== undefined) names.set(id, name);
  }
  return names;
}
