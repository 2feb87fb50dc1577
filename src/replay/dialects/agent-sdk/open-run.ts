import {
  type Instant,
  numberOf,
  type RunEnd,
  type SignalAttributes,
} from "../../../events/door.ts";
import type { AgentSdkEvent, Count, SubagentProgress } from "./events.ts";
import type { ModelTurn } from "./model-turn.ts";
import { RunTotals, type ThreadTotals } from "./run-totals.ts";
import { toolOf } from "./sub-agent.ts";

/**
 * Maximum number in each of three tables of a run: tracked open calls, other open calls, ended tracked calls. The
 * oldest is forgotten beyond it.
 */
const MAX_CALLS = 256;

/** Tenant, stream and thread of a run. */
interface RunScope {
  readonly tenantId: string;
  readonly stream: string;
  readonly threadId?: string;
  readonly totals: ThreadTotals;
}

/** An open call without tracked state. */
interface OpenCall {
  readonly name: string;
  readonly startedAt: Instant;
}

/** State of a run that its next events depend on. */
export class OpenRun {
  readonly tenantId: string;
  readonly runId: string;
  /** Input of the IDs of its sub-agents. */
  readonly stream: string;
  /** Absent until a line names it. */
  threadId: string | undefined;
  open = true;
  /** Whether events beyond its prompt were seen. */
  active = false;
  /** The durable task of the run or of its last turn, if events name one. */
  taskId: string | undefined;
  /** Usage of the run. */
  readonly totals: RunTotals;
  model: ModelTurn | undefined;
  /** The last turn whose model call is over. */
  lastTurn: Count | undefined;
  /** Whether the last model call failed for good. */
  retriesUsedUp = false;
  /** How it ended if no further event comes. The lifecycle has the same value. */
  mayEnd: RunEnd | undefined;
  /** The wait for a human: with the ID of a call, or without for answers to questions. */
  waitsFor: { readonly callId: string | undefined; readonly end: RunEnd } | undefined;
  /** ID of the last streamed thinking, and of the last text. */
  lastThoughtId: string | undefined;
  lastMessageId: string | undefined;
  /** Time of its last event. */
  lastAt: Instant;
  /** Time of the last event that was reported to the lifecycle. */
  reportedAt: Instant;
  /** Number of open calls that were forgotten. */
  forgottenCalls = 0;
  #compactions = 0;
  #tokensRemoved = 0;
  /** Open calls with tracked state. Most runs have none. */
  #calls: Map<string, NotedCall> | undefined;
  /** The other open calls. */
  #others: Map<string, OpenCall> | undefined;
  /** Ended calls that had tracked state. */
  #ended: Map<string, true> | undefined;

  constructor(scope: RunScope, runId: string, at: Instant) {
    this.tenantId = scope.tenantId;
    this.stream = scope.stream;
    this.threadId = scope.threadId;
    this.runId = runId;
    this.totals = new RunTotals(scope.totals);
    this.lastAt = at;
    this.reportedAt = at;
  }

  /** A run that was over before any of its events was seen. */
  static over(scope: RunScope, runId: string, at: Instant): OpenRun {
    const run = new OpenRun(scope, runId, at);
    run.close();
    return run;
  }

  /** Opens a call without tracked state. */
  opened(callId: string, name: string, startedAt: Instant): void {
    this.#others ??= new Map();
    if (putNewest(this.#others, callId, { name, startedAt })) this.forgottenCalls += 1;
  }

  /** The tracked state of an open call. Begins tracking if needed. */
  notedOrNew(callId: string, name: string): NotedCall {
    const open = this.#others?.get(callId);
    return this.#calls?.get(callId) ?? this.note(callId, open?.name ?? name, open?.startedAt);
  }

  /** Begins to track an open call. */
  note(callId: string, name: string, startedAt: Instant | undefined): NotedCall {
    const call = new NotedCall(name, startedAt);
    this.#others?.delete(callId);
    this.#calls ??= new Map();
    if (putNewest(this.#calls, callId, call)) this.forgottenCalls += 1;
    return call;
  }

  /** Whether a human was asked about this open call. */
  wasAsked(callId: string): boolean {
    return this.#calls?.get(callId)?.askedAt !== undefined;
  }

  /** Whether an event belongs to a tracked open call. */
  notedOf(event: AgentSdkEvent): boolean {
    if (event.type === "subagent_progress") return this.callOf(event) !== undefined;
    return "id" in event && this.#calls?.has(event.id) === true;
  }

  /** Whether a call with this ID is open. */
  hasOpen(callId: string): boolean {
    return this.#calls?.has(callId) === true || this.#others?.has(callId) === true;
  }

  /** Forgets a call that ended, and returns its tracked state. */
  forget(callId: string): NotedCall | undefined {
    const call = this.#calls?.get(callId);
    this.#others?.delete(callId);
    if (call === undefined) return undefined;
    this.#calls?.delete(callId);
    this.#ended ??= new Map();
    putNewest(this.#ended, callId, true);
    return call;
  }

  /** The ID of the open call that runs a sub-agent, if it is certain. */
  callOf({ subagent_id, subagent_name }: SubagentProgress): string | undefined {
    // Upstream's documentation, but not its code, uses the call's ID.
    if (subagent_id !== "" && this.hasOpen(subagent_id)) return subagent_id;
    if (this.#calls === undefined || this.#ended?.has(subagent_id)) return undefined;
    const name = toolOf(subagent_name);
    let free: string | undefined;
    let several = false;
    for (const [id, call] of this.#calls) {
      if (call.name !== name) continue;
      if (call.subagentId === subagent_id) return id;
      if (call.subagentId !== undefined) continue;
      several ||= free !== undefined;
      free = id;
    }
    return several ? undefined : free;
  }

  /** Adds a compaction to the run's totals. A run may lose its span events, but not its totals. */
  compactedBy(before: Count, after: Count): SignalAttributes {
    this.#compactions += 1;
    this.#tokensRemoved += Math.max(0, Number(before) - Number(after));
    return {
      "entelix.compaction.count": this.#compactions,
      "entelix.compaction.tokens_removed": numberOf(this.#tokensRemoved),
    };
  }

  /** The run is over. Only late events can follow. */
  close(): void {
    this.open = false;
    this.model = undefined;
    this.waitsFor = undefined;
    this.mayEnd = undefined;
    this.#calls = undefined;
    this.#others = undefined;
    this.#ended = undefined;
  }
}

/** @returns whether the oldest was removed. */
function putNewest<T>(calls: Map<string, T>, callId: string, value: T): boolean {
  calls.delete(callId);
  calls.set(callId, value);
  if (calls.size <= MAX_CALLS) return false;
  const [oldest] = calls.keys();
  if (oldest !== undefined) calls.delete(oldest);
  return true;
}

/** Tracked state of an open tool call. Most calls need none. */
export class NotedCall {
  readonly name: string;
  /** Absent if the start was not seen. */
  readonly startedAt: Instant | undefined;
  /** When a human was asked about the call. */
  askedAt: Instant | undefined;
  /** Number of progress messages of the call or its sub-agent. */
  progress = 0;
  subagentId: string | undefined;
  /** The sub-agent's name from its progress. */
  childName: string | undefined;
  childThreadId: string | undefined;
  childModel: string | undefined;
  /** Whether the audit log has a row of the sub-agent. */
  childRecorded = false;

  constructor(name: string, startedAt: Instant | undefined) {
    this.name = name;
    this.startedAt = startedAt;
  }

  /** Takes progress of the sub-agent that the call runs. */
  takeChildProgress(event: SubagentProgress): void {
    this.progress += 1;
    this.subagentId = event.subagent_id;
    this.childName ??= event.subagent_name || undefined;
    this.childThreadId ??= event.child_thread_id ?? undefined;
    this.childModel ??= event.model ?? undefined;
  }
}
