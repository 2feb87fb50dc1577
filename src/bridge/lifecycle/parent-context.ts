import type { Call } from "./part.ts";
import type { Run } from "./run.ts";

/** Why one span links to another. */
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

/** The origin of a run as its source reports it, in addition to its parent run. */
export interface RunOrigin {
  readonly threadId?: string | undefined;
  readonly resumedFromRunId?: string | undefined;
  /** Tool-use ID of the parent's call that started this run; `null` if certainly no call did. */
  readonly parentCallId?: string | null | undefined;
  /** The key of that call, if it has one. */
  readonly parentCallKey?: string | undefined;
}

/**
 * The parent and origin of a run, in addition to its `parent_run_id`.
 *
 * @typeParam H the driver's handle of a span.
 */
export interface ParentContext<H> extends RunOrigin {
  readonly rootRunId?: string | undefined;
  /**
   * Span ID of a `traceparent`. It identifies one of the parent's calls with the same ID, or the run
   * itself.
   */
  readonly namedSpanId?: string | undefined;
  /** The span that was active when the run started. A root run gets a link to it. */
  readonly ambient?: H | undefined;
  /** The bridge's call whose context was active when the run started. */
  readonly ambientCall?: { readonly run: Run<H>; readonly call: Call<H> } | undefined;
  /**
   * Reads the parent from a `traceparent`, an operator's resolver or the ambient span. Called only if no
   * parent run is known.
   */
  readonly outerParent?: (() => OuterParent<H> | undefined) | undefined;
}

export interface OuterParent<H> {
  readonly handle: H;
  readonly traceId: string;
  readonly spanId: string;
}

/** Owner of a run, as its events report it. The lifecycle stores it but does not read it. */
export interface RunOwner {
  readonly user: string | undefined;
  readonly session: string | undefined;
  readonly tags: readonly string[] | undefined;
  readonly metadata: ReadonlyMap<string, string> | undefined;
}

/** The context of the event that a signal comes from. */
export interface SignalContext<H> {
  /** Whether the event has an ID. If so, an equal signal before it does not make it a repeat. */
  readonly identified: boolean;
  /** Called only when a run opens, so that events of open runs cost nothing here. */
  parentContext(): ParentContext<H> | undefined;
  /** Called only when a run or segment opens, or when the `started` of a run arrives late. */
  owner(): RunOwner | undefined;
}

/** The dialect's thread ID wins: a sub-agent's line can be its parent's, with the parent's thread. */
export function withOrigin<H>(
  origin: RunOrigin,
  asked: ParentContext<H> | undefined,
): ParentContext<H> {
  return {
    threadId: origin.threadId,
    parentCallId: origin.parentCallId ?? asked?.parentCallId,
    parentCallKey: asked?.parentCallKey,
    resumedFromRunId: origin.resumedFromRunId ?? asked?.resumedFromRunId,
    rootRunId: asked?.rootRunId,
    namedSpanId: asked?.namedSpanId,
    ambient: asked?.ambient,
    ambientCall: asked?.ambientCall,
    outerParent: asked?.outerParent,
  };
}
