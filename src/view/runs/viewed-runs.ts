import type { RunDetail, RunList } from "../format.ts";

/** The runs of all sources together, as the server, `--json` and a report ask for them. */
export interface ViewedRuns {
  /**
   * The list in pieces of JSON: a log can have more runs than one text should hold.
   *
   * @param since revision of an earlier list: only what has changed since then.
   */
  listJson(since?: number): Iterable<string>;
  /** The same as an object, of few runs. */
  list(keys: readonly string[]): RunList;
  /** Keys of the runs that a report takes without `--run`: the failed ones, the newest first. */
  failedKeys(): readonly string[];
  /** Keys of the runs with this id; several tenants can have the same. */
  keysOf(runId: string): readonly string[];
  /** Everything about a run; `undefined` where there is none. Reads the sources again. */
  detail(key: string): Promise<RunDetail | undefined>;
  /** Resolves when every source was read to where it ended when it was opened, and every log was verified. */
  ready(): Promise<void>;
  /** Verifies the logs once more: they may have grown. */
  verify(): Promise<void>;
  /** Removes what was written to temporary files. */
  close(): Promise<void>;
}

/** How a command reads its sources. */
export interface SourcesOptions {
  /** Read files on as they grow, and leave runs without an end open. Else such runs are abandoned. */
  readonly follow: boolean;
  /** Whether spans and rows have their content. */
  readonly content: boolean;
  /** Jaeger's address: a source of spans, and where traces are linked to. */
  readonly jaeger?: string;
  /** As for `replay`. */
  readonly dialect?: string;
  readonly tenant?: string;
  /** ID of a run that is retained, with all runs below it, however old they are. */
  readonly run?: string;
}
