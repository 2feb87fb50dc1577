import { tenantKey } from "../../events/agent-event.ts";
import { RecentMap } from "../../lifecycle/recent-map.ts";
import type { AgentEventSink } from "../../sinks/agent-event-sink.ts";

/** A run that paused, and at which checkpoint, where LangGraph says so. */
export interface PausedRun {
  readonly id: string;
  readonly checkpointId: string | undefined;
  /** How often a run of that id has begun, where each but the first went on from a pause. */
  readonly part: number;
}

/**
 * The run that each thread was paused in. One memory a sink, since many applications make a handler
 * for each request.
 */
export class PausedThreads {
  readonly #runs: RecentMap<PausedRun>;

  constructor(least: number) {
    this.#runs = new RecentMap(least);
  }

  /** @param least threads to remember; the first handler of a sink decides. */
  static of(sink: AgentEventSink, least: number): PausedThreads {
    const known = bySink.get(sink);
    if (known !== undefined) return known;
    const made = new PausedThreads(least);
    bySink.set(sink, made);
    return made;
  }

  /** @returns how many threads were forgotten for this one: mostly 0. */
  pause(tenant: string, threadId: string, run: PausedRun): number {
    const key = tenantKey(tenant, threadId);
    const known = this.#runs.get(key);
    // Another handler of the sink may tell of the same pause, and not know that the run had gone on.
    if (known !== undefined && known.id === run.id && known.part > run.part) return 0;
    return this.#runs.set(key, run);
  }

  /**
   * The thread is where it was, since the run that went on from there failed; unless it was paused
   * again. Returns as {@link pause}.
   */
  restore(tenant: string, threadId: string, run: PausedRun): number {
    const known = this.#runs.get(tenantKey(tenant, threadId));
    return known === undefined ? this.pause(tenant, threadId, run) : 0;
  }

  /** The run that the thread was paused in, which is over with this. */
  take(tenant: string, threadId: string): PausedRun | undefined {
    if (this.#runs.isEmpty) return undefined;
    const key = tenantKey(tenant, threadId);
    const run = this.#runs.get(key);
    if (run !== undefined) this.#runs.delete(key);
    return run;
  }
}

const bySink = new WeakMap<AgentEventSink, PausedThreads>();
