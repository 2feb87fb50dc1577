import { RecentMap } from "../../../events/door.ts";
import type { LogRow } from "./log-row.ts";
import type { LogRun } from "./log-run.ts";

/** Checkpoints of a thread whose run is remembered. */
const CHECKPOINTS = 100;

/** One thread of the log: whose turn it is, and what a later run of it may continue. */
export class LogThread {
  readonly tenantId: string;
  readonly name: string;
  /** Whether a line named it, so that it is the conversation's id. */
  readonly isNamed: boolean;
  /** Lines so far. */
  lines = 0;
  /** The run that rows without a run id belong to. */
  current: LogRun | undefined = undefined;
  /** The run that a row named last: mostly the next row names it too. */
  lastNamed: LogRun | undefined = undefined;
  /** The sub-agent whose own log this is. */
  readonly subAgent: LogRun | undefined;
  /** Its run was opened by the log around it, and its task has not come yet. */
  awaitsTask: boolean;
  /** The run that paused last, until one follows it. */
  pausedRunId: string | undefined = undefined;
  #checkpoints: RecentMap<string> | undefined = undefined;

  /** @param subAgent the sub-agent that was told to write here. */
  constructor(tenantId: string, name: string, isNamed: boolean, subAgent: LogRun | undefined) {
    this.tenantId = tenantId;
    this.name = name;
    this.isNamed = isNamed;
    this.subAgent = subAgent;
    this.awaitsTask = subAgent !== undefined && !subAgent.isClosed;
    if (!this.awaitsTask || subAgent === undefined) return;
    this.current = subAgent;
    subAgent.hasOwnLog = true;
  }

  /** The conversation's id, where the log has one. */
  get conversation(): string | undefined {
    return this.isNamed ? this.name : undefined;
  }

  noteCheckpoint(id: string, runId: string): void {
    this.#checkpoints ??= new RecentMap(CHECKPOINTS);
    this.#checkpoints.set(id, runId);
  }

  /** The run that goes on from a checkpoint: the one that made it, else the one that paused last. */
  continuedFrom(checkpoint: string): string | undefined {
    return this.#checkpoints?.get(checkpoint) ?? this.pausedRunId;
  }
}

/** Rows that may wait in one thread, and in all. */
const IN_A_THREAD = 64;
const IN_ALL = 4_096;

/** Rows that wait for the run they belong to, by thread. */
export class WaitingRows {
  readonly #threads = new Map<LogThread, LogRow[]>();
  #count = 0;

  has(thread: LogThread): boolean {
    return this.#threads.has(thread);
  }

  /** @returns false where it can't wait: too many do. */
  add(thread: LogThread, row: LogRow): boolean {
    const rows = this.#threads.get(thread);
    if (this.#count >= IN_ALL || (rows !== undefined && rows.length >= IN_A_THREAD)) return false;
    this.#count++;
    if (rows === undefined) this.#threads.set(thread, [row]);
    else rows.push(row);
    return true;
  }

  /** The rows that wait in a thread, in their order; they wait no more. */
  take(thread: LogThread): readonly LogRow[] {
    // Of most logs none waits ever.
    const rows = this.#count === 0 ? undefined : this.#threads.get(thread);
    if (rows === undefined) return NONE;
    this.#threads.delete(thread);
    this.#count -= rows.length;
    return rows;
  }

  takeAll(): { readonly thread: LogThread; readonly rows: readonly LogRow[] }[] {
    const all = [...this.#threads].map(([thread, rows]) => ({ thread, rows }));
    this.#threads.clear();
    this.#count = 0;
    return all;
  }
}

const NONE: readonly LogRow[] = [];
