import type { ViewSpan } from "../format.ts";
import { textIn } from "../model/attributes.ts";
import { AwaitedCalls } from "./awaited-calls.ts";
import { goesOn, type IndexedRun } from "./indexed-run.ts";
import { runsAbove } from "./run-trees.ts";
import { isPaused, pausedBefore, type Runs } from "./stories.ts";

/** What the links need of the index. */
export interface LinkedRuns extends Runs {
  /** The run with this name, a new one if there is none. `undefined` if it was left out. */
  get(tenantId: string, runId: string, namedAt: bigint): IndexedRun | undefined;
  touch(run: IndexedRun): void;
}

/** The links between paused runs and the runs that continue them. */
export class Resumptions {
  readonly #runs: LinkedRuns;
  readonly #awaited = new AwaitedCalls();

  constructor(runs: LinkedRuns) {
    this.#runs = runs;
  }

  /** Takes a span of a run other than its own, at its start. */
  began(run: IndexedRun, span: ViewSpan, start: bigint): void {
    if (start > run.lastStart) run.lastStart = start;
    if (goesOn(run)) {
      // The runs around a paused run have paused with it, and go on with it.
      for (const above of runsAbove(run)) {
        if (!isPaused(above) || start <= above.lastStart) continue;
        above.lastStart = start;
        this.#runs.touch(above);
      }
    }
    if (!this.#mayContinue(run)) return;
    const paused = this.#awaited.pausedBefore(run, span);
    if (paused !== undefined) this.#link(run, paused.run_id, start);
  }

  /** Takes the span of a run. */
  addRunSpan(run: IndexedRun, { attributes, end_ns }: ViewSpan, start: bigint): void {
    const from = textIn(attributes, "entelix.run.resumed_from");
    if (from !== undefined) this.#link(run, from, start);
    // It has ended: what its calls let suppose does not count any more.
    else if (end_ns !== null) this.unlink(run);
  }

  /** Takes the span of a run that has ended, after its data. */
  ended(run: IndexedRun, span: ViewSpan): void {
    if (run.lastStart <= run.end) run.lastStart = 0n;
    const next = this.#awaited.add(run, span);
    if (next === undefined || this.#runs.find(next.tenant_id, next.run_id) !== next) return;
    if (this.#mayContinue(next)) this.#link(next, run.run_id, run.end);
  }

  /**
   * A run that has a child which continues a child of a paused run continues that one: it says so itself only when it
   * ends. Call it when the parent of the run becomes known.
   */
  attached(run: IndexedRun): void {
    const parent = run.parent;
    const above = pausedBefore(this.#runs, run)?.parent;
    if (parent === undefined || above === undefined || parent === above) return;
    if (above.resumedBy?.delete(run) === true) this.#runs.touch(above);
    if (!isPaused(above) || parent.end > 0n || parent.resumedFrom !== undefined) return;
    this.#link(parent, above.run_id, parent.start || run.start);
  }

  /** The run continues no other one. */
  unlink(run: IndexedRun): void {
    const paused = pausedBefore(this.#runs, run);
    run.resumedFrom = undefined;
    if (paused === undefined) return;
    for (const one of [paused, ...runsAbove(paused)]) {
      if (one.resumedBy?.delete(run) === true) this.#runs.touch(one);
    }
  }

  #link(run: IndexedRun, from: string, start: bigint): void {
    if (run.resumedFrom !== from) this.unlink(run);
    run.resumedFrom = from;
    const paused = from === run.run_id ? undefined : this.#runs.get(run.tenant_id, from, start);
    if (paused === undefined) return;
    this.#addTo(paused, run);
    if (run.parent !== undefined) this.attached(run);
    // Until its parent is known, it stands for the run that continues the one around the paused run.
    else for (const above of runsAbove(paused)) if (isPaused(above)) this.#addTo(above, run);
  }

  #addTo(paused: IndexedRun, run: IndexedRun): void {
    if (paused === run || paused.resumedBy?.has(run) === true) return;
    paused.resumedBy = (paused.resumedBy ?? new Set()).add(run);
    this.#runs.touch(paused);
  }

  /** Whether its own span has not come, and nothing says which run it continues. */
  #mayContinue({ resumedFrom, traits }: IndexedRun): boolean {
    return traits?.outcome === "open" && resumedFrom === undefined;
  }
}
