import type { AgentError } from "../../events/door.ts";
import type { LangChainHandlerOptions } from "./handler-options.ts";
import type { RunState } from "./run-state.ts";
import type { RunStart, Runs } from "./runs.ts";
import type {
  KnownScope,
  ModelScope,
  RefusedScope,
  Scope,
  ScopeTable,
  ToolScope,
} from "./scope.ts";
import type { StoppedGraphs } from "./stopped-graphs.ts";

export const IGNORED = "ignored";

/** Finds the scope around a start, and the scope that an end closes. Counts callbacks without one. */
export class OpenCalls {
  readonly #runs: Runs;
  readonly #scopes: ScopeTable;
  readonly #stopped: StoppedGraphs;
  readonly #skipsLone: boolean;
  /** LangChain's ID of the call whose code makes the call that is reported next. */
  runningIn: string | undefined;
  /** Whether the scope that {@link above} found has ended, with its run: its code was left behind. */
  isLeftBehind = false;
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
  above(
    id: string,
    parentId: string | undefined,
    metadata: unknown,
  ): KnownScope | undefined | typeof IGNORED {
    const { runningIn } = this;
    this.runningIn = undefined;
    if (this.#isKnown(id, parentId, runningIn, metadata)) return IGNORED;
    const around = parentId === undefined ? this.#runs.within(runningIn, metadata) : undefined;
    const above = this.#runs.above(parentId) ?? around;
    if (above?.kind !== "refused") {
      const code = parentId ?? runningIn;
      const isOpen = code === undefined || this.#scopes.isOpen(code);
      this.isLeftBehind = above?.run.ended === true && !isOpen;
      if (above?.run.aborted !== undefined && isOpen) this.#stopped.continued(above.run);
      return above;
    }
    this.#scopes.set(id, parentId, above);
    return IGNORED;
  }

  #isKnown(
    id: string,
    parentId: string | undefined,
    runningIn: string | undefined,
    metadata: unknown,
  ): boolean {
    if (!this.#scopes.knows(id, parentId)) return false;
    this.counts.duplicates += 1;
    // Only the caller can give two invocations one ID, and only to outermost ones.
    if (parentId === undefined) {
      const above = this.#runs.above(undefined) ?? this.#runs.within(runningIn, metadata);
      this.#runs.startsAgain(id, above, metadata);
    }
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
    const isLast = scope.kind !== "refused" || scope.id !== id || endsShare(scope);
    if (isLast) this.#scopes.delete(id, scope);
    return scope.kind === "refused" ? undefined : scope;
  }

  /**
   * Removes and returns the open call that ends. `undefined` if its run is over, because the sink has ended the call
   * then.
   */
  takeOpen(id: string, kind: "tool" | "model" | "retriever"): KnownScope | undefined {
    const scope = this.take(id, kind);
    if (scope?.id !== id) return undefined;
    if ("leave" in scope) scope.leave?.();
    if (scope.kind === "model") scope.run.openModels.delete(scope);
    if (!scope.run.ended) return scope;
    this.counts.late += 1;
    return undefined;
  }

  /** A call started. A run of the runtime ends the calls that are open at its end. @param cut sends the end. */
  started(call: ToolScope | ModelScope, cut: (error: AgentError) => void): void {
    const { run } = call;
    if (call.kind === "model") run.openModels.add(call);
    call.leave = run.whileOpen?.((error) => {
      run.ended = true;
      cut(error);
    });
  }

  /**
   * The run of a new tool, model or retriever call, and the scope around it. A call outside a run gets a run of its own.
   * So does a call in a run that has ended: its code was not awaited, or did not see that it was stopped.
   */
  runFor(
    id: string,
    above: KnownScope | undefined,
    agent: string,
    invocation: Pick<RunStart, "metadata" | "tags" | "asked">,
  ): { readonly run: RunState; readonly within: KnownScope | undefined } | undefined {
    if (above?.run.ended === false) return { run: above.run, within: above };
    if (above === undefined && this.#skipsLone) {
      this.counts.skipped += 1;
      return undefined;
    }
    const own = { id, above, agent, ...invocation, graph: false, inputs: undefined };
    const run = this.#runs.start(own);
    return run && { run, within: undefined };
  }
}

/** @returns whether no other invocation with the ID is open. */
function endsShare(scope: RefusedScope): boolean {
  scope.shares = (scope.shares ?? 1) - 1;
  return scope.shares <= 0;
}
