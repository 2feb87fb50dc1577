import type { ViewSpan } from "../format.ts";
import { textIn } from "../model/attributes.ts";
import type { IndexedRun } from "./indexed-run.ts";
import { deleteOldest } from "./traces.ts";

/** Calls that are remembered. The decision about an older one is seen when the run that continues has ended. */
const MOST_CALLS = 10_000;

/**
 * The calls that paused runs wait for. The span of the run that continues says which run it resumes, but it comes when
 * that run ends. A call of it that was decided comes before.
 */
export class AwaitedCalls {
  readonly #runs = new Map<string, IndexedRun>();

  /** Takes the span of a run that has ended. */
  add(run: IndexedRun, { attributes }: ViewSpan): void {
    const callId = textIn(attributes, "entelix.interruption.tool_use_id");
    const threadId = textIn(attributes, "gen_ai.conversation.id");
    if (callId === undefined || threadId === undefined) return;
    this.#runs.set(keyOf(run.tenant_id, threadId, callId), run);
    deleteOldest(this.#runs, MOST_CALLS);
  }

  /** The paused run that a decided call of another run continues. Each pause has one continuation. */
  pausedBefore(run: IndexedRun, span: ViewSpan): IndexedRun | undefined {
    const { attributes, kind, start_ns } = span;
    const decision = textIn(attributes, "entelix.approval.outcome");
    if (kind !== "tool" || decision === undefined) return undefined;
    const callId = textIn(attributes, "gen_ai.tool.call.id");
    const threadId = textIn(attributes, "gen_ai.conversation.id");
    if (callId === undefined || threadId === undefined) return undefined;
    const key = keyOf(run.tenant_id, threadId, callId);
    const paused = this.#runs.get(key);
    if (paused === undefined || paused === run || BigInt(start_ns) < paused.end) return undefined;
    this.#runs.delete(key);
    return paused;
  }
}

function keyOf(...parts: readonly string[]): string {
  return JSON.stringify(parts);
}
