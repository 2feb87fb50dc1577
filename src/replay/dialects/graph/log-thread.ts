import { RecentMap } from "../../../events/door.ts";
import type { LogRow } from "./log-row.ts";
import type { LogRun } from "./log-run.ts";

/** Maximum number of remembered checkpoints of a thread. */
const CHECKPOINTS = 100;

/** One thread of the log. */
export class LogThread {
  readonly tenantId: string;
  readonly name: string;
  /** Whether a line named it. Its name is then the conversation ID. */
  readonly isNamed: boolean;
  /** Number of lines so far. */
  lines = 0;
  /** The run of rows without a run ID. */
  current: LogRun | undefined = undefined;
  /** The run that the last row named. The next row usually names it too. */
  lastNamed: LogRun | undefined = undefined;
  /** The sub-agent whose own log this is. */
  readonly subAgent: LogRun | undefined;
  /** Whether its run was opened by the parent log and its task has not come yet. */
  awaitsTask: boolean;
  /** The run that paused last, until another run follows it. */
  pausedRunId: string | undefined = undefined;
  #checkpoints: RecentMap<string> | undefined = undefined;

  /** @param subAgent the sub-agent that writes to this thread. */
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

  /** The conversation ID, if the log has one. */
  get conversation(): string | undefined {
    return this.isNamed ? this.name : undefined;
  }

  noteCheckpoint(id: string, runId: string): void {
    this.#checkpoints ??= new RecentMap(CHECKPOINTS);
    this.#checkpoints.set(id, runId);
  }

  /** The run that a checkpoint continues: the one that made it, else the one that paused last. */
  continuedFrom(checkpoint: string): string | undefined {
    return this.#checkpoints?.get(checkpoint) ?? this.pausedRunId;
  }
}

/** Maximum number of waiting rows in one thread, and in all. */
const IN_A_THREAD = 64;
const IN_ALL = 4_096;

/** Rows that wait for their run ID, by thread. */
export class WaitingRows {
  readonly #threads = new Map<LogThread, LogRow[]>();
  #count = 0;

  has(thread: LogThread): boolean {
    return this.#threads.has(thread);
  }

  /** @returns false if too many rows wait. */
  add(thread: LogThread, row: LogRow): boolean {
    const rows = this.#threads.get(thread);
    if (this.#count >= IN_ALL || (rows !== undefined && rows.length >= IN_A_THREAD)) return false;
    this.#count++;
    if (rows === undefined) this.#threads.set(thread, [row]);
    else rows.push(row);
    return true;
  }

  /** Removes and returns the waiting rows of a thread, in order. */
  take(thread: LogThread): readonly LogRow[] {
    // In most logs no row ever waits.
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
