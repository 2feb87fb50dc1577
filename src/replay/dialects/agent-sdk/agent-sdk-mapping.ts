import {
  checkWhole,
  compareInstants,
  type Instant,
  millisecondsBetween,
  type Signal,
} from "../../../events/door.ts";
import type { JsonObject, LineEnvelope } from "../dialect.ts";
import { derivedRunId, type Mapping, type Translated } from "../mapping.ts";
import { auditRow, isRepeat } from "./audit-rows.ts";
import {
  type AgentSdkEvent,
  type Count,
  type ErrorEvent,
  type SubagentProgress,
  type ToolCallEnd,
  type ToolCallStart,
  unknownFields,
} from "./events.ts";
import {
  closeLast,
  closeModel,
  modelRetries,
  modelSpeaks,
  modelStarts,
  retriesEnd,
  turnCompletes,
} from "./model-calls.ts";
import { accountChanged, compacted, confirmationPause, questionPause } from "./notes.ts";
import { OpenRun } from "./open-run.ts";
import { Reading, type Said, SOURCE } from "./reading.ts";
import { beginsAnew, isOfOtherTask, mayOpen, nameThread, startOf } from "./run-openings.ts";
import { isParked, sums, withOwnTotals } from "./run-totals.ts";
import { childStream, subAgentInvoked, subAgentOf, subAgentRun } from "./sub-agent.ts";
import { completed, endOf, isTerminal } from "./terminals.ts";
import { goesOn, opensThread, type Thread, Threads } from "./threads.ts";
import { callEnds, callOpens } from "./tool-calls.ts";

export interface AgentSdkMappingOptions {
  /** Whose events they are where the envelope does not say. Default `default`. */
  readonly tenant?: string | undefined;
  /** Threads remembered, at least; at most twice as many. Default 10,000. */
  readonly threads?: number | undefined;
  /** Whether audit entries are made, and what has none is counted. Default true. */
  readonly rows?: boolean | undefined;
}

/** How often something was seen that leaves less behind than it could. */
export interface AgentSdkCounts {
  /** Events of a run or turn that was over; their audit entries are made all the same. */
  lateEvents: number;
  /** Ends, and what may have been one, without a counterpart in the failure taxonomy. */
  unclassifiedEnds: number;
  /** Progress of a sub-agent of which none is open, or several are. */
  unplacedProgress: number;
  /** Events with fields that this version does not know. */
  eventsWithUnknownFields: number;
  /** Calls that were forgotten while they were open: too many were. */
  forgottenCalls: number;
}

const DEFAULT_THREADS = 10_000;
/** A run that only streams tells the lifecycle so often that it lives, in ms. */
const SIGN_OF_LIFE_MS = 60_000;

/**
 * Reads agent-sdk events as signals and audit entries. A run is what happens on a thread from a
 * prompt, or the first turn, to a terminal; `docs/dialects.md` has the whole table.
 *
 * @example
 * const mapping = new AgentSdkMapping({ tenant: "acme" });
 * const { signals, rows } = mapping.translate(decoded.event, decoded.envelope);
 */
export class AgentSdkMapping implements Mapping<AgentSdkEvent> {
  readonly unprojected = new Map<string, number>();
  readonly counts: AgentSdkCounts = {
    lateEvents: 0,
    unclassifiedEnds: 0,
    unplacedProgress: 0,
    eventsWithUnknownFields: 0,
    forgottenCalls: 0,
  };
  readonly #threads: Threads;
  readonly #projects: boolean;

  /** @throws RangeError when `threads` is no whole number from 1. */
  constructor(options: AgentSdkMappingOptions = {}) {
    const threads = options.threads ?? DEFAULT_THREADS;
    checkWhole(threads, "threads", 1);
    this.#projects = options.rows ?? true;
    this.#threads = new Threads(options.tenant ?? "default", threads);
  }

  /** Threads that were forgotten: what comes of one after that is a run of its own. */
  get forgottenThreads(): number {
    return this.#threads.forgotten;
  }

  translate(event: AgentSdkEvent, envelope: LineEnvelope): Translated {
    const copy = this.#threads.copy(event, envelope);
    if (copy !== undefined) {
      this.#countUnprojected(event.type);
      return { ...copy, signals: [], rows: [] };
    }
    const named = this.#threads.of(envelope, opensThread(event), goesOn(event));
    const thread = this.#threads.ofCall(named, event, envelope);
    const ordinal = thread.ordinals.next();
    const opening = envelope.event_id ?? String(ordinal);
    const said: Said = { signals: [], rows: [] };
    if (event.type === "thread_created") this.#countUnprojected(event.type);
    else {
      const at: Instant = [envelope.timestamp[0], envelope.timestamp[1]];
      const { sequence } = envelope;
      const run = this.#runOf(event, thread, opening, { at, sequence }, said);
      const reading = new Reading(run, at, said);
      if (run.open) this.#read(event, reading, opening);
      else this.#readLate(event, reading, opening);
      if (this.#projects) this.#project(event, reading);
    }
    const { tenantId, threadId } = thread;
    return { tenantId, threadId, signals: said.signals, rows: said.rows };
  }

  keepAlive(_: JsonObject, envelope: LineEnvelope): Signal | undefined {
    const run = this.#threads.runOf(envelope);
    if (run === undefined || !run.open) return undefined;
    const at: Instant = [envelope.timestamp[0], envelope.timestamp[1]];
    // It may say anything, and so nothing against an end that the run may have had.
    if (run.mayEnd === undefined && compareInstants(at, run.heardAt) > 0) run.heardAt = at;
    const { runId, tenantId } = run;
    return { signal: "activity", tenantId, runId, at };
  }

  /** Model calls whose turn was not told to be over end as they stood, and runs when last heard of. */
  end(): readonly Translated[] {
    const all: Translated[] = [];
    for (const run of this.#threads.openRuns()) {
      const { heardAt, mayEnd, model, toldAt } = run;
      const reading = new Reading(run, heardAt, { signals: [], rows: [] });
      const { signals, rows } = reading.said;
      if (model !== undefined) {
        // What waits for a human has been said to its end.
        const answered = mayEnd === undefined ? model.toolsBegan : model.answered;
        closeModel(reading, model, { unfinished: !answered });
        // The lifecycle takes that for a sign of life, and it is none.
        if (mayEnd !== undefined) reading.mayEnd(mayEnd);
      }
      if (compareInstants(heardAt, toldAt) > 0) reading.keepAlive();
      if (signals.length === 0) continue;
      all.push({ tenantId: run.tenantId, threadId: run.threadId, signals, rows });
    }
    return all;
  }

  /** The run of an event: the thread's, or a new one. */
  #runOf(
    event: AgentSdkEvent,
    thread: Thread,
    opening: string,
    { at, sequence }: { readonly at: Instant; readonly sequence: Count | undefined },
    said: Said,
  ): OpenRun {
    const { run, tenantId, threadId } = thread;
    if (isOfOtherTask(event, run, thread.before)) {
      thread.before ??= OpenRun.over(thread, derivedRunId(tenantId, thread.stream, opening), at);
      return thread.before;
    }
    const opens = mayOpen(event, sequence, run);
    if (run !== undefined) {
      if (!opens || (run.open && !beginsAnew(event, sequence, run))) {
        if (run.threadId !== threadId) nameThread(new Reading(run, at, said), threadId);
        return run;
      }
      if (run.open) this.#supersede(new Reading(run, run.heardAt, said));
    }
    const next = new OpenRun(thread, derivedRunId(tenantId, thread.stream, opening), at);
    thread.before = run;
    thread.run = next;
    const reading = new Reading(next, startOf(event, at), said);
    if (event.type === "budget_exceeded" && opens) next.totals.beginsAfter(event.total_turns);
    if (opens) reading.opens(threadId);
    // No `run_opens`: the lifecycle marks the run as one whose start was not seen.
    else reading.attributes({ ...SOURCE, "gen_ai.conversation.id": threadId });
    return next;
  }

  /** Another run begins: this one ended when it was last heard of, as it may have or nobody knows how. */
  #supersede(reading: Reading): void {
    const { mayEnd } = reading.run;
    closeLast(reading);
    reading.end(mayEnd ?? { outcome: "abandoned", reason: "superseded" }, true);
  }

  #read(event: AgentSdkEvent, reading: Reading, opening: string): void {
    const { run, at } = reading;
    const { signals } = reading.said;
    const { waitsFor, mayEnd, forgottenCalls } = run;
    const before = signals.length;
    run.heardAt = at;
    run.mayEnd = undefined;
    this.#carryOut(event, reading, opening);
    if (event.type !== "user_input") run.active = true;
    // Other calls may go on beside the one that waits for a human; they do not answer for the human.
    if (waitsFor !== undefined && run.waitsFor === waitsFor) reading.mayEnd(waitsFor.end);
    this.counts.forgottenCalls += run.forgottenCalls - forgottenCalls;
    const quiet = millisecondsBetween(run.toldAt, at) < SIGN_OF_LIFE_MS;
    if (signals.length === before && quiet && mayEnd === undefined) return;
    if (signals.length === before) reading.attributes({});
    run.toldAt = at;
  }

  /** Of a run that is over only the end of a call can still say something. */
  #readLate(event: AgentSdkEvent, reading: Reading, opening: string): void {
    if (event.type === "tool_call_end") this.#endCall(event, reading, opening);
    else {
      this.counts.lateEvents += 1;
      reading.late(isTerminal(event) ? "second_terminal" : "after_end");
    }
  }

  #carryOut(event: AgentSdkEvent, reading: Reading, opening: string): void {
    const { run } = reading;
    switch (event.type) {
      case "user_input":
        if (run.active) reading.note({ name: "entelix.user_input" });
        return;
      case "start":
        run.taskId = event.emitter_task_id ?? run.taskId;
        if (!run.active) run.totals.beginsAfter(Number(event.turn) - 1);
        modelStarts(reading, event.turn);
        return;
      case "thinking_delta":
        run.lastThoughtId = event.message_id;
        modelSpeaks(reading, true);
        return;
      case "text_delta":
        modelSpeaks(reading, true);
        return;
      case "thinking":
        modelSpeaks(reading, false);
        return;
      case "text":
        run.lastMessageId = event.message_id;
        modelSpeaks(reading, false);
        return;
      case "auto_retry_start":
        modelRetries(reading, event);
        return;
      case "auto_retry_end":
        retriesEnd(reading, event);
        return;
      case "tool_call_start":
        this.#startCall(event, reading);
        return;
      case "tool_call_end":
        this.#endCall(event, reading, opening);
        return;
      case "tool_progress":
        run.notedOrNew(event.id, event.name).progress += 1;
        return;
      case "tool_requires_confirmation":
        run.model?.toolStarted(reading.at);
        run.notedOrNew(event.id, event.name).askedAt = reading.at;
        run.waitsFor = { callId: event.id, end: confirmationPause(event) };
        reading.mayEnd(run.waitsFor.end);
        return;
      case "question_asked":
        run.model?.wasHeardOut();
        run.waitsFor = { callId: undefined, end: questionPause(event) };
        reading.mayEnd(run.waitsFor.end);
        return;
      case "subagent_progress":
        this.#hearOfChild(event, reading);
        return;
      case "turn_complete":
        if (turnCompletes(reading, event)) return;
        if (isParked(event, run)) reading.mayEnd(completed(run.totals.own(sums(event))));
        else this.counts.lateEvents += 1;
        return;
      case "context_compacted":
        reading.note(compacted(event));
        reading.attributes(run.compactedBy(event.original_tokens, event.new_tokens));
        return;
      case "account_rotation":
      case "account_pool_exhausted":
        reading.note(accountChanged(event));
        return;
      case "error":
        this.#fail(event, reading);
        return;
      case "refusal":
        run.model?.keepAlive(reading.at, false);
        run.model?.wasHeardOut();
        closeLast(reading);
        reading.end(endOf(event, run.retriesUsedUp));
        return;
      case "done":
      case "cancelled":
      case "budget_exceeded":
        if (event.type !== "cancelled") run.model?.wasHeardOut();
        closeLast(reading);
        reading.end(endOf(withOwnTotals(event, run.totals), run.retriesUsedUp));
        return;
      case "thread_created":
        return;
      default:
        event satisfies never;
    }
  }

  #startCall(event: ToolCallStart, reading: Reading): void {
    const { run, at } = reading;
    run.model?.toolStarted(at);
    // An agent that resumes says of the calls that still wait for a human that they start.
    if (run.wasAsked(event.id)) return;
    if (subAgentOf(event.name) === undefined) run.opened(event.id, event.name, at);
    else run.note(event.id, event.name, at);
    reading.said.signals.push(callOpens(event, reading));
  }

  #endCall(event: ToolCallEnd, reading: Reading, opening: string): void {
    const { run } = reading;
    const { signals } = reading.said;
    const noted = run.forget(event.id);
    // A run that waits for answers to questions is parked whole: a call that ends was answered.
    if ((run.waitsFor?.callId ?? event.id) === event.id) run.waitsFor = undefined;
    const name = subAgentOf(event.name) ?? noted?.childName;
    if (name !== undefined) {
      const stream = childStream(run.stream, event.id);
      const child = derivedRunId(run.tenantId, stream, opening);
      const told = subAgentRun(event, name, noted, reading, child);
      for (const signal of told) signals.push(signal);
      this.#countUnclassified(told);
      if (told.length > 0 && !noted?.childRecorded && this.#projects) {
        reading.row(subAgentInvoked(name, noted?.childThreadId ?? stream, reading.timestamp));
      }
    }
    for (const signal of callEnds(event, noted, reading)) signals.push(signal);
  }

  #hearOfChild(event: SubagentProgress, reading: Reading): void {
    const { run } = reading;
    const name = event.subagent_name;
    const callId = run.callOf(event);
    if (callId === undefined) {
      this.counts.unplacedProgress += 1;
      return;
    }
    const call = run.notedOrNew(callId, name);
    call.heardOfChild(event);
    if (call.childRecorded || call.childThreadId === undefined) return;
    call.childRecorded = true;
    if (this.#projects) {
      reading.row(subAgentInvoked(name, call.childThreadId, reading.timestamp));
    }
  }

  /** Upstream calls errors recoverable after which nothing comes, so the next event decides. */
  #fail(event: ErrorEvent, reading: Reading): void {
    const { run } = reading;
    const { message, reason } = event;
    run.waitsFor = undefined;
    if (reason?.reason === "provider_error" && run.model !== undefined) {
      const { kind } = reason;
      const problem = { type: typeof kind === "string" ? kind : undefined, message };
      closeModel(reading, run.model, { problem });
    } else if (event.recoverable) run.model?.erred(reading.at);
    else closeLast(reading);
    const end = endOf(event, run.retriesUsedUp);
    if (event.recoverable) reading.mayEnd(end);
    else reading.end(end);
    this.#countUnclassified(reading.said.signals);
  }

  #countUnclassified(signals: readonly Signal[]): void {
    for (const signal of signals) {
      if (signal.signal !== "run_closes" && signal.signal !== "run_may_end") continue;
      const { end } = signal;
      if (end.outcome === "failed" && end.kind.type === "unclassified") {
        this.counts.unclassifiedEnds += 1;
      }
    }
  }

  #project(event: AgentSdkEvent, reading: Reading): void {
    const extras = unknownFields(event);
    if (extras !== undefined) this.counts.eventsWithUnknownFields += 1;
    const row = auditRow(event, reading, extras);
    if (row !== undefined) reading.row(row);
    if (reading.said.rows.length > 0 || isRepeat(event, reading.run)) return;
    this.#countUnprojected(event.type);
  }

  #countUnprojected(type: AgentSdkEvent["type"]): void {
    this.unprojected.set(type, (this.unprojected.get(type) ?? 0) + 1);
  }
}
