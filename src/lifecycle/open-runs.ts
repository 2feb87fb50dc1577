import type { Run } from "./run.ts";

/**
 * Entries that stand in the map for good. A map that is nearly empty is rebuilt at every third
 * deletion, which takes a good part of all time spent here.
 */
const FILLERS = 64;

/**
 * Open runs by run id: of several tenants' runs of one id the one that opened first.
 *
 * One of them stands beside the map. Where runs come one at a time, as they do in a process with one
 * agent, none is ever put into the map: that and taking it out again costs as much as all other
 * bookkeeping of a run.
 */
export class OpenRuns<H> {
  #beside: Run<H> | undefined = undefined;
  readonly #others = new Map<string, Run<H> | undefined>();

  constructor() {
    for (let n = 0; n < FILLERS; n++) this.#others.set(`\0filler ${n}`, undefined);
  }

  get(runId: string): Run<H> | undefined {
    if (this.#beside?.runId === runId) return this.#beside;
    return this.#others.size === FILLERS ? undefined : this.#others.get(runId);
  }

  /** Its id is not there yet. */
  add(run: Run<H>): void {
    if (this.#beside === undefined) this.#beside = run;
    else this.#others.set(run.runId, run);
  }

  /** @returns whether it was there. */
  delete(run: Run<H>): boolean {
    if (this.#beside === run) {
      this.#beside = undefined;
      return true;
    }
    return this.#others.get(run.runId) === run && this.#others.delete(run.runId);
  }
}
