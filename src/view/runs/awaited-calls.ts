import type { ViewSpan } from "../format.ts";
import { textIn } from "../model/attributes.ts";
import type { IndexedRun } from "./indexed-run.ts";
import { runsAbove } from "./run-trees.ts";
import { deleteOldest } from "./traces.ts";

/** Calls that are remembered. The decision about an older one is seen when the run that continues has ended. */
const MOST_CALLS = 10_000;
/** Runs that are remembered for one call: IDs such as `call_0` repeat. */
const MOST_RUNS = 16;

/** A call of a run. */
interface RunCall {
  readonly run: IndexedRun;
  /** When the call began, or the run paused for it, Unix time in ns. */
  readonly at: bigint;
}

/**
 * The calls that paused runs wait for. The span of the run that continues says which run it resumes, but it comes when
 * that run ends. A call of it that was decided mostly comes before.
 */
export class AwaitedCalls {
  /** Runs that wait for a call. */
  readonly #paused = new CallMap();
  /** Runs with a decision about a call that no known run waits for: the span of the paused run may come later. */
  readonly #decided = new CallMap();

  /** Takes the span of a run that has ended. @returns the run that continues it, if a call of that came before. */
  add(run: IndexedRun, { attributes }: ViewSpan): IndexedRun | undefined {
    const callId = textIn(attributes, "entelix.interruption.tool_use_id");
    if (callId === undefined) return undefined;
    const threadId = textIn(attributes, "gen_ai.conversation.id");
    const key = keyOf(run, threadId, callId);
    const paused = { run, at: run.end };
    const next = this.#decided.get(key).filter((one) => isLater(one, paused));
    const [found] = next;
    if (found === undefined || (threadId === undefined && next.length > 1)) {
      this.#paused.add(key, paused);
      return undefined;
    }
    this.#decided.delete(key, [found]);
    return found.run;
  }

  /**
   * The paused run that a decided call of another run continues. Each pause has one continuation. Without a
   * conversation, it is known only if one run waits for a call with this ID.
   */
  pausedBefore(run: IndexedRun, span: ViewSpan): IndexedRun | undefined {
    const { attributes, kind, start_ns } = span;
    const decision = textIn(attributes, "entelix.approval.outcome");
    if (kind !== "tool" || decision === undefined) return undefined;
    const callId = textIn(attributes, "gen_ai.tool.call.id");
    if (callId === undefined) return undefined;
    const threadId = textIn(attributes, "gen_ai.conversation.id");
    const key = keyOf(run, threadId, callId);
    const decided = { run, at: BigInt(start_ns) };
    const waiting = this.#paused.get(key).filter((one) => isLater(decided, one));
    // A run waits while a run below it waits: the call is one of the lowest.
    const above = new Set(waiting.flatMap((one) => [...runsAbove(one.run)]));
    const own = waiting.filter((one) => !above.has(one.run));
    const found = own.at(-1);
    if (found === undefined || (threadId === undefined && own.length > 1)) {
      this.#decided.add(key, decided);
      return undefined;
    }
    const around = new Set([found.run, ...runsAbove(found.run)]);
    this.#paused.delete(
      key,
      waiting.filter((one) => around.has(one.run)),
    );
    return found.run;
  }
}

/** The newest calls, and their runs. */
class CallMap {
  readonly #runs = new Map<string, readonly RunCall[]>();

  get(key: string): readonly RunCall[] {
    return this.#runs.get(key) ?? [];
  }

  add(key: string, call: RunCall): void {
    const others = this.get(key).filter(({ run }) => run !== call.run);
    this.#runs.set(key, [...others, call].slice(-MOST_RUNS));
    deleteOldest(this.#runs, MOST_CALLS);
  }

  delete(key: string, calls: readonly RunCall[]): void {
    const left = this.get(key).filter((call) => !calls.includes(call));
    if (left.length === 0) this.#runs.delete(key);
    else this.#runs.set(key, left);
  }
}

/** Whether the call of a run began after another run had paused. */
function isLater(call: RunCall, paused: RunCall): boolean {
  return call.run !== paused.run && call.at >= paused.at;
}

function keyOf({ tenant_id }: IndexedRun, threadId: string | undefined, callId: string): string {
  return JSON.stringify([tenant_id, threadId, callId]);
}
