import type { AgentEventSink, SpanTarget } from "../../events/door.ts";
import type { ActiveRun } from "../runtime/active-run.ts";
import type { RunState } from "./run-state.ts";

interface InRun {
  /** LangChain's id of what opened the scope; chains inside share it under ids of their own. */
  readonly id: string;
  readonly run: RunState;
  /** The tool call that is open there. */
  readonly toolUseId: string | undefined;
  /** The step that is open there. */
  readonly stepId?: string | undefined;
}

/** A run: what is below belongs to it. */
export interface RunScope extends InRun {
  readonly kind: "run";
}

/** A tool call that is open. */
export interface ToolScope extends InRun {
  readonly kind: "tool";
  readonly toolUseId: string;
  readonly tool: string;
  readonly startedMs: number;
  /** Its start, among what errors come out of. */
  readonly since: number;
  /** The chain of the run that made it, whose result may tell what the model is told of it. */
  readonly chainId: string | undefined;
  /** Whether the run was made for this call, which had none around it. */
  readonly alone: boolean;
}

/** A model call that is open. */
export interface ModelScope extends InRun {
  readonly kind: "model";
  readonly model: string | undefined;
  readonly provider: string | undefined;
  readonly startedMs: number;
  /** Its start, among what errors come out of. */
  readonly since: number;
  firstMs: number | undefined;
  readonly alone: boolean;
}

/** A node of a graph, or a retriever, that is open. */
export interface StepScope extends InRun {
  readonly kind: "node" | "retriever";
  /** Its own id. */
  readonly stepId: string;
  readonly name: string;
  readonly startedMs: number;
  /** Its start, among what errors come out of. */
  readonly since: number;
  /** Whether the run was made for it, which had none around it. */
  readonly alone: boolean;
}

/** A run of something else, or a tool call whose events something else sends. */
export interface ForeignScope extends InRun {
  readonly kind: "foreign";
}

/** Nothing of it is sent: its tenant is not known, so neither is that of anything below. */
export interface RefusedScope {
  readonly kind: "refused";
  readonly id: string;
}

/** Where a call of LangChain's stands. */
export type Scope = RunScope | ToolScope | ModelScope | StepScope | ForeignScope | RefusedScope;

/** A scope whose calls are sent. */
export type KnownScope = Exclude<Scope, RefusedScope>;

/** Whether a run that ends was cut off before, with the graph around it. */
export function isOver({ id: runId, run }: KnownScope, id: string): boolean {
  return runId === id && run.id === id && run.ended;
}

/** Whether the end of a chain tells what became of a call in it: not of a call in another call. */
export function isChain(above: KnownScope | undefined): boolean {
  return above?.kind === "run" || above?.kind === "node";
}

/** The span that the code of a call belongs into, and the run that is current in it. */
export interface SpanScope {
  readonly run: ActiveRun;
  readonly span: Pick<SpanTarget, "tool_use_id" | "model_call_id" | "step_id">;
}

export function spanScopeOf(sink: AgentEventSink, scope: Scope | undefined): SpanScope | undefined {
  if (scope === undefined || scope.kind === "refused" || scope.run.ended) return undefined;
  const { run, stepId, toolUseId } = scope;
  const current: ActiveRun = {
    tenantId: run.tenant,
    runId: run.id,
    rootRunId: run.rootId,
    threadId: run.threadId,
    subject: run.subject,
    toolUseId,
    tool: scope.kind === "tool" ? scope.tool : undefined,
    stepId,
    sink,
  };
  const span =
    scope.kind === "model"
      ? { model_call_id: scope.id }
      : { tool_use_id: toolUseId, step_id: stepId };
  return { run: current, span };
}

/** What the handlers of one sink follow together. */
interface SharedScopes {
  readonly most: number;
  readonly inner: Map<string, Scope>;
  readonly outermost: Map<string, Scope>;
}

/**
 * The open LangChain runs by their ids; the oldest are forgotten beyond a bound.
 *
 * The handlers of a sink share what they follow: LangChain calls a handler that is registered with a
 * model or tool for that alone, and another one may follow what is around it. But outermost
 * invocations are each handler's own first: their ids may be the caller's, and two of one id for two
 * tenants must not mix.
 */
export class ScopeTable {
  readonly #shared: SharedScopes;
  readonly #own = new Map<string, Scope>();
  /** How many were forgotten before their end. */
  forgotten = 0;

  /** @param most of each; the first table of a sink decides. */
  constructor(sink: AgentEventSink, most: number) {
    this.#shared = bySink.get(sink) ?? { most, inner: new Map(), outermost: new Map() };
    bySink.set(sink, this.#shared);
  }

  /** Where what has that id for its parent stands. */
  above(id: string | undefined): Scope | undefined {
    return this.get(id) ?? (id === undefined ? undefined : this.#shared.outermost.get(id));
  }

  /** Where the call with that id stands, unless it is an outermost one of another handler's. */
  get(id: string | undefined): Scope | undefined {
    return id === undefined ? undefined : (this.#own.get(id) ?? this.#shared.inner.get(id));
  }

  /** Whether what starts with that id, below that parent, is followed already. */
  knows(id: string, parentId: string | undefined): boolean {
    const { inner, outermost } = this.#shared;
    return this.#own.has(id) || inner.has(id) || (parentId !== undefined && outermost.has(id));
  }

  set(id: string, parentId: string | undefined, scope: Scope): void {
    // That this handler refuses an invocation binds no other one.
    if (scope.kind === "refused") this.#put(this.#own, id, scope);
    else if (parentId === undefined) {
      this.#put(this.#own, id, scope);
      this.#put(this.#shared.outermost, id, scope);
    } else this.#put(this.#shared.inner, id, scope);
  }

  delete(id: string): void {
    const { inner, outermost } = this.#shared;
    // Another handler's of the same id stays.
    if (outermost.get(id) === this.#own.get(id)) outermost.delete(id);
    if (!this.#own.delete(id)) inner.delete(id);
  }

  /** Whether anything in the run is open. Looks at all that is. */
  isBusy(run: RunState): boolean {
    const { inner, outermost } = this.#shared;
    return holds(inner, run) || holds(outermost, run);
  }

  #put(scopes: Map<string, Scope>, id: string, scope: Scope): void {
    if (scopes.size >= this.#shared.most) this.#forgetOldest(scopes);
    scopes.set(id, scope);
  }

  #forgetOldest(scopes: Map<string, Scope>): void {
    for (const id of scopes.keys()) {
      scopes.delete(id);
      // An outermost one is forgotten when its own handler forgets it.
      if (scopes !== this.#shared.outermost) this.forgotten += 1;
      return;
    }
  }
}

const bySink = new WeakMap<AgentEventSink, SharedScopes>();

/** Whether anything but the run itself is open in it. */
function holds(scopes: ReadonlyMap<string, Scope>, run: RunState): boolean {
  for (const [id, scope] of scopes) {
    if (scope.kind !== "refused" && scope.run === run && id !== run.id) return true;
  }
  return false;
}
