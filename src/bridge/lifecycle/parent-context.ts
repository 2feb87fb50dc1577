import type { Call } from "./part.ts";
import type { Run } from "./run.ts";

/** Why one span points to another that is not its parent. */
export type LinkKind =
  | "ambient"
  | "late_parent"
  | "parent_of_other_tenant"
  | "previous_segment"
  | "resumed_from"
  | "after_interrupted";

export interface Link<H> {
  readonly kind: LinkKind;
  readonly to: H;
}

/** What a source says of where a run comes from, beside its parent run. */
export interface RunOrigin {
  readonly threadId?: string | undefined;
  readonly resumedFromRunId?: string | undefined;
  /** Tool-use id of the parent's call that dispatched this run; `null` where it is known that none did. */
  readonly parentCallId?: string | null | undefined;
}

/**
 * What is known of a run's parent and origin beside its `parent_run_id`.
 *
 * @typeParam H the driver's handle of a span.
 */
export interface ParentContext<H> extends RunOrigin {
  readonly rootRunId?: string | undefined;
  /**
   * Span id that a `traceparent` names: it tells calls of the parent apart that share an id, and a call
   * from the run itself.
   */
  readonly namedSpanId?: string | undefined;
  /** The span that was active when the run started: linked, when the run becomes a root. */
  readonly ambient?: H | undefined;
  /** The call whose context was active when the run started, if it is one of ours. */
  readonly ambientCall?: { readonly run: Run<H>; readonly call: Call<H> } | undefined;
  /**
   * The parent from outside (a `traceparent`, an operator's resolver, the ambient span where it is
   * to be the parent). Asked only when no parent run is known.
   */
  readonly outerParent?: (() => OuterParent<H> | undefined) | undefined;
}

export interface OuterParent<H> {
  readonly handle: H;
  readonly traceId: string;
  readonly spanId: string;
}

/** Whose run it is, as its events say. The lifecycle keeps it with the run, unread. */
export interface RunOwner {
  readonly user: string | undefined;
  readonly session: string | undefined;
  readonly tags: readonly string[] | undefined;
  readonly metadata: ReadonlyMap<string, string> | undefined;
}

/** What surrounds the event that a signal was read in. */
export interface SignalContext<H> {
  /** Whether the event has an id: then a signal that looks like one before is no repeat of it. */
  readonly identified: boolean;
  /** Asked only when a run opens, so that an event of a run that is open costs nothing here. */
  parentContext(): ParentContext<H> | undefined;
  /** Asked only when a run or a segment opens, or a run gets its `started` later. */
  owner(): RunOwner | undefined;
}

/** The line of a sub-agent may be its parent's: whose thread it names, only the dialect knows. */
export function withOrigin<H>(
  origin: RunOrigin,
  asked: ParentContext<H> | undefined,
): ParentContext<H> {
  return {
    threadId: origin.threadId,
    parentCallId: origin.parentCallId ?? asked?.parentCallId,
    resumedFromRunId: origin.resumedFromRunId ?? asked?.resumedFromRunId,
    rootRunId: asked?.rootRunId,
    namedSpanId: asked?.namedSpanId,
    ambient: asked?.ambient,
    ambientCall: asked?.ambientCall,
    outerParent: asked?.outerParent,
  };
}
