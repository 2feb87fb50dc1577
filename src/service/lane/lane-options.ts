import type { SessionLog } from "../../audit/session-log.ts";
import type { DecodeIssue } from "../../dialects/dialect.ts";
import type { LogLine } from "../../ingest/journal/log-line.ts";
import type { OrderWindowOptions } from "../../ingest/order-window.ts";
import type { LifecycleLimits } from "../../lifecycle/limits.ts";
import type { RetryDelays } from "../../otel/export/retry.ts";
import type { ServiceResource } from "../../otel/replay/service-resource.ts";
import type { SpanStore } from "../../otel/service/span-store.ts";

export interface LaneOptions {
  /** Names the log in reports: `journal`, `topic/3`. */
  readonly name: string;
  /**
   * The first offset that counts: what {@link Lane.settle} last resolved with, 0 at the very
   * beginning. Lines below it are played without a trace: they only rebuild what the lane knows.
   */
  readonly from: number;
  /**
   * What {@link Lane.stored} was when `from` was settled: what comes of lines below it is not stored
   * again, though runs among them are still open. Default `from`.
   */
  readonly stored?: number | undefined;
  /** Tenant of the events that name none. */
  readonly tenant: string;
  /** What spans say of the service they come from. */
  readonly service: ServiceResource;
  readonly spans: SpanStore;
  /** Lanes share one. Without it no audit rows are made. */
  readonly audit: SessionLog | undefined;
  /** `undefined`: as the environment says. */
  readonly captureContent: boolean | undefined;
  /** Default: 128 lines, 5,000 ms. */
  readonly window?: OrderWindowOptions | undefined;
  readonly limits?: Partial<LifecycleLimits> | undefined;
  /** Waits between attempts at a store that fails. Default: from 100 ms, doubled up to 10 s. */
  readonly delays?: RetryDelays | undefined;
  /**
   * Given each line that is rejected, for the dead letters: each at least once. The line is stored
   * when the promise resolves; where it throws or rejects, it is asked again after a while.
   */
  readonly onRejected: (line: LogLine, issues: readonly DecodeIssue[]) => void | Promise<void>;
  /** Told of every trouble of the lane's own, and of what a store refused for good. */
  readonly onError: (error: unknown, where: string) => void;
}
