import type { AgentEventSink, EventDetails, SpanTarget } from "../../events/door.ts";
import type { ActiveRun } from "../runtime/door.ts";
import { EndedScopes } from "./ended-scopes.ts";
import type { RunState } from "./run-state.ts";

interface InRun {
  /** LangChain's ID of the call that opened the scope. Chains inside have other IDs that map to the same scope. */
  readonly id: string;
  readonly run: RunState;
  /** The tool call around it. */
  readonly toolUseId: string | undefined;
  /** The key of that call, if it has one. */
  readonly key?: string | undefined;
  /** The step around it. */
  readonly stepId?: string | undefined;
}

/** A run. */
export interface RunScope extends InRun {
  readonly kind: "run";
}

/** An open tool call. */
export interface ToolScope extends InRun {
  readonly kind: "tool";
  readonly toolUseId: string;
  /** Set by the writer, if another call of its ID is open. */
  key: string | undefined;
  readonly tool: string;
  readonly details: EventDetails | undefined;
  readonly startedMs: number;
  /** Its start, for finding the source of an error. */
  readonly since: number;
  /** The chain that made the call. Its result may have the model's text. `undefined`: a call inside another call. */
  readonly chainId: string | undefined;
  /** Called when it ends: its run of the runtime need not end it. */
  leave?: (() => void) | undefined;
  /** The abort signal of its code, if it is known. */
  readonly signal: AbortSignal | undefined;
  /** Whether a run was made for this call, because there was none. */
  readonly alone: boolean;
}

/** An open model call. */
export interface ModelScope extends InRun {
  readonly kind: "model";
  readonly modelCallId: string;
  readonly model: string | undefined;
  readonly provider: string | undefined;
  readonly details: EventDetails | undefined;
  readonly startedMs: number;
  /** Its start, for finding the source of an error. */
  readonly since: number;
  firstMs: number | undefined;
  /** As that of a tool call. */
  leave?: (() => void) | undefined;
  /** The abort signal of its options. */
  readonly signal: AbortSignal | undefined;
  readonly alone: boolean;
}

/** An open node of a graph, or an open retriever. */
export interface StepScope extends InRun {
  readonly kind: "node" | "retriever";
  /** The step's own ID. */
  readonly stepId: string;
  readonly step: string;
  readonly startedMs: number;
  /** Its start, for finding the source of an error. */
  readonly since: number;
  /** Whether a run was made for this step, because there was none. */
  readonly alone: boolean;
}

/** A run, or a tool call, whose events another adapter or the runtime sends. */
export interface ForeignScope extends InRun {
  readonly kind: "foreign";
}

/** An invocation without a known tenant. No event of it, or of anything inside it, is sent. */
export interface RefusedScope {
  readonly kind: "refused";
  readonly id: string;
  /** The tenant that the invocation named, if the answer of the store of paused runs is not known yet. */
  readonly given?: string | undefined;
  /** Number of open invocations with this ID, if they are those of several tenants. */
  shares?: number;
}

/** The scope of a LangChain call. */
export type Scope = RunScope | ToolScope | ModelScope | StepScope | ForeignScope | RefusedScope;

/** A scope with a known tenant. */
export type KnownScope = Exclude<Scope, RefusedScope>;

/** Whether the run was already ended, together with the graph around it. */
export function isOver({ id: runId, run }: KnownScope, id: string): boolean {
  return runId === id && run.id === id && run.ended;
}

/** Whether the end of the chain can have the model's text of a call in it. A call inside another call has none. */
export function isChain(above: KnownScope | undefined): boolean {
  return above?.kind === "run" || above?.kind === "node";
}

/** Details of a call that the code of a tool makes: the call stands below the tool's call. */
export function madeIn(above: KnownScope | undefined): EventDetails | undefined {
  const callId = above?.key ?? above?.toolUseId;
  return callId === undefined ? undefined : { tool_use_id: callId };
}

/** The span for the code of a call, and the current run in it. */
export interface SpanScope {
  readonly run: ActiveRun;
  readonly span: Pick<SpanTarget, "tool_use_id" | "model_call_id" | "step_id">;
}

export function spanScopeOf(sink: AgentEventSink, scope: Scope | undefined): SpanScope | undefined {
  if (scope === undefined || scope.kind === "refused" || scope.run.ended) return undefined;
  const { key, run, stepId, toolUseId } = scope;
  const current: ActiveRun = {
    tenantId: run.tenant,
    runId: run.id,
    rootRunId: run.rootId,
    threadId: run.threadId,
    subject: run.subject,
    toolUseId,
    callKey: key,
    tool: scope.kind === "tool" ? scope.tool : undefined,
    stepId,
    sink,
  };
  const span =
    scope.kind === "model"
      ? { model_call_id: scope.id }
      : { tool_use_id: key ?? toolUseId, step_id: stepId };
  return { run: current, span };
}

/** State that the handlers of one sink share. */
interface SharedScopes {
  readonly most: number;
  readonly inner: Map<string, Scope>;
  readonly outermost: Map<string, Scope>;
  readonly ended: EndedScopes;
}

/**
 * Open LangChain calls by ID. Above the limit, the oldest is forgotten.
 *
 * Handlers of a sink share inner scopes, because LangChain calls a handler of a model or tool only for that one, and
 * another handler may follow the chain around it. Outermost invocations belong to one handler: their IDs may come
 * from the caller, and two tenants may use the same ID.
 */
export class ScopeTable {
  readonly #shared: SharedScopes;
  readonly #own = new Map<string, Scope>();
  /** Scopes forgotten before their end. */
  forgotten = 0;

  /** @param most maximum number of scopes of each kind. The first table of a sink sets it. */
  constructor(sink: AgentEventSink, most: number) {
    this.#shared = bySink.get(sink) ?? {
      most,
      inner: new Map(),
      outermost: new Map(),
      ended: new EndedScopes(),
    };
    bySink.set(sink, this.#shared);
  }

  /** The scope around a call with that parent ID. It may have ended. */
  above(id: string | undefined): Scope | undefined {
    if (id === undefined) return undefined;
    const { ended, outermost } = this.#shared;
    return this.get(id) ?? outermost.get(id) ?? ended.get(id);
  }

  /** Whether a call with that ID is open. */
  isOpen(id: string): boolean {
    return this.get(id) !== undefined || this.#shared.outermost.has(id);
  }

  /** The scope of the call with that ID, unless it is an outermost invocation of another handler. */
  get(id: string | undefined): Scope | undefined {
    return id === undefined ? undefined : (this.#own.get(id) ?? this.#shared.inner.get(id));
  }

  /** Whether a call with that ID and parent is already followed. */
  knows(id: string, parentId: string | undefined): boolean {
    const { inner, outermost } = this.#shared;
    return this.#own.has(id) || inner.has(id) || (parentId !== undefined && outermost.has(id));
  }

  set(id: string, parentId: string | undefined, scope: Scope): void {
    if (scope.kind === "refused") {
      // Another handler may still accept the invocation.
      if (this.#own.has(id)) this.#leaveOutermost(id);
      this.#put(this.#own, id, scope);
    } else if (parentId === undefined) {
      this.#put(this.#own, id, scope);
      this.#put(this.#shared.outermost, id, scope);
    } else this.#put(this.#shared.inner, id, scope);
  }

  delete(id: string, scope = this.get(id)): void {
    const { ended, inner } = this.#shared;
    if (scope !== undefined && scope.kind !== "refused") ended.add(id, scope);
    this.#leaveOutermost(id);
    if (!this.#own.delete(id)) inner.delete(id);
  }

  /** An invocation of another handler with the same ID stays. */
  #leaveOutermost(id: string): void {
    const { outermost } = this.#shared;
    if (outermost.get(id) === this.#own.get(id)) outermost.delete(id);
  }

  /** Whether anything in the run is open. Scans all open calls. */
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
      // An outermost invocation counts when its own handler forgets it.
      if (scopes !== this.#shared.outermost) this.forgotten += 1;
      return;
    }
  }
}

const bySink = new WeakMap<AgentEventSink, SharedScopes>();

/** Whether anything in the run, except the run itself, is open. */
function holds(scopes: ReadonlyMap<string, Scope>, run: RunState): boolean {
  for (const [id, scope] of scopes) {
    if (scope.kind !== "refused" && scope.run === run && id !== run.id) return true;
  }
  return false;
}
