import { AgentError, type Instant, now } from "../../events/door.ts";
import { isStopped } from "./langchain-errors.ts";
import type { RunState } from "./run-state.ts";
import type { ScopeTable } from "./scope.ts";

/**
 * How long a graph may be inactive after a node was aborted until it counts as stopped, in ms. The time is long,
 * because code around a task may catch the error and continue later.
 */
export const STOPPED_AFTER_MS = 30_000;

export type EndStopped = (run: RunState, thrown: unknown, at: Instant) => void;

/**
 * Ends graphs whose stream was cancelled or aborted during an answer. LangGraph reports the aborted node, but not the
 * end of the graph. A graph inside another one does not even see its own signal: its node runs to the end.
 */
export class StoppedGraphs {
  readonly #scopes: ScopeTable;
  readonly #end: EndStopped;

  constructor(scopes: ScopeTable, end: EndStopped) {
    this.#scopes = scopes;
    this.#end = end;
  }

  /** A node of the graph failed. */
  nodeFailed(run: RunState, thrown: unknown): void {
    if (!run.graph || run.ended || run.aborted !== undefined) return;
    if (!isStopped(thrown) && run.stops.errorFor(thrown) === undefined) return;
    this.#stopsUnlessContinued(run, thrown);
  }

  /** A node of the graph ended. If the call around the graph has ended, the graph's next node may never start. */
  nodeEnded(run: RunState): void {
    if (!run.graph || run.ended || run.aroundId === undefined) return;
    if (this.#scopes.isOpen(run.aroundId)) return;
    this.#stopsUnlessContinued(run, AgentError.cancelled());
  }

  #stopsUnlessContinued(run: RunState, thrown: unknown): void {
    const aborted = { thrown, at: now() };
    run.aborted = aborted;
    const judge = () => {
      if (run.ended || run.aborted !== aborted || this.#scopes.isBusy(run)) return;
      this.#scopes.delete(run.id);
      this.#end(run, aborted.thrown, aborted.at);
    };
    setTimeout(judge, STOPPED_AFTER_MS).unref();
  }

  /** A call in the run starts, so the graph has not stopped. */
  continued(run: RunState): void {
    run.aborted = undefined;
  }
}
