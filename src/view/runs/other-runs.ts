import type { ViewFailure, ViewSpan, ViewStory } from "../format.ts";
import { firstFailureOf } from "./first-failure.ts";
import type { RunTraits, RunUsage } from "./run-facts.ts";
import type { Facts, SpanFact } from "./span-facts.ts";

// Runs of other instrumentation: a trace with agents, models or tools is one run. In a trace with a run of this
// package, they are a part of that run, unless their agent is beside it.

/** Whether a span was made by other instrumentation. */
export function isOfOthers({ run_id, vocabulary }: ViewSpan): boolean {
  return run_id === undefined || vocabulary !== undefined;
}

/**
 * The spans of runs of this package, with those of others in them. Two instrumentations can record the same call: others
 * are models and tools only where this package recorded none, so that no call counts twice. Their agents are steps.
 */
export function inOwnRuns(spans: readonly ViewSpan[]): ViewSpan[] {
  const own = new Set(spans.filter((span) => !isOfOthers(span)).map(({ kind }) => kind));
  return spans.map((span) => {
    if (span.vocabulary === undefined || !own.has(span.kind)) return span;
    return { ...span, kind: span.kind === "run" ? "step" : "other" };
  });
}

/** A run of other instrumentation, as far as its spans are known. */
export interface OtherRun {
  /** IDs of its spans. */
  readonly spans: ReadonlySet<string>;
  readonly start: bigint;
  /** 0: it is open. */
  readonly end: bigint;
  readonly traits: RunTraits;
  /** Question, answer and error. */
  readonly outerStory: ViewStory;
  /** What its agent says of all calls. */
  readonly usage: RunUsage | undefined;
  readonly failure: ViewFailure | undefined;
}

/**
 * The run of other instrumentation in a trace; `undefined` if it has none. It is read from the parents of the spans, so
 * it does not depend on their order.
 *
 * Its outcome is that of the outermost agent: a request around it may succeed although the agent failed. Without an
 * agent, it failed if its last call failed, or the request around it. A span whose parent did not come is the outermost
 * one as far as is known: the parent may be in a process that sends no spans.
 *
 * @param hasOwnRun whether the trace has a run of this package. The run of others is then an agent beside it.
 */
export function otherRunIn(facts: Facts, hasOwnRun: boolean): OtherRun | undefined {
  const all = [...facts.values()];
  if (!all.some(({ of }) => of === "agent")) return undefined;
  const positions = positionsIn(facts);
  const spans = all.filter((fact) => fact.of === "agent" && positions.get(fact)?.isInOwn === false);
  if (spans.length === 0) return undefined;
  const tops = new Set(spans.map((fact) => positions.get(fact)?.top ?? fact));
  for (const fact of hasOwnRun ? [] : all) if (fact.parent === undefined) tops.add(fact);
  const agent = agentIn(spans, positions, tops);
  // While the run of this package is open, the parents of others may be spans of it that have not ended.
  if (hasOwnRun && (agent === undefined || !all.some(isOwnEnd))) return undefined;
  const ended = [...tops].filter(isSettled);
  const last = [...preferred(ended, hasNoParent), ...(agent === undefined ? [] : [agent])].reduce<
    SpanFact | undefined
  >(later, undefined);
  const isOpen = last === undefined || agent?.end === 0n;
  const call = spans.filter(isCall).reduce<SpanFact | undefined>(later, undefined);
  const hasFailed = agent?.failed ?? (call?.failed === true || ended.some(({ failed }) => failed));
  const members = [...new Set([...tops, ...spans])].sort(byStart);
  const named =
    agent?.agent ?? agent?.name ?? members.find((fact) => fact.agent !== undefined)?.agent;
  return {
    spans: new Set(members.map(({ id }) => id)),
    start: members[0]?.start ?? 0n,
    end: isOpen ? 0n : last.end,
    traits: {
      ...(named === undefined ? {} : { agent: named }),
      tenant_id: "",
      outcome: isOpen ? "open" : hasFailed ? "failed" : "complete",
    },
    outerStory: (isOpen ? undefined : (agent ?? call)?.outerStory) ?? {},
    usage: agent?.usage,
    failure: firstFailureOf(members.map(({ failure }) => failure)),
  };
}

/** The outermost agent: the last one if there are several, an open one first. */
function agentIn(
  spans: readonly SpanFact[],
  positions: ReadonlyMap<SpanFact, Position>,
  tops: ReadonlySet<SpanFact>,
): SpanFact | undefined {
  const agents = spans.filter((fact) => isAgent(fact, tops) && positions.get(fact)?.isOutermost);
  // Where the outermost span of the trace is known, agents whose parent did not come are below it.
  const outer = preferred(agents, (agent) => hasNoParent(positions.get(agent)?.top ?? agent));
  return preferred(outer, ({ end }) => end === 0n).reduce<SpanFact | undefined>(later, undefined);
}

/** Those that it is true for; all if it is true for none. */
function preferred(
  facts: readonly SpanFact[],
  isPreferred: (fact: SpanFact) => boolean,
): readonly SpanFact[] {
  const found = facts.filter(isPreferred);
  return found.length > 0 ? found : facts;
}

function hasNoParent({ parent }: SpanFact): boolean {
  return parent === undefined;
}

function isCall({ kind }: SpanFact): boolean {
  return kind === "model" || kind === "tool";
}

/** Where a span is in its trace. */
interface Position {
  /** The outermost known span above it; itself if there is none. */
  readonly top: SpanFact;
  /** No agent is above it. */
  readonly isOutermost: boolean;
  /** A span of this package is above it, or it is one. */
  readonly isInOwn: boolean;
}

function positionsIn(facts: Facts): ReadonlyMap<SpanFact, Position> {
  const positions = new Map<SpanFact, Position>();
  const above = ({ parent }: SpanFact) => (parent === undefined ? undefined : facts.get(parent));
  for (const fact of facts.values()) {
    const path: SpanFact[] = [];
    const seen = new Set<SpanFact>();
    let at: SpanFact | undefined = fact;
    for (; at !== undefined && !positions.has(at) && !seen.has(at); at = above(at)) {
      seen.add(at);
      path.push(at);
    }
    const ring = at !== undefined && seen.has(at) ? path.indexOf(at) : -1;
    const steps = ring < 0 ? path : withoutRing(path, ring);
    for (const below of steps.reverse()) {
      const parent = above(below);
      const position = parent === undefined ? undefined : positions.get(parent);
      positions.set(below, {
        top: position?.top ?? below,
        isOutermost: position === undefined || (position.isOutermost && !isRun(parent)),
        isInOwn: below.of === "own" || position?.isInOwn === true,
      });
    }
  }
  return positions;
}

/** A path to a ring of parents, which damaged input can have: it ends with the span of the ring that has the first ID. */
function withoutRing(path: readonly SpanFact[], from: number): SpanFact[] {
  const ring = path.slice(from);
  const top = ring.reduce((first, fact) => (fact.id < first.id ? fact : first));
  const end = ring.indexOf(top) + 1;
  return [...path.slice(0, from), ...ring.slice(end), ...ring.slice(0, end)];
}

function isRun(fact: SpanFact | undefined): boolean {
  return fact?.of === "agent" && fact.kind === "run";
}

/** The outermost step, such as a graph, is what ran. */
function isAgent(fact: SpanFact, tops: ReadonlySet<SpanFact>): boolean {
  return isRun(fact) || (fact.kind === "step" && tops.has(fact) && isSettled(fact));
}

/**
 * Whether a run ends with this span, if no span is known around it. A call whose parent did not come is in an agent that
 * has not ended, unless the parent is in another process.
 */
function isSettled(top: SpanFact): boolean {
  if (top.end === 0n) return false;
  if (top.parent === undefined || top.isRemote === true || isRun(top)) return true;
  return top.isRemote === undefined && (top.kind === "step" || top.of === "none");
}

function isOwnEnd({ end, kind, of }: SpanFact): boolean {
  return of === "own" && kind === "run" && end > 0n;
}

function byStart(one: SpanFact, other: SpanFact): number {
  if (one.start !== other.start) return one.start < other.start ? -1 : 1;
  return one.id < other.id ? -1 : 1;
}

function later(one: SpanFact | undefined, other: SpanFact): SpanFact {
  if (one === undefined || other.end > one.end) return other;
  return other.end === one.end && other.id > one.id ? other : one;
}
