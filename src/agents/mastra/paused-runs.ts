import { tenantKey } from "../../events/door.ts";
import { type Decision, fieldsOf, textOf } from "../core/door.ts";

/** A paused run. */
export interface PausedRun {
  readonly runId: string;
  /** When it paused, in ms since 1970. */
  readonly at: number;
  /** Whether a tool call waits for an approval. Otherwise a tool or a step waits for data. */
  readonly isApproval: boolean;
}

const MOST_PAUSED = 10_000;

/** The most recent paused runs of this process, by tenant and `pauseKey`. */
export class PausedRuns {
  readonly #runs = new Map<string, PausedRun>();

  /** Removes and returns a paused run. */
  take(tenantId: string, pauseKey: string | undefined): PausedRun | undefined {
    if (pauseKey === undefined) return undefined;
    const key = tenantKey(tenantId, pauseKey);
    const found = this.#runs.get(key);
    this.#runs.delete(key);
    return found;
  }

  add(tenantId: string, pauseKey: string | undefined, run: PausedRun): void {
    if (pauseKey === undefined) return;
    this.#runs.set(tenantKey(tenantId, pauseKey), run);
    if (this.#runs.size <= MOST_PAUSED) return;
    for (const oldest of this.#runs.keys()) {
      this.#runs.delete(oldest);
      return;
    }
  }
}

/**
 * The decision in the input of a resumed run, if a tool call waited for an approval. A tool that paused itself may
 * get the same fields, but its own code reads them.
 */
export function decisionIn(input: unknown, paused: PausedRun | undefined): Decision | undefined {
  if (paused?.isApproval === false) return undefined;
  const given = fieldsOf(input);
  const tool = textOf(given?.toolName);
  const toolUseId = textOf(given?.toolCallId);
  if (tool === undefined || toolUseId === undefined) return undefined;
  if (typeof given?.approved !== "boolean") return undefined;
  return { approved: given.approved, tool, toolUseId, reason: textOf(given.reason) ?? "" };
}
