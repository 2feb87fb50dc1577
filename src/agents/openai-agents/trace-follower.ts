import { type Instant, now } from "../../events/door.ts";
import { type AdapterOptions, type Fence, inheritedBy, tenantOf, textOf } from "../core/door.ts";
import { type ActiveRun, activeRun } from "../runtime/door.ts";
import { AgentRuns } from "./agent-runs.ts";
import { Approvals, awaitedCalls } from "./approvals.ts";
import { CallSpans } from "./call-spans.ts";
import { noCounts } from "./counts.ts";
import { runIdOfTrace } from "./ids.ts";
import { SHARED } from "./parse-span-error.ts";
import { type SdkSpan, type SdkTrace, shown, UNNAMED_WORKFLOW } from "./sdk.ts";
import { notBefore, timeOf } from "./span-time.ts";
import {
  type AgentRun,
  agentAbove,
  handOff,
  isForeign,
  isOver,
  isOwnModelCall,
  type KnownTrace,
  kindOf,
  NOWHERE,
  newTrace,
  type OpenSpan,
  openSpan,
  type Scope,
  type TraceRecord,
} from "./trace-record.ts";
import { TraceTable } from "./trace-table.ts";
import { STRUCTURE, startsIn, turnEnded } from "./turns.ts";
import { agentSpanIn, isPausedState, takeNames, waitsBelow } from "./waiting.ts";

/** Maximum number of open spans in a trace. */
const MAX_OPEN_SPANS = 10_000;

const DEFAULT_TRACES = 2_000;

type FollowerOptions = AdapterOptions<SdkTrace> & { readonly maxTraces?: number | undefined };

/** Follows traces of the SDK and sends them as runs. */
export class TraceFollower {
  readonly #table: TraceTable;
  readonly #options: FollowerOptions;
  readonly #onError: (error: unknown) => void;
  readonly counts = noCounts();
  readonly #runs: AgentRuns;
  readonly #calls: CallSpans;

  constructor(fence: Fence, options: FollowerOptions) {
    const { decidedBy, isFailure, maxTraces = DEFAULT_TRACES, price } = options;
    const { report: onError, sink } = fence;
    this.#table = new TraceTable(maxTraces, maxTraces);
    this.#options = options;
    this.#onError = onError;
    const calls = new CallSpans(fence, {
      onError,
      isFailure,
      price,
      approvals: new Approvals(decidedBy, onError),
    });
    this.#calls = calls;
    const later = (trace: TraceRecord, work: () => void) => {
      setImmediate(() =>
        fence.contain(() => {
          work();
          this.#table.settle(trace);
        }),
      );
    };
    this.#runs = new AgentRuns(sink, later, (trace, run, at, failure) =>
      calls.cutOff(trace, run, at, failure),
    );
  }

  get forgottenTraces(): number {
    return this.#table.forgotten;
  }

  traceStarted(trace: SdkTrace): void {
    const known = this.#table.find(trace.traceId);
    if (known === undefined) {
      this.#add(trace, runIdOfTrace(trace.traceId), true);
    } else if (known.tenantId === undefined ? known.begun === 0 : isOver(known)) {
      // The ID of an ended trace is used again, and its run ID may be taken.
      this.#add(trace, undefined, true);
    } else if (this.#isOthers(trace, known)) {
      this.#runs.shared(known, now());
      this.counts.untenanted += 1;
      this.#onError(new Error(SHARED.text));
      const { begun, traceId } = known;
      this.#table.add({ traceId, tenantId: undefined, begun: begun + 1, resting: false });
    } else {
      known.begun += 1;
      if (known.tenantId !== undefined) this.#runs.releaseAll(known);
    }
  }

  traceEnded({ traceId }: SdkTrace): void {
    const trace = this.#table.find(traceId);
    if (trace === undefined || trace.begun === 0) return;
    trace.begun -= 1;
    if (trace.begun > 0) return;
    if (trace.tenantId !== undefined) {
      this.#catchUp(trace);
      for (const open of trace.open.values()) this.#sendStart(trace, open);
      this.#runs.traceEnded(trace, now());
    }
    this.#table.settle(trace);
  }

  /**
   * Prepares a trace whose runs were paused in another process.
   *
   * @param state the SDK's state of its run.
   */
  resumeHere(trace: SdkTrace, state: object): void {
    const known = this.#table.find(trace.traceId);
    if (known !== undefined) {
      this.noted(trace.traceId, state);
      return;
    }
    const record = this.#add(trace, runIdOfTrace(trace.traceId), false);
    if (record.tenantId !== undefined) {
      record.state = new WeakRef(state);
      record.awaited = awaitedCalls(state);
      record.pausedRootId = record.rootRunId;
    }
    this.#table.settle(record);
  }

  /**
   * The end of a run of the trace is known, even if the trace does not show it.
   *
   * @param state the SDK's state of the run.
   */
  noted(traceId: string, state: object, isCancelled = false): void {
    const trace = this.#followed(traceId);
    if (trace === undefined) return;
    trace.state = new WeakRef(state);
    this.#catchUp(trace);
    const run = trace.agents.get(agentSpanIn(state) ?? "");
    if (run !== undefined && run.state !== "ended") {
      const waits = isPausedState(state);
      if (waits) takeNames(trace, awaitedCalls(state));
      const end = waits ? "waits" : isCancelled ? "cancelled" : "done";
      const { heldAt = now() } = run;
      if (!waits) this.#calls.decided.fromState(trace, run, agentSpanIn(state) ?? "", heldAt);
      this.#runs.noted(trace, run, end, now());
    }
    this.#table.settle(trace);
  }

  spanStarted(span: SdkSpan): void {
    const trace = this.#table.find(span.traceId) ?? this.#adopt(span);
    if (trace.tenantId === undefined || isForeign(trace, span)) {
      this.counts.unfollowedSpans += 1;
      return;
    }
    if (trace.open.has(span.spanId) || trace.agents.has(span.spanId)) return;
    if (trace.open.size >= MAX_OPEN_SPANS) {
      this.counts.crowdedSpans += 1;
      return;
    }
    if (trace.resting) this.#table.wake(trace);
    const at = this.#at(trace, span.startedAt);
    const parent = this.#scopeOf(trace, span, at);
    startsIn(parent, span);
    if (span.spanData.type === "agent") {
      if (parent.run === undefined) this.#runs.releaseBefore(trace, textOf(span.spanData.name));
      this.#runs.begin(trace, span, parent, at);
      return;
    }
    const kind = kindOf(span);
    if (kind !== "tool" && kind !== "model") {
      trace.open.set(span.spanId, openSpan(span, kind, parent, at));
      return;
    }
    const run = parent.run ?? this.#runs.rootOf(trace, span.spanId, at);
    const open =
      kind === "tool"
        ? openSpan(
            span,
            kind,
            { run, toolUseId: span.spanId },
            at,
            parent.callKey ?? parent.toolUseId,
          )
        : openSpan(span, kind, { ...parent, run }, at);
    trace.open.set(span.spanId, open);
    if (isOwnModelCall(open)) this.#runs.detachPaused(trace, run, at);
    this.#calls.opened({ trace, run, open });
  }

  spanEnded(span: SdkSpan): void {
    const trace = this.#followed(span.traceId);
    if (trace === undefined) {
      this.counts.strayEnds += 1;
      return;
    }
    if (span.spanData.type === "agent") {
      const at = this.#at(trace, span.endedAt);
      const run = trace.agents.get(span.spanId);
      if (run !== undefined) this.#calls.decided.agentEnded(trace, run, span, at);
      if (!this.#runs.end(trace, span, at)) this.counts.strayEnds += 1;
    } else {
      const open = trace.open.get(span.spanId);
      if (open === undefined) this.counts.strayEnds += 1;
      else this.#ended(trace, open);
    }
    this.#table.settle(trace);
  }

  /** The run and tool call of an SDK span. Sends the start of the call if necessary. */
  positionOf(
    traceId: string,
    spanId: string,
  ): { trace: TraceRecord; scope: Scope; open?: OpenSpan } | undefined {
    const trace = this.#followed(traceId);
    if (trace === undefined) return undefined;
    const run = trace.agents.get(spanId);
    if (run !== undefined) return { trace, scope: { run, toolUseId: undefined } };
    const open = trace.open.get(spanId);
    if (open === undefined) return undefined;
    this.#sendStart(trace, open);
    return { trace, scope: open.scope, open };
  }

  #followed(traceId: string): TraceRecord | undefined {
    const trace = this.#table.find(traceId);
    return trace?.tenantId === undefined ? undefined : trace;
  }

  #at(trace: TraceRecord, written: string | null): Instant {
    const at = timeOf(written, trace.lastAt);
    trace.lastAt = at;
    return at;
  }

  #ended(trace: TraceRecord, open: OpenSpan): void {
    trace.open.delete(open.span.spanId);
    const { spanData, endedAt } = open.span;
    switch (open.kind) {
      case "tool":
      case "model": {
        if (open.isCut) return;
        const { run } = open.scope;
        const at = notBefore(this.#at(trace, endedAt), open.startedAt);
        if (open.kind === "model") {
          this.#calls.modelEnded({ trace, run, open }, at);
          return;
        }
        const waits = waitsBelow(trace, open.scope);
        if (waits) run.toolWaits = true;
        this.#calls.toolEnded({ trace, run, open }, at, waits);
        if (run.resumed && open.span.error !== null) this.#runs.endIfThrown(trace, run, at);
        return;
      }
      case "handoff": {
        this.counts.handoffs += 1;
        const { run } = open.scope;
        const to = textOf(spanData.to_agent);
        if (run !== undefined && to !== undefined) handOff(trace, run, to);
        return;
      }
      case "guardrail": {
        this.counts.guardrails += 1;
        if (spanData.triggered !== true) return;
        this.counts.tripwires += 1;
        const { run } = open.scope;
        if (run === undefined) return;
        run.tripped = textOf(spanData.name);
        // If calls of the run wait, the SDK before 0.14 does not end the agent's span.
        this.#runs.endIfThrown(trace, run, this.#at(trace, endedAt));
        return;
      }
      case "other":
        if (spanData.type === "mcp_tools") this.counts.mcpLists += 1;
        else if (!STRUCTURE.has(spanData.type)) this.counts.otherSpans += 1;
        if (spanData.type === "turn") turnEnded(trace.totals, open.scope, open.span);
        this.#runs.taskEnded(trace, open.span.spanId);
        return;
      default:
        open satisfies never;
    }
  }

  /** Handles spans that ended while another processor delays their callbacks. */
  #catchUp(trace: TraceRecord): void {
    if (trace.open.size + trace.agents.size === 0) return;
    for (const { span } of [...trace.open.values()]) {
      if (span.endedAt !== null) this.spanEnded(span);
    }
    for (const { span } of [...trace.agents.values()].reverse()) {
      if (span !== undefined && span.endedAt !== null) this.spanEnded(span);
    }
  }

  #sendStart(trace: TraceRecord, open: OpenSpan): void {
    if (open.kind !== "tool" && open.kind !== "model") return;
    this.#calls.sendStart({ trace, run: open.scope.run, open });
  }

  /** The scope of a span, from its parent. */
  #scopeOf(trace: TraceRecord, span: SdkSpan, at: Instant): Scope {
    const { parentId } = span;
    if (parentId === null) return NOWHERE;
    const run = trace.agents.get(parentId);
    if (run !== undefined) {
      this.#runs.resume(trace, run, span.spanId, at);
      return { run, toolUseId: undefined };
    }
    const open = trace.open.get(parentId);
    if (open !== undefined) {
      this.#sendStart(trace, open);
      return open.scope;
    }
    const agent = this.#paused(trace, span, at);
    return { run: agent, toolUseId: undefined };
  }

  /** The agent above a span, if it was paused in another process. It is only known from the span. */
  #paused(trace: TraceRecord, span: SdkSpan, at: Instant): AgentRun | undefined {
    if (trace.root?.state === "ended") return trace.root;
    const above = agentAbove(span);
    return above && this.#runs.restore(trace, above, span.spanId, at);
  }

  /**
   * Adds a trace whose start was not seen: the processor was registered later, or the span was recorded elsewhere.
   */
  #adopt(span: SdkSpan): KnownTrace {
    const { traceId, traceMetadata } = span;
    const trace = { traceId, name: UNNAMED_WORKFLOW, metadata: traceMetadata };
    return this.#add(trace, runIdOfTrace(traceId), false);
  }

  #add(trace: SdkTrace, rootRunId: string | undefined, seen: boolean): KnownTrace {
    const here = activeRun();
    const tenantId = this.#tenant(trace, here?.tenantId);
    if (tenantId === undefined) this.counts.untenanted += 1;
    const record =
      tenantId === undefined
        ? { traceId: trace.traceId, tenantId, begun: seen ? 1 : 0, resting: false }
        : this.#traceOf(trace, tenantId, here, rootRunId, seen);
    this.#table.add(record);
    return record;
  }

  #traceOf(
    trace: SdkTrace,
    tenantId: string,
    here: ActiveRun | undefined,
    rootRunId: string | undefined,
    seen: boolean,
  ): TraceRecord {
    // A run of another tenant is not around it.
    const outer = here?.tenantId === tenantId ? here : undefined;
    const { context } = this.#options;
    const ask = context && (() => context(shown(trace)));
    const threadId = textOf(trace.groupId);
    const inherited = inheritedBy({ threadId, outer, ask }, this.#onError);
    const { subject } = inherited;
    const known = { tenantId, threadId: inherited.threadId, subject, outer, rootRunId };
    return newTrace(trace, known, seen);
  }

  /** Whether an open trace is another tenant's, and spans do not name theirs. */
  #isOthers(trace: SdkTrace, known: KnownTrace): known is TraceRecord {
    const { begun, tenantId } = known;
    if (tenantId === undefined || begun === 0) return false;
    if (textOf(trace.metadata?.tenant_id) !== undefined) return false;
    return this.#tenant(trace, activeRun()?.tenantId) !== tenantId;
  }

  /** The trace's metadata take precedence, then the surrounding run, then the option. */
  #tenant(trace: SdkTrace, outer: string | undefined): string | undefined {
    return (
      textOf(trace.metadata?.tenant_id) ??
      outer ??
      tenantOf(this.#options.tenant, shown(trace), this.#onError)
    );
  }
}
