import type { LangChainHandlerOptions } from "./handler-options.ts";
import type { RunState } from "./run-state.ts";
import type { RunStart, Runs } from "./runs.ts";
import type { KnownScope, Scope, ScopeTable } from "./scope.ts";
import type { StoppedGraphs } from "./stopped-graphs.ts";

export const IGNORED = "ignored";

/** Finds the scope around a start, and the scope that an end closes. Counts callbacks without one. */
export class OpenCalls {
  readonly #runs: Runs;
  readonly #scopes: ScopeTable;
  readonly #stopped: StoppedGraphs;
  readonly #skipsLone: boolean;
  readonly counts = { duplicates: 0, unmatched: 0, late: 0, skipped: 0 };

  constructor(
    options: LangChainHandlerOptions,
    runs: Runs,
    scopes: ScopeTable,
    stopped: StoppedGraphs,
  ) {
    this.#runs = runs;
    this.#scopes = scopes;
    this.#stopped = stopped;
    this.#skipsLone = options.loneCalls === "skip";
  }

  /** The scope around a new call. `IGNORED`: the call was seen before, or has no tenant. */
  above(id: string, parentId: string | undefined): KnownScope | undefined | typeof IGNORED {
    if (this.#isKnown(id, parentId)) return IGNORED;
    const above = this.#runs.above(parentId);
    if (above?.kind !== "refused") {
      if (above?.run.aborted !== undefined) this.#stopped.continued(above.run);
      return above;
    }
    this.#scopes.set(id, parentId, above);
    return IGNORED;
  }

  #isKnown(id: string, parentId: string | undefined): boolean {
    if (!this.#scopes.knows(id, parentId)) return false;
    this.counts.duplicates += 1;
    return true;
  }

  /** Removes and returns the scope that ends: a call of that kind, or the outer scope that a chain's ID maps to. */
  take(id: string, ...kinds: readonly Scope["kind"][]): KnownScope | undefined {
    const scope = this.#scopes.get(id);
    const fits = scope?.id !== id || kinds.includes(scope.kind) || scope.kind === "refused";
    if (scope === undefined || !fits) {
      this.counts.unmatched += 1;
      return undefined;
    }
    this.#scopes.delete(id);
    return scope.kind === "refused" ? undefined : scope;
  }

  /**
   * Removes and returns the open call that ends. `undefined` if its run is over, because the sink has ended the call
   * then.
   */
  takeOpen(id: string, kind: "tool" | "model" | "retriever"): KnownScope | undefined {
    const scope = this.take(id, kind);
    if (scope?.id !== id) return undefined;
    if (!scope.run.ended) return scope;
    this.counts.late += 1;
    return undefined;
  }

  /** The run of a new tool, model or retriever call. A call outside a run gets a run of its own. */
  runFor(
    id: string,
    parentId: string | undefined,
    above: KnownScope | undefined,
    agent: string,
    invocation: Pick<RunStart, "metadata" | "tags" | "asked">,
  ): RunState | undefined {
    if (above === undefined) {
      if (!this.#skipsLone) {
        return this.#runs.start({
          id,
          above,
          agent,
          ...invocation,
          graph: false,
          inputs: undefined,
        });
      }
      this.counts.skipped += 1;
      return undefined;
    }
    if (!above.run.ended) return above.run;
    this.counts.late += 1;
    this.#scopes.set(id, parentId, above);
    return undefined;
  }
}
