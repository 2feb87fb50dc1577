import type { FailureSource, InputMessage, Instant, OutputMessage } from "../../events/door.ts";
import type { UsageTotals } from "../core/usage-totals.ts";
import type { ActiveRun } from "../runtime/active-run.ts";
import type { SubjectFields } from "../runtime/run-subject.ts";
import type { AwaitedCall } from "./approvals.ts";
import type { Came } from "./came.ts";
import type { ParsedError } from "./parse-span-error.ts";
import type { SdkSpan } from "./sdk.ts";
import type { AskedCall } from "./span-answer.ts";

/** Ended runs that a trace remembers, so that what comes late still finds its run. */
const MAX_ENDED = 256;

/** One agent's work in a trace, or the trace as a whole: what is sent as a run. */
export interface AgentRun {
  /** Below the trace's own run, each go after a pause is a run of its own. */
  runId: string;
  /** The paused run that this one continues, under another id. */
  resumedFrom: string | undefined;
  readonly agent: string;
  /** The agent that handed control to it. */
  readonly handoffFrom: string | undefined;
  /** The run above it, within the trace. */
  readonly parent: AgentRun | undefined;
  parentToolUseId: string | undefined;
  /** No agent and no tool call of the trace is above it: its end may be the trace's. */
  readonly top: boolean;
  state: "open" | "interrupted" | "ended";
  /** The span that opened this segment: what makes the ids of its events unique. */
  openedBy: string;
  startedAt: Readonly<Instant>;
  /** When the segment before it was paused, in this process. */
  pausedAt: Readonly<Instant> | undefined;
  /** The agent's span while the agent is at work; a workflow has none. */
  span: SdkSpan | undefined;
  handedOff: boolean;
  /** What it was asked, and its model's last answer. Content. */
  question: readonly InputMessage[] | undefined;
  answer: readonly OutputMessage[] | undefined;
  /** Goes on after a pause, and has not asked its model again: its tools answer approvals. */
  resumed: boolean;
  /** The last model call failed with this, and no other was made since. */
  modelError: ParsedError | undefined;
  /** The tool call whose error the SDK did not show to the model, and where that error arose. */
  failedCall: Failure | undefined;
  /** What it failed with. */
  failure: Failure | undefined;
  /** The guardrail that tripped. */
  tripped: string | undefined;
  /** Tool calls that the model's last answer asks for. */
  asked: readonly AskedCall[];
  /** The definitions of the tools that its model was given last, where its spans say them. */
  tools: unknown;
  /** What its model's last answer asks for could not be read. */
  unread: boolean;
  /** Tools that began since its model was last asked, without being known to be asked for. */
  unasked: string[] | undefined;
  /** A tool of it runs an agent that waits for an approval. */
  toolWaits: boolean;
  /** Calls that wait for an approval, while it is paused: its own, and those of agents below. */
  waiting: readonly AskedCall[];
  /** It waits itself, not only an agent below it. */
  waitsItself: boolean;
  /** It is paused, and the run whose tool it worked for has gone on without it. */
  left: boolean;
}

/** What a call or a run failed with, and the innermost call that it came out of. */
export interface Failure {
  readonly parsed: ParsedError;
  readonly source: FailureSource;
}

/** Where something happens: in a run, and in a tool call of it. */
export interface Scope {
  /** `undefined`: in the trace, above all agents. */
  readonly run: AgentRun | undefined;
  readonly toolUseId: string | undefined;
}

/** A span that has started and is no agent's. */
export interface OpenSpan {
  readonly span: SdkSpan;
  readonly kind: "tool" | "model" | "handoff" | "guardrail" | "other";
  /** Of what happens below it; a tool call is a scope once its id is known. */
  scope: Scope;
  readonly startedAt: Readonly<Instant>;
  /** Its start has been sent; those that have no event count as sent. */
  startSent: boolean;
  /** What a model was asked has been sent. */
  inputSent: boolean;
  /** What came of its code, where `withSpan` called that. */
  came: Came | undefined;
  /** Its run has ended before it: its end was sent then. */
  isCut: boolean;
}

/** Why a run failed, and which one that happened to. */
export interface Problem {
  readonly parsed: ParsedError;
  readonly of: AgentRun;
}

/** What is known of one trace of the SDK. */
export interface TraceRecord {
  readonly traceId: string;
  readonly name: string;
  /** It has a name of its own: then it is a run, and its agents' runs are below. */
  readonly named: boolean;
  /** `undefined`: not known, so nothing of it is sent. */
  readonly tenantId: string | undefined;
  readonly threadId: string | undefined;
  /** Whose runs they are. */
  readonly subject: SubjectFields | undefined;
  readonly metadata: Readonly<Record<string, unknown>> | undefined;
  /** The SDK's `RunState`, where the application has shown it. */
  state: WeakRef<object> | undefined;
  /** The calls that it waited for, where it was paused in another process. */
  awaited: readonly AwaitedCall[];
  /** The run of ours that the trace was begun in. */
  readonly outer: ActiveRun | undefined;
  /** When it began; `undefined` when only its spans were seen. */
  readonly startedAt: Readonly<Instant> | undefined;
  /** The run id of the trace's own run; `undefined` when that id is used up: then it is a span's. */
  rootRunId: string | undefined;
  /** It goes on after a pause that was seen elsewhere: the run id of its own run there. */
  pausedRootId: string | undefined;
  /** How often it was begun without being ended. */
  begun: number;
  root: AgentRun | undefined;
  /** Runs by their agent's span id: open, paused, and the latest that ended. */
  agents: Map<string, AgentRun>;
  /** Open spans other than agents'. */
  open: Map<string, OpenSpan>;
  /** Nothing in it is open: see `TraceTable`. */
  resting: boolean;
  /** Runs that are open, the trace's own among them. */
  openRuns: number;
  /** Those among them that are agents' and stand at the top. */
  openTop: number;
  /** Made, and the next agent has not begun. */
  readonly handoffs: { readonly from: AgentRun; readonly to: string }[];
  /** What one of them failed with. */
  problem: Problem | undefined;
  /** Of all calls of the trace. */
  readonly totals: UsageTotals;
  /** The time of the last event of it that was sent. */
  lastAt: Readonly<Instant> | undefined;
}

/**
 * The run at the top, whose id is the trace's: of a trace that goes on here and began elsewhere, the
 * run that was paused there.
 */
export function topRunId({ outer, pausedRootId, root }: TraceRecord, run: AgentRun): string {
  return outer?.rootRunId ?? pausedRootId ?? root?.runId ?? run.runId;
}

/** Nothing of the trace goes on any more: an agent that was left waiting may. */
export function isOver({ agents, openRuns, root }: TraceRecord): boolean {
  if (root?.state !== "ended" || openRuns > 0) return false;
  for (const { left } of agents.values()) if (left) return false;
  return true;
}

/** What a span of the SDK is to us. */
export function kindOf({ spanData }: SdkSpan): OpenSpan["kind"] {
  switch (spanData.type) {
    case "function":
      return "tool";
    case "generation":
    case "response":
      return "model";
    case "handoff":
      return "handoff";
    case "guardrail":
      return "guardrail";
    default:
      return "other";
  }
}

/** A trace of thousands of runs keeps the newest of those that ended. */
export function forgetOldest({ agents }: TraceRecord): void {
  if (agents.size <= MAX_ENDED) return;
  for (const [id, { state }] of agents) {
    if (state !== "ended") continue;
    agents.delete(id);
    return;
  }
}
