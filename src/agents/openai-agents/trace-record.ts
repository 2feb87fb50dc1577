import {
  type FailureSource,
  type InputMessage,
  type Instant,
  now,
  type OutputMessage,
} from "../../events/door.ts";
import { type RunWriter, textOf, UsageTotals } from "../core/door.ts";
import type { ActiveRun, SubjectFields } from "../runtime/door.ts";
import type { AwaitedCall } from "./approvals.ts";
import type { ParsedError } from "./parse-span-error.ts";
import { type SdkSpan, type SdkTrace, UNNAMED_WORKFLOW } from "./sdk.ts";
import type { AskedCall } from "./span-answer.ts";
import type { Turns } from "./turns.ts";

/** Maximum number of ended runs that a trace remembers for late spans. */
const MAX_ENDED = 256;

/** The run of an agent, or of the trace itself. */
export interface AgentRun {
  /** Except for the trace's own run, each resumption gets a new run ID. */
  runId: string;
  /** Sends its events. Each run ID has its own. */
  writer: RunWriter;
  /** The paused run that this one resumes. */
  resumedFrom: string | undefined;
  readonly agent: string;
  /** The agent that handed off to this one. */
  readonly handoffFrom: string | undefined;
  /** The parent run within the trace. */
  readonly parent: AgentRun | undefined;
  parentToolUseId: string | undefined;
  /** Whether no agent or tool call of the trace is above it. Its end may then end the trace. */
  readonly top: boolean;
  state: "open" | "interrupted" | "ended";
  /** The span that opened this segment. Makes its event IDs unique. */
  openedBy: string;
  startedAt: Readonly<Instant>;
  /** When this process saw the previous segment pause. */
  pausedAt: Readonly<Instant> | undefined;
  /** The agent's span while the agent works. A named trace's run has none. */
  span: SdkSpan | undefined;
  /** The task span above the agent's span. */
  taskId: string | undefined;
  /** When its span ended, if nothing has said yet whether it waits. */
  heldAt: Readonly<Instant> | undefined;
  handedOff: boolean;
  /** Content: the agent's input and its model's last answer. */
  question: readonly InputMessage[] | undefined;
  answer: readonly OutputMessage[] | undefined;
  /** Whether it was resumed and its model was not called since. Its tool calls were approved then. */
  resumed: boolean;
  /** The error of the last model call, if no call was made since. */
  modelError: ParsedError | undefined;
  /** Its turns, if the SDK shows them. */
  turns?: Turns | undefined;
  /** The failed tool call whose error the model did not get. */
  failedCall: SpanFailure | undefined;
  /** Why it failed. */
  failure: SpanFailure | undefined;
  /** The name of the guardrail that tripped. */
  tripped: string | undefined;
  /** Tool calls in the model's last answer. */
  asked: readonly AskedCall[];
  /** The tool definitions of the last model request, if its span has them. */
  tools: unknown;
  /** Whether the tool calls of the last answer could not be read. */
  unread: boolean;
  /** Whether a span showed a call of its model. Some models make none. */
  hasAnswers: boolean;
  /** IDs of the calls that it made. Created with the first one. */
  made: Set<string> | undefined;
  /** Names of tools that started since the last model request and match no call of an answer. */
  unasked: string[] | undefined;
  /** Whether one of its tools runs an agent that waits for an approval. */
  toolWaits: boolean;
  /** Calls that wait for approval while it is paused: its own, and those of agents below. */
  waiting: readonly AskedCall[];
  /** Whether it waits itself, not only an agent below it. */
  waitsItself: boolean;
  /** Whether it is paused and its parent continued without it. */
  detached: boolean;
}

/** The failure of a call or run, and the innermost call that caused it. */
export interface SpanFailure {
  readonly parsed: ParsedError;
  readonly source: FailureSource;
}

/** A position in a trace: the run, and a tool call of the run. */
export interface Scope {
  /** `undefined`: above all agents. */
  readonly run: AgentRun | undefined;
  readonly toolUseId: string | undefined;
  /** The key of that call, if it has one. */
  readonly callKey?: string | undefined;
}

/** Above all agents. */
export const NOWHERE: Scope = { run: undefined, toolUseId: undefined };

/** What the code of a call returned or threw. The SDK's span has only texts of it. */
export type CodeOutcome = { readonly value: unknown } | { readonly thrown: unknown };

interface StartedSpan {
  readonly span: SdkSpan;
  readonly startedAt: Readonly<Instant>;
  /** Whether its start was sent. Also true for spans without events. */
  startSent: boolean;
  /** Whether the model's input was sent. */
  inputSent: boolean;
  /** Whether the model's call is the first after a pause of its run. */
  afterPause: boolean;
  /** What its code returned or threw, if `withSpan` called it. */
  outcome: CodeOutcome | undefined;
  /** Whether its run ended first. Its end was sent then. */
  isCut: boolean;
}

export interface OpenTool extends StartedSpan {
  readonly kind: "tool";
  /** The scope for spans below it. `toolUseId` is the span's ID until the call's is known. */
  scope: Scope & { readonly run: AgentRun; readonly toolUseId: string };
  /** The call whose code made it. `undefined`: the agent's model asked for it. */
  readonly outer: string | undefined;
}

export interface OpenModel extends StartedSpan {
  readonly kind: "model";
  readonly scope: Scope & { readonly run: AgentRun };
}

interface OpenOther extends StartedSpan {
  readonly kind: "handoff" | "guardrail" | "other";
  readonly scope: Scope;
}

/** An open span, except agents' spans. */
export type OpenSpan = OpenTool | OpenModel | OpenOther;

export function openSpan<K extends OpenSpan["kind"], S extends Scope>(
  span: SdkSpan,
  kind: K,
  scope: S,
  startedAt: Readonly<Instant>,
  outer?: string,
) {
  const startSent = kind !== "tool" && kind !== "model";
  return {
    span,
    kind,
    scope,
    startedAt,
    startSent,
    inputSent: false,
    afterPause: false,
    outer,
    outcome: undefined,
    isCut: false,
  };
}

/** A failure, and the run in which it happened. */
export interface Problem {
  readonly parsed: ParsedError;
  readonly of: AgentRun;
}

/** A trace without a known tenant. Nothing of it is sent. */
export interface RefusedTrace {
  readonly traceId: string;
  readonly tenantId: undefined;
  /** Number of starts minus number of ends. */
  begun: number;
  resting: boolean;
}

export type KnownTrace = TraceRecord | RefusedTrace;

/** The state of a trace. */
export interface TraceRecord {
  readonly traceId: string;
  readonly name: string;
  /** Whether it has a name of its own. It is a run then, above its agents' runs. */
  readonly named: boolean;
  readonly tenantId: string;
  readonly threadId: string | undefined;
  readonly subject: SubjectFields | undefined;
  readonly metadata: Readonly<Record<string, unknown>> | undefined;
  /** The SDK's `RunState`, if the application passed it to the processor. */
  state: WeakRef<object> | undefined;
  /** The calls that it waited for when another process paused it. */
  awaited: readonly AwaitedCall[];
  /** The surrounding run of this package. */
  readonly outer: ActiveRun | undefined;
  /** `undefined`: its start was not seen. */
  readonly startedAt: Readonly<Instant> | undefined;
  /** The run ID of the trace's own run. `undefined`: the ID is taken, so a span's ID is used. */
  rootRunId: string | undefined;
  /** The run ID that another process paused. `undefined`: not resumed from another process. */
  pausedRootId: string | undefined;
  /** Number of starts minus number of ends. */
  begun: number;
  root: AgentRun | undefined;
  /** Runs by the agent's span ID: open, paused, and the last that ended. */
  agents: Map<string, AgentRun>;
  /** Open spans, except agents' spans. */
  open: Map<string, OpenSpan>;
  /** Whether nothing in it is open. See `TraceTable`. */
  resting: boolean;
  /** Number of open runs, including the trace's own. */
  openRuns: number;
  /** Number of open top-level agents. */
  openTop: number;
  /** Number of top-level agents so far, without those of handoffs and resumptions. */
  topRuns: number;
  /** When it ended, if nothing started since. */
  endedAt: Readonly<Instant> | undefined;
  /** Handoffs whose next agent has not started. */
  readonly handoffs: { readonly from: AgentRun; readonly to: string }[];
  /** The failure of a top-level agent. */
  problem: Problem | undefined;
  /** Usage of all calls of the trace. */
  /** Since the start or the last resumption of its root. */
  totals: UsageTotals;
  /** Time of the last event. */
  lastAt: Readonly<Instant> | undefined;
}

/** @param seen whether the start of the trace was seen. */
export function newTrace(
  trace: SdkTrace,
  known: Pick<TraceRecord, "outer" | "rootRunId" | "subject" | "tenantId" | "threadId">,
  seen: boolean,
): TraceRecord {
  return {
    traceId: trace.traceId,
    name: trace.name,
    named: trace.name !== UNNAMED_WORKFLOW,
    tenantId: known.tenantId,
    threadId: known.threadId,
    subject: known.subject,
    metadata: trace.metadata,
    state: undefined,
    awaited: [],
    outer: known.outer,
    startedAt: seen ? now() : undefined,
    rootRunId: known.rootRunId,
    pausedRootId: undefined,
    begun: seen ? 1 : 0,
    root: undefined,
    agents: new Map(),
    open: new Map(),
    resting: false,
    openRuns: 0,
    openTop: 0,
    topRuns: 0,
    endedAt: undefined,
    handoffs: [],
    problem: undefined,
    totals: new UsageTotals(),
    lastAt: undefined,
  };
}

/** Whether the trace ended, and no paused agent can still be resumed separately. */
export function isOver({ agents, openRuns, root }: TraceRecord): boolean {
  if (root?.state !== "ended" || openRuns > 0) return false;
  for (const { detached } of agents.values()) if (detached) return false;
  return true;
}

/** The kind of an SDK span. */
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

/** Maximum number of previous spans that are searched for the agent above. */
const MAX_ABOVE = 16;

/** The agent's span right above a span, also if its start was not seen. */
export function agentAbove({ parentId, previousSpan }: SdkSpan): SdkSpan | undefined {
  let above = previousSpan;
  for (let level = 0; above !== undefined && level < MAX_ABOVE; level++) {
    if (above.spanId === parentId) return above.spanData.type === "agent" ? above : undefined;
    above = above.previousSpan;
  }
  return undefined;
}

/** Whether a span names another tenant than its trace. */
export function isForeign({ tenantId }: TraceRecord, { traceMetadata }: SdkSpan): boolean {
  const named = textOf(traceMetadata?.tenant_id);
  return named !== undefined && named !== tenantId;
}

/** Whether it is a model call of the agent, and not of a tool's code. */
export function isOwnModelCall({ kind, scope }: OpenSpan): boolean {
  return kind === "model" && scope.toolUseId === undefined;
}

/** Forgets the oldest ended run above the limit. */
export function forgetOldest({ agents }: TraceRecord): void {
  if (agents.size <= MAX_ENDED) return;
  for (const [id, { state }] of agents) {
    if (state !== "ended") continue;
    agents.delete(id);
    return;
  }
}

/** Maximum number of pending handoffs of a trace. A handoff is pending until its next agent starts. */
const MAX_HANDOFFS = 64;

/** Records a handoff to the agent with that name, which starts later. */
export function handOff(trace: TraceRecord, run: AgentRun, to: string): void {
  run.handedOff = true;
  trace.handoffs.push({ from: run, to });
  if (trace.handoffs.length > MAX_HANDOFFS) trace.handoffs.shift();
}

/**
 * Removes and returns the agent that handed off to a new agent. Both are in the same tool call, or both at the top.
 *
 * @param scope the scope of the new agent.
 */
export function takeHandoff(
  { handoffs }: TraceRecord,
  agent: string,
  scope: Scope,
): string | undefined {
  const index = handoffs.findIndex(({ from, to }) => to === agent && isBeside(from, scope));
  return index < 0 ? undefined : handoffs.splice(index, 1)[0]?.from.agent;
}

function isBeside(run: AgentRun, { run: parent, toolUseId }: Scope): boolean {
  if (parent === undefined) return run.top;
  return run.parent === parent && run.parentToolUseId === toolUseId;
}
