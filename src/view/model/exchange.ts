import type { ViewAttributes, ViewSpan } from "../format.ts";
import { numberIn, textIn } from "./attributes.ts";
import { callDecision, decisionOfEvent } from "./call-decision.ts";
import { callKey } from "./decisions.ts";
import type { Exchange } from "./exchange-items.ts";
import { errorText } from "./failures.ts";
import type { RunModel } from "./run-model.ts";
import { ancestorsOf, type SpanNode, timeSince } from "./span-tree.ts";
import { Talk } from "./talk.ts";

type Source = Pick<RunModel, "decisions" | "detail" | "tree" | "waits">;

/** Whether a run has something to show as a conversation: a message, a tool call or a decision. */
export function hasExchange({ detail, tree }: Source): boolean {
  const hasDecision = (detail.run.decisions ?? []).length > 0;
  return hasDecision || tree.nodes.some(({ span }) => span.kind === "tool" || hasMessages(span));
}

/** Whether any span has captured texts. */
export function hasTexts({ tree }: Source): boolean {
  return tree.nodes.some(
    ({ span }) => hasMessages(span) || TEXTS.some((name) => name in span.attributes),
  );
}

function hasMessages({ attributes }: ViewSpan): boolean {
  return "gen_ai.input.messages" in attributes || "gen_ai.output.messages" in attributes;
}

const TEXTS = [
  "gen_ai.tool.call.arguments",
  "gen_ai.tool.call.result",
  "gen_ai.retrieval.query.text",
];

/** Builds the exchange of a run. Linear in the size of its content. */
export function exchangeOf(source: Source): Exchange {
  const builder = new Builder(source);
  return builder.build();
}

/** A change of an exchange at a time. */
interface Moment {
  readonly time: number;
  /** Orders moments of one time: what begins, then what models answer, then what ends. */
  readonly rank: 0 | 1 | 2;
  readonly apply: () => void;
}

class Builder {
  readonly #source: Source;
  readonly #main = new Talk();
  /** The exchange of each run span. */
  readonly #ofRun = new Map<SpanNode, Talk>();
  /** The exchange of a run by the exchange around it and its ID: a paused run has several spans. */
  readonly #byId = new Map<Talk, Map<string, Talk>>();
  /** The nearest tool call around a span, within its run. */
  readonly #tools = new Map<SpanNode, SpanNode>();
  readonly #moments: Moment[] = [];
  /** Attributes of the events about decisions, by run and call. IDs of calls may repeat. */
  readonly #approvals = new Map<string, ViewAttributes[]>();
  readonly #calls = new Set<string>();
  /** Operator texts that are shown, by each span around their failures: it may repeat them. */
  readonly #told = new Map<SpanNode, Set<string>>();
  readonly #mainId: string | undefined;

  constructor(source: Source) {
    this.#source = source;
    const { run } = source.detail;
    const isMain = ({ span }: SpanNode) => span.kind === "run" && span.run_id === run.run_id;
    const first = source.tree.roots.find(isMain) ?? source.tree.roots.find(isRun);
    this.#mainId = first?.span.run_id;
  }

  build(): Exchange {
    const { nodes } = this.#source.tree;
    for (const node of nodes) this.#note(node);
    for (const node of nodes) this.#schedule(node);
    this.#moments.sort((one, other) => one.time - other.time || one.rank - other.rank);
    for (const { apply } of this.#moments) apply();
    this.#main.finish();
    for (const talk of this.#ofRun.values()) talk.finish();
    return this.#main.exchange;
  }

  #at(time: number, rank: Moment["rank"], apply: () => void): void {
    this.#moments.push({ time, rank, apply });
  }

  /** Reads data that moments need. Parents come before their children. */
  #note(node: SpanNode): void {
    const { parent, span } = node;
    if (parent !== undefined && parent.span.kind !== "run") {
      const tool = parent.span.kind === "tool" ? parent : this.#tools.get(parent);
      if (tool !== undefined) this.#tools.set(node, tool);
    }
    const callId = textIn(span.attributes, "gen_ai.tool.call.id");
    if (span.kind === "tool" && callId !== undefined) this.#calls.add(callKey(span.run_id, callId));
    if (span.kind !== "run") return;
    for (const { attributes, name } of span.events) {
      const id = textIn(attributes, "gen_ai.tool.call.id");
      if (name !== "entelix.approval" || id === undefined) continue;
      const key = callKey(span.run_id, id);
      const known = this.#approvals.get(key);
      if (known === undefined) this.#approvals.set(key, [attributes]);
      else known.push(attributes);
    }
  }

  #talkOf({ run }: SpanNode): Talk {
    return (run && this.#ofRun.get(run)) ?? this.#main;
  }

  #schedule(node: SpanNode): void {
    const { kind } = node.span;
    if (kind === "run") this.#run(node, this.#talkOfRun(node));
    if (kind === "model") this.#model(node, this.#talkOf(node));
    if (kind === "tool") this.#tool(node, this.#talkOf(node));
    if (kind === "step") this.#step(node, this.#talkOf(node));
  }

  /** The exchange of a run: the shown run's, or one that is folded in the run around it. */
  #talkOfRun(node: SpanNode): Talk {
    const { run, span } = node;
    if (run === undefined && span.run_id === this.#mainId) {
      this.#ofRun.set(node, this.#main);
      return this.#main;
    }
    const outer = this.#talkOf(node);
    // With other instrumentation, all agents of a trace have one run ID.
    const id =
      run !== undefined && run.span.run_id === span.run_id ? node.id : (span.run_id ?? node.id);
    const known = this.#byId.get(outer) ?? new Map<string, Talk>();
    this.#byId.set(outer, known);
    const talk = known.get(id) ?? new Talk();
    if (!known.has(id)) {
      known.set(id, talk);
      const item = { kind: "run", node, exchange: talk.exchange } as const;
      const tool = this.#tools.get(node);
      this.#at(node.start, 0, () => outer.subRun(item, tool));
    }
    this.#ofRun.set(node, talk);
    return talk;
  }

  #run(node: SpanNode, talk: Talk): void {
    const { end, span, start } = node;
    const { attributes } = span;
    const segment = numberIn(attributes, "entelix.run.segment") ?? 1;
    const resumes = segment > 1 || textIn(attributes, "entelix.run.resumed_from") !== undefined;
    for (const wait of this.#source.waits.get(node) ?? []) {
      if (wait.kind !== "pause") continue;
      this.#at(start, 0, () => talk.add({ kind: "wait", node, ms: wait.end - wait.start }));
    }
    this.#at(start, 0, () => talk.input(node, resumes));
    this.#handedOver(node);
    for (const { attributes: details, name, time_ns } of span.events) {
      const time = timeSince(this.#source.tree.originNs, time_ns);
      const text = noteText(name, details);
      if (text !== undefined) this.#at(time, 1, () => talk.add({ kind: "note", node, text }));
      if (name === "entelix.approval") this.#lonelyDecision(node, details, time, talk);
    }
    if (end !== undefined) this.#at(end, 2, () => this.#runEnds(node, talk));
  }

  /** The call that handed control to a run is in the exchange of the agent before it: around the run, or beside it. */
  #handedOver({ run, span, start }: SpanNode): void {
    const agent = textIn(span.attributes, "gen_ai.agent.name");
    const from = textIn(span.attributes, "entelix.handoff.from");
    if (from === undefined || agent === undefined) return;
    this.#at(start, 0, () => {
      for (const [before, talk] of this.#ofRun) {
        const isNear = before === run || before.run === run;
        const name = textIn(before.span.attributes, "gen_ai.agent.name");
        if (isNear && name === from) talk.handsOver(agent);
      }
    });
  }

  /** A decision about a call that has no span. */
  #lonelyDecision(node: SpanNode, attributes: ViewAttributes, time: number, talk: Talk): void {
    const id = textIn(attributes, "gen_ai.tool.call.id");
    if (id !== undefined && this.#calls.has(callKey(node.span.run_id, id))) return;
    const decision = decisionOfEvent(attributes);
    if (decision === undefined) return;
    const tool = textIn(attributes, "gen_ai.tool.name") ?? "";
    this.#at(time, 1, () => talk.add({ kind: "decision", node, tool, decision }));
  }

  #runEnds(node: SpanNode, talk: Talk): void {
    const { attributes, failed } = node.span;
    if (textIn(attributes, "entelix.run.outcome") === "interrupted") {
      talk.pause();
      const asked = textIn(attributes, "entelix.interruption.payload");
      talk.add({ kind: "wait", node, ...(asked === undefined ? {} : { asked }) });
    } else talk.result(node);
    if (failed) this.#fails(node, talk);
    talk.state(node);
  }

  #model(node: SpanNode, talk: Talk): void {
    const { attributes, failed } = node.span;
    const isTalk = textIn(attributes, "gen_ai.operation.name") !== "embeddings";
    if (isTalk) this.#at(node.start, 0, () => talk.input(node));
    if (node.end === undefined) return;
    this.#at(node.end, 1, () => {
      if (!failed) return isTalk ? talk.answer(node) : undefined;
      const text = errorText(node.span);
      this.#tell(node, text);
      talk.modelError(node, text);
    });
  }

  #tool(node: SpanNode, talk: Talk): void {
    const { attributes, run_id } = node.span;
    const key = callKey(run_id, textIn(attributes, "gen_ai.tool.call.id") ?? "");
    const known = this.#source.decisions.get(node);
    const events = this.#approvals.get(key) ?? [];
    const isOwn = (event: ViewAttributes) => event["entelix.approval.outcome"] === known?.decision;
    const event = events.find(isOwn) ?? (events.length === 1 ? events[0] : undefined);
    const decision = callDecision(node, known, event);
    const text = node.span.failed ? errorText(node.span) : undefined;
    this.#tell(node, text);
    this.#at(node.start, 0, () => talk.call(node, decision));
  }

  #step(node: SpanNode, talk: Talk): void {
    const { attributes, failed } = node.span;
    const query = textIn(attributes, "gen_ai.retrieval.query.text");
    const documents = textIn(attributes, "gen_ai.retrieval.documents");
    const isRetrieval = textIn(attributes, "gen_ai.operation.name") === "retrieval";
    if (isRetrieval || query !== undefined || documents !== undefined) {
      const found = {
        ...(query === undefined ? {} : { query }),
        ...(documents === undefined ? {} : { documents }),
      };
      this.#at(node.start, 0, () => talk.add({ kind: "retrieval", node, ...found }));
    }
    const action = textIn(attributes, "entelix.elicitation.action");
    if (action !== undefined) {
      const text = `A person answered the question of an MCP server: ${action}`;
      this.#at(node.end ?? node.start, 1, () => talk.add({ kind: "note", node, text }));
    }
    if (failed && node.end !== undefined) this.#at(node.end, 2, () => this.#fails(node, talk));
  }

  #tell(node: SpanNode, text: string | undefined): void {
    if (text === undefined) return;
    for (const around of ancestorsOf(node)) {
      const told = this.#told.get(around) ?? new Set<string>();
      if (told.has(text)) break;
      this.#told.set(around, told.add(text));
    }
  }

  /** A failed run or step, unless a span in it has failed with the same text. */
  #fails(node: SpanNode, talk: Talk): void {
    const text = errorText(node.span);
    if (text !== undefined && this.#told.get(node)?.has(text) === true) return;
    if (text === undefined && node.children.some(({ span }) => span.failed)) return;
    this.#tell(node, text);
    talk.add({ kind: "error", node, attempts: [text], isRetried: false });
  }
}

function isRun({ span }: SpanNode): boolean {
  return span.kind === "run";
}

/** A sentence about an event of a run that belongs to its exchange. */
function noteText(name: string, attributes: ViewAttributes): string | undefined {
  const number = (field: string) => numberIn(attributes, `entelix.compaction.${field}`);
  switch (name) {
    case "entelix.handoff": {
      const from = textIn(attributes, "entelix.handoff.from");
      const to = textIn(attributes, "entelix.handoff.to");
      return `Handoff${from === undefined ? "" : ` from ${from}`}${to === undefined ? "" : ` to ${to}`}`;
    }
    case "entelix.context_compacted": {
      const [before, after] = [number("original_count"), number("new_count")];
      const sizes =
        before === undefined || after === undefined ? "" : `: ${before} messages became ${after}`;
      return `The context was compacted${sizes}`;
    }
    case "entelix.user_input":
      return "The user spoke while the run was on";
    default:
      return undefined;
  }
}
