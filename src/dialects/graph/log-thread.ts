import { RecentMap } from "../../lifecycle/recent-map.ts";
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
