import { type Decision, fieldsOf, type RunRef, textOf } from "../core/door.ts";

/** A paused run. The run that resumes it has the same tenant, thread and subject, unless the hooks give others. */
export interface PausedRun extends Pick<RunRef, "runId" | "subject" | "tenantId" | "threadId"> {
  /** When it paused, in ms since 1970. */
  readonly at: number;
  /** Whether a tool call waits for an approval. Otherwise a tool or a step waits for data. */
  readonly isApproval: boolean;
}

const MOST_PAUSED = 10_000;
/** Maximum number of tenants with a paused run of one key. */
const MOST_TENANTS = 100;

/** The most recent paused runs of this process, by `pauseKey`. */
export class PausedRuns {
  /** Tenants may have runs of the same key, because an application may choose the IDs of its runs. */
  readonly #runs = new Map<string, readonly PausedRun[]>();

  /**
   * Removes and returns a paused run.
   *
   * @param tenantId of the run that resumes. `undefined`: not known. A run is found then if only one tenant has one.
   */
  take(pauseKey: string | undefined, tenantId: string | undefined): PausedRun | undefined {
    const known = pauseKey === undefined ? undefined : this.#runs.get(pauseKey);
    if (pauseKey === undefined || known === undefined) return undefined;
    const [first, another] = known;
    const only = another === undefined ? first : undefined;
    const found =
      tenantId === undefined ? only : known.find((paused) => paused.tenantId === tenantId);
    const others = known.filter((paused) => paused !== found);
    if (others.length === 0) this.#runs.delete(pauseKey);
    else this.#runs.set(pauseKey, others);
    return found;
  }

  /** Whether a run of any tenant is paused with that key. */
  has(pauseKey: string | undefined): boolean {
    return pauseKey !== undefined && this.#runs.has(pauseKey);
  }

  add(pauseKey: string | undefined, run: PausedRun): void {
    if (pauseKey === undefined) return;
    const others = this.#runs.get(pauseKey)?.filter(({ tenantId }) => tenantId !== run.tenantId);
    this.#runs.delete(pauseKey);
    this.#runs.set(pauseKey, [...(others ?? []), run].slice(-MOST_TENANTS));
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
