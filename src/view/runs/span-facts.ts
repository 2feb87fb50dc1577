import { cut } from "../../events/format/door.ts";
import type { SpanKindName, ViewFailure, ViewSpan, ViewStory } from "../format.ts";
import { textIn } from "../model/attributes.ts";
import { earlierFailure } from "./first-failure.ts";
import { usageIn } from "./other-usage.ts";
import { ownText } from "./own-texts.ts";
import type { RunUsage } from "./run-facts.ts";
import { outerStoryOf } from "./run-story.ts";
import type { Trace } from "./traces.ts";

/** Spans whose facts are in memory, of all traces: about 50 MB. */
const MOST_FACTS = 200_000;
/** Spans of one trace with facts. Among later ones, only agents and the outermost span have them. */
const MOST_OF_TRACE = 100_000;
const MOST_NAME = 60;

/** What the tree of a trace is read from. */
export interface SpanFact {
  readonly id: string;
  readonly parent: string | undefined;
  /** Whether the parent is in another process. `undefined`: the sender does not say it. */
  readonly isRemote: boolean | undefined;
  readonly kind: SpanKindName;
  /** `own`: of this package; `agent`: of other instrumentation that says something of agents. */
  readonly of: "own" | "agent" | "none";
  readonly failed: boolean;
  readonly failure: ViewFailure | undefined;
  /** Unix times in ns. */
  readonly start: bigint;
  /** 0: it is open. */
  readonly end: bigint;
  /** The agent that it names. */
  readonly agent: string | undefined;
  /** The name of a step, which is the agent's if it is the outermost span. */
  readonly name: string | undefined;
  /** Question, answer and error, if it can be what the run is about. */
  readonly outerStory: ViewStory | undefined;
  /** The usage of an agent, with all its calls. */
  readonly usage: RunUsage | undefined;
  readonly source: number;
  readonly standing: number;
}

/** Where a span came from. */
export interface Origin {
  readonly source: number;
  /** Standing of the source. */
  readonly standing: number;
}

export interface OriginalSpan extends Origin {
  readonly span: ViewSpan;
}

/** Its IDs are texts of their own: JSON and protobuf are read into new ones. */
export function factOf(span: ViewSpan, { source, standing }: Origin): SpanFact {
  const { attributes, end_ns, failed, kind, parent_span_id, remote_parent, run_id } = span;
  const isAgent = span.vocabulary !== undefined;
  const agent = isAgent ? textIn(attributes, "gen_ai.agent.name") : undefined;
  return {
    id: span.span_id,
    parent: parent_span_id,
    isRemote: remote_parent,
    kind,
    of: isAgent ? "agent" : run_id === undefined ? "none" : "own",
    failed,
    failure: run_id === undefined || isAgent ? earlierFailure(undefined, span) : undefined,
    start: BigInt(span.start_ns),
    end: end_ns === null ? 0n : BigInt(end_ns),
    agent: agent === undefined ? undefined : ownText(agent),
    name: isAgent && kind === "step" ? ownText(cut(span.name, MOST_NAME).text) : undefined,
    outerStory: isAgent ? outerStoryOf(span) : undefined,
    usage: isAgent && kind === "run" ? usageIn(span) : undefined,
    source,
    standing,
  };
}

export type Facts = Map<string, SpanFact>;

/**
 * Facts of the spans of the traces that changed last. Those of other traces are read from the file of spans when a span
 * comes for them.
 */
export class TraceFacts {
  readonly #read: (trace: Trace) => Iterable<OriginalSpan>;
  readonly #beforeForgotten: (traces: Iterable<Trace>) => void;
  #newer = new Map<Trace, Facts>();
  #older = new Map<Trace, Facts>();
  #count = 0;

  /**
   * @param read reads the spans of a trace that are in the file.
   * @param beforeForgotten called before the facts of these traces are forgotten.
   */
  constructor(
    read: (trace: Trace) => Iterable<OriginalSpan>,
    beforeForgotten: (traces: Iterable<Trace>) => void,
  ) {
    this.#read = read;
    this.#beforeForgotten = beforeForgotten;
  }

  /** The facts of a trace that are in memory. */
  known(trace: Trace): Facts | undefined {
    return this.#newer.get(trace) ?? this.#older.get(trace);
  }

  of(trace: Trace): Facts {
    const newer = this.#newer.get(trace);
    if (newer !== undefined) return newer;
    const facts = this.#older.get(trace) ?? this.#readFacts(trace);
    this.#older.delete(trace);
    if (this.#count > MOST_FACTS / 2) {
      this.#beforeForgotten(this.#older.keys());
      this.#older = this.#newer;
      this.#newer = new Map();
      this.#count = 0;
    }
    this.#newer.set(trace, facts);
    this.#count += facts.size + 1;
    return facts;
  }

  #readFacts(trace: Trace): Facts {
    const facts: Facts = new Map();
    if (!trace.isStored) return facts;
    for (const { span, ...origin } of this.#read(trace)) addFact(facts, factOf(span, origin));
    return facts;
  }

  add(trace: Trace, span: ViewSpan, origin: Origin): void {
    const facts = this.of(trace);
    const before = facts.size;
    addFact(facts, factOf(span, origin));
    this.#count += facts.size - before;
  }
}

function addFact(facts: Facts, fact: SpanFact): void {
  const isOuter = fact.parent === undefined || (fact.of === "agent" && fact.kind === "run");
  if (facts.size >= MOST_OF_TRACE && !isOuter && !facts.has(fact.id)) return;
  const known = facts.get(fact.id);
  // The first of several equal sources counts. An open span comes again when it has ended.
  if (known !== undefined && known.end > 0n && known.standing >= fact.standing) return;
  facts.set(fact.id, fact);
}
