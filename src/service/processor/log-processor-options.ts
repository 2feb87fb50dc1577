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
  /** Name of the log in reports: `journal`, `topic/3`. */
  readonly name: string;
  /**
   * The first offset to export: the last result of {@link LogProcessor.settle}, or 0. Lines below it are played without
   * exporting, to rebuild the state of the log processor.
   */
  readonly from: number;
  /**
   * {@link LogProcessor.stored} when `from` was settled. Results of lines below it are not stored again, even of open
   * runs. Default `from`.
   */
  readonly stored?: number | undefined;
  /** Tenant of events that name none. */
  readonly tenant: string;
  /** The service that spans name as their source. */
  readonly service: ServiceResource;
  readonly spans: SpanStore;
  /** Log processors share one. Without it no audit rows are made. */
  readonly audit: SessionLog | undefined;
  /** The audit rows to make. Default `all`. */
  readonly rows?: AuditRows | undefined;
  readonly onSpans: SpanChoices;
  /** Default: 128 lines, 5,000 ms. */
  readonly window?: ReorderBufferOptions | undefined;
  readonly limits?: Partial<LifecycleLimits> | undefined;
  /** Delays between attempts if a store fails. Default: from 100 ms, doubled up to 10 s. */
  readonly delays?: RetryDelays | undefined;
  /**
   * Called with each rejected line, for the dead letters, at least once. The line is stored when the promise resolves.
   * If it throws or rejects, it is called again later.
   */
  readonly onRejected: (line: LogLine, issues: readonly DecodeIssue[]) => void | Promise<void>;
  /** Called with every internal error, and with everything that a store rejected. */
  readonly onError: (error: unknown, where: string) => void;
}

export type { LogLine } from "../journal/log-line.ts";

/** A line for a log processor. */
export interface ProcessorLine extends LogLine {
  /**
   * Whether more lines of this offset follow, as if one record of a topic contains several. The offset is not done
   * before the last one. Default `false`.
   */
  readonly more?: boolean;
}

/** State of a log processor. Counts since it was made, unless stated otherwise. */
export interface ProcessorFigures {
  /** Accepted lines. */
  readonly lines: number;
  /** Lines before `from`, which were played without exporting. */
  readonly alreadyExported: number;
  /** Played events, without those of unknown types. */
  readonly events: number;
  readonly rejected: number;
  /** Lines of unknown types. */
  readonly unknown: number;
  /** Events that had come before. */
  readonly duplicates: number;
  /** Events that changed nothing, by reason, including `duplicate`. */
  readonly ignored: Readonly<Record<IgnoredReason, number>>;
  /** How often a tenant named a run or trace of another tenant. The first 50 tenants by name, the rest as `_other`. */
  readonly tenantConflicts: Readonly<Record<string, number>>;
  /** Events that came too late to be ordered. They were played. */
  readonly late: number;
  readonly spansStored: number;
  /** Spans that the receiver rejected. */
  readonly spansRefused: number;
  readonly rowsStored: number;
  /** Rows that the log rejected. */
  readonly rowsRefused: number;
  /** Open runs now. */
  readonly openRuns: number;
  /** Lines that wait in the reorder buffer now. */
  readonly waiting: number;
  /** Spans and rows that are being stored now. */
  readonly inFlight: number;
  /** Whether a store has not accepted anything for a while: the log processor is blocked, or will be soon. */
  readonly stalled: boolean;
  /** Age of the newest event, in ms. 0 before the first event. */
  readonly lagMs: number;
}
