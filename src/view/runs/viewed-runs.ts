import type { RunDetail, RunList } from "../format.ts";
import type { CostEstimates } from "./estimates.ts";
import type { RunParts } from "./run-detail.ts";

/** Where spans are received. */
export interface ListenAddress {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
}

/** The runs of all sources, for the server, `--json` and reports. */
export interface ViewedRuns {
  /**
   * The list as JSON in pieces: it can be too long for one string.
   *
   * @param since revision of an earlier list. The list has only changes since then.
   */
  listJson(since?: number): Iterable<string>;
  /** The list as an object, with these runs. */
  list(keys: readonly string[]): RunList;
  /** Keys of the failed runs, the newest first: those of a report without `--run`. */
  failedKeys(): readonly string[];
  /** Keys of the runs with this ID. Several tenants can have the same ID. */
  keysOf(runId: string): readonly string[];
  /** These runs, each followed by the paused runs that it continues, and by those that continue it. Each key once. */
  withStories(keys: readonly string[]): readonly string[];
  /** A run with its spans and rows; `undefined` if there is none. Reads rows from the sources. */
  detail(key: string): Promise<RunDetail | undefined>;
  /**
   * A run in parts, for the page; `undefined` if there is none.
   *
   * @param since revision of the run that the page has.
   */
  parts(key: string, since?: number): RunParts | undefined;
  /** Resolves when every source was read to its end, and every log was verified. */
  ready(): Promise<void>;
  /** Verifies the logs again: they may have grown. */
  verify(): Promise<void>;
  /** Removes temporary files. */
  close(): Promise<void>;
}

/** How a command reads its sources. */
export interface SourcesOptions {
  /** Follow files as they grow, and leave runs without an end open. Otherwise such runs are abandoned. */
  readonly follow: boolean;
  /** Whether spans and rows have content. */
  readonly content: boolean;
  /** URL of Jaeger: a source of spans, and the target of links to traces. */
  readonly jaeger?: string;
  /** Where programs send their spans. Absent: nowhere. */
  readonly listen?: ListenAddress;
  /** File for the received spans, as OTLP/JSON lines. */
  readonly save?: string;
  /** As for `replay`. */
  readonly dialect?: string;
  readonly tenant?: string;
  /** Estimates costs that the senders do not say. Absent: such costs are not known. */
  readonly estimates?: CostEstimates | undefined;
  /** ID of a run that is retained with all runs below it, and with those before and after its pauses, if they are known. */
  readonly run?: string;
}
