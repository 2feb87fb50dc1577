import type { AuditRows, SessionLog } from "../../audit/door.ts";
import type {
  IgnoredReason,
  LifecycleLimits,
  RetryDelays,
  ServiceResource,
  SpanChoices,
  SpanStore,
} from "../../bridge/door.ts";
import type { DecodeIssue, ReorderBufferOptions } from "../../replay/door.ts";
import type { LogLine } from "../journal/log-line.ts";

export interface LogProcessorOptions {
  /** Names the log in reports: `journal`, `topic/3`. */
  readonly name: string;
  /**
   * The first offset that counts: what {@link LogProcessor.settle} last resolved with, 0 at the very
   * beginning. Lines below it are played without a trace: they only rebuild what the log processor knows.
   */
  readonly from: number;
  /**
   * What {@link LogProcessor.stored} was when `from` was settled: what comes of lines below it is not stored
   * again, though runs among them are still open. Default `from`.
   */
  readonly stored?: number | undefined;
  /** Tenant of the events that name none. */
  readonly tenant: string;
  /** What spans say of the service they come from. */
  readonly service: ServiceResource;
  readonly spans: SpanStore;
  /** Log processors share one. Without it no audit rows are made. */
  readonly audit: SessionLog | undefined;
  /** Which audit rows are made. Default `all`. */
  readonly rows?: AuditRows | undefined;
  readonly onSpans: SpanChoices;
  /** Default: 128 lines, 5,000 ms. */
  readonly window?: ReorderBufferOptions | undefined;
  readonly limits?: Partial<LifecycleLimits> | undefined;
  /** Waits between attempts at a store that fails. Default: from 100 ms, doubled up to 10 s. */
  readonly delays?: RetryDelays | undefined;
  /**
   * Given each line that is rejected, for the dead letters: each at least once. The line is stored
   * when the promise resolves; where it throws or rejects, it is asked again after a while.
   */
  readonly onRejected: (line: LogLine, issues: readonly DecodeIssue[]) => void | Promise<void>;
  /** Called with every internal error, and with what a store refused for good. */
  readonly onError: (error: unknown, where: string) => void;
}

export type { LogLine } from "../journal/log-line.ts";

/** A line as a log processor takes it. */
export interface ProcessorLine extends LogLine {
  /**
   * More lines of this offset follow, as where one record of a topic holds several: the offset is not
   * done before the last of them. Default `false`.
   */
  readonly more?: boolean;
}

/** What a log processor has done since it was made, and how it stands. Counts, unless said otherwise. */
export interface ProcessorFigures {
  /** Lines taken. */
  readonly lines: number;
  /** Of them, those before `from`: played without a trace. */
  readonly alreadyExported: number;
  /** Events played, those of unknown types not among them. */
  readonly events: number;
  readonly rejected: number;
  /** Lines of types that this version does not know. */
  readonly unknown: number;
  /** Events that had come before. */
  readonly duplicates: number;
  /** Events that changed nothing, by reason; `duplicate` among them. */
  readonly ignored: Readonly<Record<IgnoredReason, number>>;
  /**
   * How often a tenant named a run or trace of another one: the first 50 tenants by name, the rest as
   * `_other`.
   */
  readonly tenantConflicts: Readonly<Record<string, number>>;
  /** Events that came too late to be put in order; they were played all the same. */
  readonly late: number;
  readonly spansStored: number;
  /** Spans that the receiver refused for good. */
  readonly spansRefused: number;
  readonly rowsStored: number;
  /** Rows that the log refused for good. */
  readonly rowsRefused: number;
  /** Runs that are open now. */
  readonly openRuns: number;
  /** Lines that wait now to be put in order. */
  readonly waiting: number;
  /** Spans and rows that are under way to their stores now. */
  readonly inFlight: number;
  /**
   * Whether a store has not taken what it was given for a while: the log processor stands still, or will
   * soon.
   */
  readonly stalled: boolean;
  /** From the time of the newest event to now, in ms; 0 before the first event. */
  readonly lagMs: number;
}
