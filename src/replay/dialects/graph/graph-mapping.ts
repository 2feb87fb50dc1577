import {
  type Instant,
  type OwnAttributes,
  RecentMap,
  RecentPairs,
  type Signal,
} from "../../../events/door.ts";
import type { LineEnvelope } from "../dialect.ts";
import { derivedRunId, type Mapping, type Translated } from "../mapping.ts";
import type { GraphLine } from "./graph-line.ts";
import { beginsTurn, isStart, type LogRow, opensTurn, startIn, worksOn } from "./log-row.ts";
import { LogRun } from "./log-run.ts";
import { LogThread, WaitingRows } from "./log-thread.ts";
import { RowReader, type RowsRead } from "./row-reader.ts";
import { TraceParents } from "./trace-parents.ts";

/** Thread of lines without one. */
const UNNAMED = "default";

/**
 * Reads a log of GraphEvents as runs: each turn of a thread, from a user's message to the next, is a run. If rows name
 * their run, as ours do, its ID is used, so the trace has the IDs of the live trace. Otherwise the ID is derived from
 * the row that opens the turn.
 */
export class GraphMapping implements Mapping<GraphLine> {
  readonly readsRows = true;
  readonly #tenant: string;
  readonly #threads: RecentPairs<LogThread>;
  readonly #runs: RecentPairs<LogRun>;
  readonly #parents: TraceParents;
  readonly #waiting = new WaitingRows();
  readonly #reader: RowReader;
  /** Thread of the previous line. */
  #last: LogThread | undefined = undefined;
  /** By tenant: thread of its last line. Lines without a thread belong to it. */
  readonly #lastNames: RecentMap<string>;

  /**
   * @param tenant tenant of lines without one.
   * @param rows whether audit rows are made. Not needed without an audit log.
   * @param remembered minimum number of threads, runs, traces and tenants that are remembered.
   */
  constructor(tenant: string, rows = true, remembered = 10_000) {
    this.#tenant = tenant;
    this.#threads = new RecentPairs(remembered);
    this.#runs = new RecentPairs(remembered);
    this.#lastNames = new RecentMap(remembered);
    this.#parents = new TraceParents(remembered);
    this.#reader = new RowReader(this.#parents, rows, remembered);
  }

  get unprojected(): ReadonlyMap<string, number> {
    return this.#reader.unprojected;
  }

  translate(line: GraphLine, envelope: LineEnvelope): Translated {
    const thread = this.#threadOf(envelope);
    const ordinal = line.ordinal === undefined ? thread.lines : line.ordinal - 1;
    thread.lines++;
    const [seconds, nanos] = envelope.timestamp;
    const at: Instant = [seconds, nanos];
    const eventId = envelope.event_id;
    const row: LogRow = { line, at, eventId, opening: eventId ?? String(ordinal) };
    const read: RowsRead = { signals: [], rows: [] };
    const { run_id, trace_id } = line;
    if (typeof run_id === "string") {
      for (const waiting of this.#waiting.take(thread)) {
        this.#takeNamed(thread, waiting, run_id, trace_id, read);
      }
      this.#takeNamed(thread, row, run_id, trace_id, read);
    } else {
      // The waiting turn gets no run ID: the next turn begins, or the log has no run IDs.
      if (run_id === undefined || beginsTurn(line)) this.#giveUp(thread, read);
      if (run_id === undefined || !this.#mayWait(thread, row)) {
        this.#giveUp(thread, read);
        this.#takeUnnamed(thread, row, read);
      }
    }
    return translated(thread, read);
  }

  end(): readonly Translated[] {
    const waited = this.#waiting.takeAll().map(({ rows, thread }) => {
      const read: RowsRead = { signals: [], rows: [] };
      for (const row of rows) this.#takeUnnamed(thread, row, read);
      return translated(thread, read);
    });
    return [...waited, ...this.#settled()];
  }

  /** Closes model calls that only thinking has shown. */
  #settled(): readonly Translated[] {
    const all: Translated[] = [];
    for (const thread of this.#threads) {
      const read: RowsRead = { signals: [], rows: [] };
      thread.current?.settle(read.signals);
      if (read.signals.length > 0) all.push(translated(thread, read));
    }
    for (const run of this.#runs) {
      const { tenantId } = run;
      const signals: Signal[] = [];
      run.settle(signals);
      if (signals.length > 0) all.push({ tenantId, signals, rows: [] });
    }
    return all;
  }

  /**
   * A message is often logged before its run has an ID. In a log with run IDs, the rows that open a turn wait for the
   * first row with an ID.
   */
  #mayWait(thread: LogThread, row: LogRow): boolean {
    const waits = this.#waiting.has(thread) || opensTurn(thread, row.line);
    return waits && this.#waiting.add(thread, row);
  }

  /** Reads the waiting rows without a run ID. */
  #giveUp(thread: LogThread, read: RowsRead): void {
    for (const row of this.#waiting.take(thread)) this.#takeUnnamed(thread, row, read);
  }

  #threadOf(envelope: LineEnvelope): LogThread {
    const named = envelope.thread_id ?? envelope.session_id;
    const tenantId = envelope.tenant_id ?? this.#tenant;
    const before = this.#last?.tenantId === tenantId ? this.#last : undefined;
    const name = named ?? before?.name ?? this.#lastNames.get(tenantId) ?? UNNAMED;
    if (before?.name === name) return before;
    let thread = this.#threads.get(tenantId, name);
    if (thread === undefined) {
      const subAgent = this.#reader.subAgentOf(tenantId, name);
      thread = new LogThread(tenantId, name, named !== undefined, subAgent);
      this.#threads.set(tenantId, name, thread);
    }
    this.#last = thread;
    this.#lastNames.set(tenantId, name);
    return thread;
  }

  /** Takes a row without a run ID: it belongs to the current turn, or opens one. */
  #takeUnnamed(thread: LogThread, row: LogRow, read: RowsRead): void {
    const opens = opensTurn(thread, row.line);
    const turn = opens ? this.#openTurn(thread, row, read) : thread.current;
    if (turn === undefined) return;
    this.#reader.read(thread, turn, row, opens, read);
    thread.awaitsTask = false;
  }

  #openTurn(thread: LogThread, row: LogRow, read: RowsRead): LogRun {
    const { tenantId } = thread;
    closeCurrent(thread, read);
    const runId = derivedRunId(tenantId, thread.name, row.opening);
    const { parent } = thread.subAgent ?? {};
    const run = new LogRun(tenantId, runId, thread.name, row.at);
    const { attributes, resumedFromRunId } = opening(thread, row, runId);
    const agent = startIn(row.line)?.agent;
    run.isNamed = agent !== undefined;
    read.signals.push({
      tenantId,
      runId,
      at: row.at,
      signal: "run_opens",
      agent,
      threadId: thread.conversation,
      parentRunId: parent?.runId,
      resumedFromRunId,
      attributes,
    });
    thread.current = run;
    thread.pausedRunId = undefined;
    return run;
  }

  /** Takes a row whose run is named by it or by a row right after it. */
  #takeNamed(
    thread: LogThread,
    row: LogRow,
    runId: string,
    traceId: string | undefined,
    read: RowsRead,
  ): void {
    const { lastNamed, tenantId } = thread;
    let run = lastNamed?.runId === runId ? lastNamed : this.#runs.get(tenantId, runId);
    const opens = run === undefined;
    if (run === undefined) run = this.#openNamed(thread, row, runId, traceId, read);
    else if (goesOn(run, row.line)) this.#goOn(thread, run, row, read);
    if (opens) this.#runs.set(tenantId, runId, run);
    thread.lastNamed = run;
    this.#reader.read(thread, run, row, opens, read);
  }

  #openNamed(
    thread: LogThread,
    row: LogRow,
    runId: string,
    traceId: string | undefined,
    read: RowsRead,
  ): LogRun {
    const { tenantId } = thread;
    const start = startIn(row.line);
    const statedParentId = start?.parent_run_id;
    const parent =
      statedParentId === undefined
        ? this.#parents.parentOf(tenantId, runId, traceId, thread.name)
        : { parentRunId: statedParentId, dispatch: undefined };
    const { call } = parent?.dispatch ?? {};
    const agent = start?.agent ?? parent?.dispatch?.agent;
    const run = new LogRun(tenantId, runId, `${thread.name}/${runId}`, row.at);
    run.traceId = traceId;
    if (traceId !== undefined) this.#parents.opened(traceId, run, parent === undefined);
    if (call !== undefined) call.subAgent = run;
    if (parent === undefined && row.line.event.kind === "user_message") closeCurrent(thread, read);
    const { attributes, resumedFromRunId } = opening(thread, row, runId);
    run.isNamed = agent !== undefined;
    if (parent !== undefined && statedParentId === undefined)
      attributes["entelix.parent.inferred"] = true;
    read.signals.push({
      tenantId,
      runId,
      at: row.at,
      signal: "run_opens",
      agent,
      threadId: thread.conversation,
      parentRunId: parent?.parentRunId,
      parentCallId: start?.parent_tool_use_id ?? call?.id,
      resumedFromRunId,
      attributes,
    });
    if (parent === undefined) {
      thread.current = run;
      thread.pausedRunId = undefined;
    }
    return run;
  }

  /** An ended run continues. After a pause this is its next segment. */
  #goOn(thread: LogThread, run: LogRun, row: LogRow, read: RowsRead): void {
    if (run.possibleEnd?.outcome !== "interrupted" || onlyWaited(run, row.line)) {
      run.goOn();
      if (thread.pausedRunId === run.runId) thread.pausedRunId = undefined;
      return;
    }
    if (!run.isClosed) run.close(read.signals);
    run.reopen(row.at);
    const { runId, tenantId } = run;
    const threadId = thread.conversation;
    const agent = startIn(row.line)?.agent;
    read.signals.push({ tenantId, runId, at: row.at, signal: "run_opens", agent, threadId });
    thread.pausedRunId = undefined;
  }
}

function closeCurrent(thread: LogThread, read: RowsRead): void {
  const { current } = thread;
  if (current !== undefined && !current.isClosed) current.close(read.signals);
}

/** Whether a row continues its run after an end. */
function goesOn({ isOver, hasStatedEnd, possibleEnd }: LogRun, line: GraphLine): boolean {
  // After a recorded end, only a pause can be followed by a new start.
  if (hasStatedEnd) return possibleEnd?.outcome === "interrupted" && isStart(line);
  if (isOver) return worksOn(line);
  return possibleEnd?.outcome === "interrupted" && line.event.kind === "resumed";
}

/** The row is in the span that paused: the runtime waited for the answer within its run. */
function onlyWaited({ isClosed, pausedIn }: LogRun, { event, span_id }: GraphLine): boolean {
  return !isClosed && pausedIn !== undefined && pausedIn === span_id && event.kind !== "resumed";
}

/** The attributes of a run from the row that opens it. */
function opening(
  thread: LogThread,
  { line }: LogRow,
  runId: string,
): { readonly attributes: OwnAttributes; readonly resumedFromRunId: string | undefined } {
  const attributes: OwnAttributes = { "entelix.source": "graph" };
  if (!isStart(line)) attributes["entelix.run.start_unseen"] = true;
  const start = startIn(line);
  if (start !== undefined) {
    if (start.handoff_from) attributes["entelix.handoff.from"] = start.handoff_from;
    return { attributes, resumedFromRunId: start.resumed_from_run_id };
  }
  if (line.form !== "known" || line.event.kind !== "resumed") {
    return { attributes, resumedFromRunId: undefined };
  }
  const { from_checkpoint } = line.event;
  if (from_checkpoint !== "") attributes["entelix.resumed.checkpoint"] = from_checkpoint;
  const from = thread.continuedFrom(from_checkpoint);
  return { attributes, resumedFromRunId: from === runId ? undefined : from };
}

function translated(thread: LogThread, { rows, signals }: RowsRead): Translated {
  return { tenantId: thread.tenantId, threadId: thread.name, signals, rows };
}
