import type { ChatMessage } from "./conversation.ts";
import type { SpanNode } from "./span-tree.ts";

/** Messages, tool calls, decisions and errors of a run, in order, each once. */
export interface Exchange {
  readonly items: readonly ExchangeItem[];
}

export type ExchangeItem =
  | MessageItem
  | CallItem
  | DecisionItem
  | ErrorItem
  | WaitItem
  | RetrievalItem
  | RunItem
  | EarlierItem
  | NoteItem
  | StateItem;

/** A message without its tool calls and their results, which are items of their own. */
export interface MessageItem {
  readonly kind: "message";
  /** The span that has it: the model call that answered, or the first that was sent it. */
  readonly node: SpanNode;
  /** Without parts if the answer was not captured. */
  readonly message: ChatMessage;
  /** It answers the pause before it. */
  readonly resumes?: true;
}

/** A tool call with its result: what the model asked for and the span that ran it. */
export interface CallItem {
  readonly kind: "call";
  readonly tool: string;
  /** Absent if no span ran it. */
  readonly node?: SpanNode;
  /** The span whose message asks for it. */
  readonly asker: SpanNode;
  readonly input?: string;
  readonly result?: string;
  /** The result in the history of a later model call. */
  readonly received?: string;
  readonly decision?: CallDecision;
  /** Calls before it that failed and were repeated without another answer of the model. */
  readonly attempts: readonly SpanNode[];
  /** Runs of sub-agents in it. */
  readonly runs: readonly RunItem[];
  /** It waits for a decision when the run is paused. */
  readonly waits?: true;
  /** The agent that it handed control to: no tool ran. */
  readonly handoff?: string;
}

/** A decision about a tool call by a person or a policy. */
export interface CallDecision {
  /** `approved`, `denied`, `edited` or `answered`. */
  readonly outcome: string;
  /** `user` or `policy`. */
  readonly by?: string | undefined;
  readonly person?: string | undefined;
  readonly reason?: string | undefined;
  readonly waitMs?: number | undefined;
  /** What was edited in the input: `euros 41.9 → 20`. */
  readonly change?: string | undefined;
}

/** A decision about a call that was not made. */
export interface DecisionItem {
  readonly kind: "decision";
  readonly node: SpanNode;
  readonly tool: string;
  readonly decision: CallDecision;
}

/** A failed model call, run or step. Model calls with their retries are one item. */
export interface ErrorItem {
  readonly kind: "error";
  /** The last one that failed. */
  readonly node: SpanNode;
  /** The operator's text of each attempt, in order. `undefined`: the source has none. */
  readonly attempts: readonly (string | undefined)[];
  /** A later attempt succeeded. */
  readonly isRetried: boolean;
}

/** A pause of the run. */
export interface WaitItem {
  readonly kind: "wait";
  readonly node: SpanNode;
  /** Its length, if it ended in this run. */
  readonly ms?: number;
  /** What the run asks, as JSON. */
  readonly asked?: string;
}

export interface RetrievalItem {
  readonly kind: "retrieval";
  readonly node: SpanNode;
  readonly query?: string;
  readonly documents?: string;
}

/** The run of a sub-agent, with its own exchange. */
export interface RunItem {
  readonly kind: "run";
  readonly node: SpanNode;
  readonly exchange: Exchange;
}

/** Messages from before the run, which its first model call was sent. */
export interface EarlierItem {
  readonly kind: "earlier";
  readonly node: SpanNode;
  readonly items: readonly ExchangeItem[];
}

/** An event in a sentence: a handoff, a compaction. */
export interface NoteItem {
  readonly kind: "note";
  readonly node: SpanNode;
  readonly text: string;
}

/** The state of the agent at its end, as JSON. */
export interface StateItem {
  readonly kind: "state";
  readonly node: SpanNode;
  readonly text: string;
}
