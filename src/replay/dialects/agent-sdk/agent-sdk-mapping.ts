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
import { type EventOutput, Reading, SOURCE } from "./reading.ts";
import { beginsAnew, isOfOtherTask, mayOpen, nameThread, startOf } from "./run-openings.ts";
import { isParked, sums, withOwnTotals } from "./run-totals.ts";
import { childStream, subAgentInvoked, subAgentOf, subAgentRun } from "./sub-agent.ts";
import { completed, endOf, isTerminal } from "./terminals.ts";
import { goesOn, opensThread, type Thread, Threads } from "./threads.ts";
import { callEnds, callOpens } from "./tool-calls.ts";

export interface AgentSdkMappingOptions {
  /** Tenant of events whose envelope names none. Default `default`. */
  readonly tenant?: string | undefined;
  /** Minimum number of remembered threads. The maximum is twice that. Default 10,000. */
  readonly threads?: number | undefined;
  /** Whether audit rows are made, and events without one are counted. Default true. */
  readonly rows?: boolean | undefined;
}

/** Counts of events that could not be mapped completely. */
export interface AgentSdkCounts {
  /** Events of a run or turn that was over. Their audit rows are written. */
  lateEvents: number;
  /** Ends, and possible ends, without a counterpart in the failure taxonomy. */
  unclassifiedEnds: number;
  /** Progress of a sub-agent if no open call, or more than one, may run it. */
  unplacedProgress: number;
  /** Events with fields that this version does not know. */
  eventsWithUnknownFields: number;
  /** Open calls that were forgotten because there were too many. */
  forgottenCalls: number;
}

const DEFAULT_THREADS = 10_000;
/** A run that only streams reports activity to the lifecycle this often, in ms. */
const ACTIVITY_INTERVAL_MS = 60_000;

/**
 * Reads agent-sdk events as signals and audit rows. A run lasts from a prompt, or the first turn, to a terminal event.
 * `docs/dialects.md` has the full table.
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

  /** @throws RangeError if `threads` is not a whole number from 1. */
  constructor(options: AgentSdkMappingOptions = {}) {
    const threads = options.threads ?? DEFAULT_THREADS;
    checkWhole(threads, "threads", 1);
    this.#projects = options.rows ?? true;
    this.#threads = new Threads(options.tenant ?? "default", threads);
  }

  /** Forgotten threads. Later events of one begin a new run. */
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
    const output: EventOutput = { signals: [], rows: [] };
    if (event.type === "thread_created") this.#countUnprojected(event.type);
    else {
      const at: Instant = [envelope.timestamp[0], envelope.timestamp[1]];
      const { sequence } = envelope;
      const run = this.#runOf(event, thread, opening, { at, sequence }, output);
      const reading = new Reading(run, at, output);
      if (run.open) this.#read(event, reading, opening);
      else this.#readLate(event, reading, opening);
      if (this.#projects) this.#project(event, reading);
    }
    const { tenantId, threadId } = thread;
    return { tenantId, threadId, signals: output.signals, rows: output.rows };
  }

  keepAlive(_: JsonObject, envelope: LineEnvelope): Signal | undefined {
    const run = this.#threads.runOf(envelope);
    if (run === undefined || !run.open) return undefined;
    const at: Instant = [envelope.timestamp[0], envelope.timestamp[1]];
    // The line may mean anything, so it does not cancel a possible end.
    if (run.mayEnd === undefined && compareInstants(at, run.lastAt) > 0) run.lastAt = at;
    const { runId, tenantId } = run;
    return { signal: "activity", tenantId, runId, at };
  }

  /** Closes open model calls, and reports the last activity of open runs. */
  end(): readonly Translated[] {
    const all: Translated[] = [];
    for (const run of this.#threads.openRuns()) {
      const { lastAt, mayEnd, model, reportedAt } = run;
      const reading = new Reading(run, lastAt, { signals: [], rows: [] });
      const { signals, rows } = reading.output;
      if (model !== undefined) {
        // A run that waits for a human has its whole answer.
        const answered = mayEnd === undefined ? model.toolsBegan : model.answered;
        closeModel(reading, model, { unfinished: !answered });
        // The lifecycle takes the closed call as activity, so the possible end is repeated.
        if (mayEnd !== undefined) reading.mayEnd(mayEnd);
      }
      if (compareInstants(lastAt, reportedAt) > 0) reading.keepAlive();
      if (signals.length === 0) continue;
      all.push({ tenantId: run.tenantId, threadId: run.threadId, signals, rows });
    }
    return all;
  }

  /** The run of an event: the thread's current run, or a new one. */
  #runOf(
    event: AgentSdkEvent,
    thread: Thread,
    opening: string,
    { at, sequence }: { readonly at: Instant; readonly sequence: Count | undefined },
    output: EventOutput,
  ): OpenRun {
    const { run, tenantId, threadId } = thread;
    if (isOfOtherTask(event, run, thread.before)) {
      thread.before ??= OpenRun.over(thread, derivedRunId(tenantId, thread.stream, opening), at);
      return thread.before;
    }
    const opens = mayOpen(event, sequence, run);
    if (run !== undefined) {
      if (!opens || (run.open && !beginsAnew(event, sequence, run))) {
        if (run.threadId !== threadId) nameThread(new Reading(run, at, output), threadId);
        return run;
      }
      if (run.open) this.#supersede(new Reading(run, run.lastAt, output));
    }
    const next = new OpenRun(thread, derivedRunId(tenantId, thread.stream, opening), at);
    thread.before = run;
    thread.run = next;
    const reading = new Reading(next, startOf(event, at), output);
    if (event.type === "budget_exceeded" && opens) next.totals.beginsAfter(event.total_turns);
    if (opens) reading.opens(threadId);
    // Without `run_opens` the lifecycle marks the run as one whose start was not seen.
    else reading.attributes({ ...SOURCE, "gen_ai.conversation.id": threadId });
    return next;
  }

  /** A new run begins. The old one ended with its last event: as announced, or abandoned. */
  #supersede(reading: Reading): void {
    const { mayEnd } = reading.run;
    closeLast(reading);
    reading.end(mayEnd ?? { outcome: "abandoned", reason: "superseded" }, true);
  }

  #read(event: AgentSdkEvent, reading: Reading, opening: string): void {
    const { run, at } = reading;
    const { signals } = reading.output;
    const { waitsFor, mayEnd, forgottenCalls } = run;
    const before = signals.length;
    run.lastAt = at;
    run.mayEnd = undefined;
    this.#carryOut(event, reading, opening);
    if (event.type !== "user_input") run.active = true;
    // Events of other calls do not answer the question that the run waits for.
    if (waitsFor !== undefined && run.waitsFor === waitsFor) reading.mayEnd(waitsFor.end);
    this.counts.forgottenCalls += run.forgottenCalls - forgottenCalls;
    const quiet = millisecondsBetween(run.reportedAt, at) < ACTIVITY_INTERVAL_MS;
    if (signals.length === before && quiet && mayEnd === undefined) return;
    if (signals.length === before) reading.attributes({});
    run.reportedAt = at;
  }

  /** After the end of a run only the end of a call has a meaning. */
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
        run.model?.completeAnswer();
        run.waitsFor = { callId: undefined, end: questionPause(event) };
        reading.mayEnd(run.waitsFor.end);
        return;
      case "subagent_progress":
        this.#childProgress(event, reading);
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
        run.model?.completeAnswer();
        closeLast(reading);
        reading.end(endOf(event, run.retriesUsedUp));
        return;
      case "done":
      case "cancelled":
      case "budget_exceeded":
        if (event.type !== "cancelled") run.model?.completeAnswer();
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
    // A resumed agent reports the start of calls that still wait for a human once more.
    if (run.wasAsked(event.id)) return;
    if (subAgentOf(event.name) === undefined) run.opened(event.id, event.name, at);
    else run.note(event.id, event.name, at);
    reading.output.signals.push(callOpens(event, reading));
  }

  #endCall(event: ToolCallEnd, reading: Reading, opening: string): void {
    const { run } = reading;
    const { signals } = reading.output;
    const noted = run.forget(event.id);
    // While a run waits for answers to questions, no call runs: a call that ends was answered.
    if ((run.waitsFor?.callId ?? event.id) === event.id) run.waitsFor = undefined;
    const name = subAgentOf(event.name) ?? noted?.childName;
    if (name !== undefined) {
      const stream = childStream(run.stream, event.id);
      const child = derivedRunId(run.tenantId, stream, opening);
      const childSignals = subAgentRun(event, name, noted, reading, child);
      for (const signal of childSignals) signals.push(signal);
      this.#countUnclassified(childSignals);
      if (childSignals.length > 0 && !noted?.childRecorded && this.#projects) {
        reading.row(subAgentInvoked(name, noted?.childThreadId ?? stream, reading.timestamp));
      }
    }
    for (const signal of callEnds(event, noted, reading)) signals.push(signal);
  }

  #childProgress(event: SubagentProgress, reading: Reading): void {
    const { run } = reading;
    const name = event.subagent_name;
    const callId = run.callOf(event);
    if (callId === undefined) {
      this.counts.unplacedProgress += 1;
      return;
    }
    const call = run.notedOrNew(callId, name);
    call.takeChildProgress(event);
    if (call.childRecorded || call.childThreadId === undefined) return;
    call.childRecorded = true;
    if (this.#projects) {
      reading.row(subAgentInvoked(name, call.childThreadId, reading.timestamp));
    }
  }

  /** Upstream marks some final errors as recoverable, so the next event decides. */
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
    this.#countUnclassified(reading.output.signals);
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
    if (reading.output.rows.length > 0 || isRepeat(event, reading.run)) return;
    this.#countUnprojected(event.type);
  }

  #countUnprojected(type: AgentSdkEvent["type"]): void {
    this.unprojected.set(type, (this.unprojected.get(type) ?? 0) + 1);
  }
}
