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
 * Open calls of a run that something is noted of, those that nothing is noted of, and ended ones whose
 * ids are remembered, each; the oldest is forgotten beyond that.
 */
const MAX_CALLS = 256;

/** Whose a run is. */
interface RunPosition {
  readonly tenantId: string;
  readonly stream: string;
  readonly threadId?: string;
  readonly totals: ThreadTotals;
}

/** An open call that nothing is noted of. */
interface OpenCall {
  readonly name: string;
  readonly startedAt: Instant;
}

/** A run of a thread, as far as its next events depend on it. */
export class OpenRun {
  readonly tenantId: string;
  readonly runId: string;
  /** What the ids of its sub-agents are made of. */
  readonly stream: string;
  /** Absent as long as no line named it. */
  threadId: string | undefined;
  open = true;
  /** Whether more than its prompt was seen of it. */
  active = false;
  /** The durable task that runs it, or its last turn, where its events name one. */
  taskId: string | undefined;
  /** What it used. */
  readonly totals: RunTotals;
  model: ModelTurn | undefined;
  /** The last turn whose model call is over. */
  lastTurn: Count | undefined;
  /** Whether the last model call failed for good. */
  retriesUsedUp = false;
  /** How it ended, if nothing more is heard of it; the lifecycle holds the same. */
  mayEnd: RunEnd | undefined;
  /** What it waits for: the id of a call, or none for an answer to a question. */
  waitsFor: { readonly callId: string | undefined; readonly end: RunEnd } | undefined;
  /** The thinking that was streamed last, and the text that came last. */
  lastThoughtId: string | undefined;
  lastMessageId: string | undefined;
  /** Time of its last event. */
  heardAt: Instant;
  /** Time of the last event that the lifecycle was told of. */
  toldAt: Instant;
  /** Open calls that were forgotten. */
  forgottenCalls = 0;
  #compactions = 0;
  #tokensRemoved = 0;
  /** Absent while nothing was noted, as of most runs. */
  #calls: Map<string, NotedCall> | undefined;
  /** The other open calls. */
  #others: Map<string, OpenCall> | undefined;
  /** The calls that something was noted of, and that ended. */
  #ended: Map<string, true> | undefined;

  constructor(place: RunPosition, runId: string, at: Instant) {
    this.tenantId = place.tenantId;
    this.stream = place.stream;
    this.threadId = place.threadId;
    this.runId = runId;
    this.totals = new RunTotals(place.totals);
    this.heardAt = at;
    this.toldAt = at;
  }

  /** A run that was over before anything was seen of it. */
  static over(place: RunPosition, runId: string, at: Instant): OpenRun {
    const run = new OpenRun(place, runId, at);
    run.close();
    return run;
  }

  /** A call opens of which there is nothing to note. */
  opened(callId: string, name: string, startedAt: Instant): void {
    this.#others ??= new Map();
    if (putNewest(this.#others, callId, { name, startedAt })) this.forgottenCalls += 1;
  }

  /** What was noted of an open call; from now on something is. */
  notedOrNew(callId: string, name: string): NotedCall {
    const open = this.#others?.get(callId);
    return this.#calls?.get(callId) ?? this.note(callId, open?.name ?? name, open?.startedAt);
  }

  /** Begins to note something of a call that opens. */
  note(callId: string, name: string, startedAt: Instant | undefined): NotedCall {
    const call = new NotedCall(name, startedAt);
    this.#others?.delete(callId);
    this.#calls ??= new Map();
    if (putNewest(this.#calls, callId, call)) this.forgottenCalls += 1;
    return call;
  }

  /** Whether a human was asked about the call, which has not ended since. */
  wasAsked(callId: string): boolean {
    return this.#calls?.get(callId)?.askedAt !== undefined;
  }

  /** Whether an event is of an open call that something is noted of: of a sub-agent, or asked about. */
  notedOf(event: AgentSdkEvent): boolean {
    if (event.type === "subagent_progress") return this.callOf(event) !== undefined;
    return "id" in event && this.#calls?.has(event.id) === true;
  }

  /** Whether a call of this id is open. */
  hasOpen(callId: string): boolean {
    return this.#calls?.has(callId) === true || this.#others?.has(callId) === true;
  }

  /** Forgets a call that ended; returns what was noted of it. */
  forget(callId: string): NotedCall | undefined {
    const call = this.#calls?.get(callId);
    this.#others?.delete(callId);
    if (call === undefined) return undefined;
    this.#calls?.delete(callId);
    this.#ended ??= new Map();
    putNewest(this.#ended, callId, true);
    return call;
  }

  /** The id of the open call that runs a sub-agent, where there is no doubt which it is. */
  callOf({ subagent_id, subagent_name }: SubagentProgress): string | undefined {
    // What upstream's documentation says, and its code does not do: the id is that of the call.
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

  /** The context was compacted: the totals, which outlast the span events that a run may lose. */
  compactedBy(before: Count, after: Count): SignalAttributes {
    this.#compactions += 1;
    this.#tokensRemoved += Math.max(0, Number(before) - Number(after));
    return {
      "entelix.compaction.count": this.#compactions,
      "entelix.compaction.tokens_removed": numberOf(this.#tokensRemoved),
    };
  }

  /** The run is over: nothing but late events can come. */
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

/** @returns whether the oldest had to go. */
function putNewest<T>(calls: Map<string, T>, callId: string, value: T): boolean {
  calls.delete(callId);
  calls.set(callId, value);
  if (calls.size <= MAX_CALLS) return false;
  const [oldest] = calls.keys();
  if (oldest !== undefined) calls.delete(oldest);
  return true;
}

/** What has to be known of an open tool call until its end; of most calls nothing has to. */
export class NotedCall {
  readonly name: string;
  /** Absent where the start was not seen. */
  readonly startedAt: Instant | undefined;
  /** When a human was asked about it. */
  askedAt: Instant | undefined;
  /** Progress messages, its own or of the sub-agent that it runs. */
  progress = 0;
  subagentId: string | undefined;
  /** The sub-agent's name, as its progress has it. */
  childName: string | undefined;
  childThreadId: string | undefined;
  childModel: string | undefined;
  /** Whether the audit log knows of the sub-agent. */
  childRecorded = false;

  constructor(name: string, startedAt: Instant | undefined) {
    this.name = name;
    this.startedAt = startedAt;
  }

  /** The sub-agent that the call runs has something to say. */
  heardOfChild(event: SubagentProgress): void {
    this.progress += 1;
    this.subagentId = event.subagent_id;
    this.childName ??= event.subagent_name || undefined;
    this.childThreadId ??= event.child_thread_id ?? undefined;
    this.childModel ??= event.model ?? undefined;
  }
}
