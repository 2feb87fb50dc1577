import { type Instant, now } from "../../events/door.ts";
import { isCalledOff } from "./langchain-errors.ts";
import type { RunState } from "./run-state.ts";
import type { ScopeTable } from "./scope.ts";

/**
 * How long a graph whose node was called off may be silent, in ms, until it counts as stopped. Long,
 * since the code around a task may catch its error and go on after a while.
 */
export const STOPPED_AFTER_MS = 30_000;

/** Ends a run whose end LangGraph does not report. */
export type EndStopped = (run: RunState, thrown: unknown, at: Instant) => void;

/**
 * Graphs whose stream was left or aborted in the middle of an answer: LangGraph reports the node that
 * was called off, and never the graph.
 */
export class StoppedGraphs {
  readonly #scopes: ScopeTable;
  readonly #end: EndStopped;

  constructor(scopes: ScopeTable, end: EndStopped) {
    this.#scopes = scopes;
    this.#end = end;
  }

  /** A node of the graph has failed. */
  nodeFailed(run: RunState, thrown: unknown): void {
    if (!run.graph || run.ended || run.calledOff !== undefined || !isCalledOff(thrown)) return;
    const calledOff = { thrown, at: now() };
    run.calledOff = calledOff;
    const judge = () => {
      if (run.ended || run.calledOff !== calledOff || this.#scopes.isBusy(run)) return;
      this.#scopes.delete(run.id);
      this.#end(run, calledOff.thrown, calledOff.at);
    };
    setTimeout(judge, STOPPED_AFTER_MS).unref();
  }

  /** Something begins in the run. */
  goesOn(run: RunState): void {
    run.calledOff = undefined;
  }
}
