import { compareInstants, type Instant, type LateReason } from "../../events/door.ts";

/** Why an event was ignored. */
export type IgnoredReason =
  | LateReason
  | "duplicate"
  | "empty_run_id"
  | "unknown_type"
  | "not_an_event"
  | "after_shutdown";

/** Adjustments of the lifecycle, each counted when it happens. */
export type Adjustment =
  /** An end earlier than its start (skewed clocks) was moved to the start. */
  | "clamped"
  /** A run was closed because too many were open. */
  | "evicted_runs"
  /** A call was closed because too many were open in its run. */
  | "evicted_calls"
  /** A step was closed because too many were open in its run. */
  | "evicted_steps"
  /** A run was closed because its tree had no activity for too long. */
  | "aged_runs"
  /** A closed run was dropped from memory. A later event of it opens a new run. */
  | "forgotten_runs"
  /** An event ID was dropped from memory. A redelivery counts as new. */
  | "forgotten_event_ids"
  /** A call ID was dropped from memory. A repeat in its run counts as new. */
  | "forgotten_call_ids"
  /** An approval was dropped before its call started because too many waited in the run. */
  | "forgotten_approvals"
  /** A run was opened by an event other than its `started`. */
  | "unseen_starts"
  /** A run whose parent was never seen and is not confirmed by a root run ID. */
  | "missing_parents"
  /** A tenant named a run or trace ID of another tenant: its run got a trace of its own. */
  | "tenant_conflicts";

/** Called with the tenant whose event named a run or trace of another tenant. */
export type ConflictHook = (tenantId: string) => void;

/** Counts of the lifecycle; `diagnostics()` returns copies. */
export class Counters {
  events = 0;
  readonly #onTenantConflict: ConflictHook | undefined;
  readonly ignored: Record<IgnoredReason, number> = {
    duplicate: 0,
    second_terminal: 0,
    after_end: 0,
    empty_run_id: 0,
    unknown_type: 0,
    not_an_event: 0,
    after_shutdown: 0,
  };
  readonly adjustments: Record<Adjustment, number> = {
    clamped: 0,
    evicted_runs: 0,
    evicted_calls: 0,
    evicted_steps: 0,
    aged_runs: 0,
    forgotten_runs: 0,
    forgotten_event_ids: 0,
    forgotten_call_ids: 0,
    forgotten_approvals: 0,
    unseen_starts: 0,
    missing_parents: 0,
    tenant_conflicts: 0,
  };
  runsStarted = 0;
  spansOpened = 0;

  constructor(onTenantConflict?: ConflictHook) {
    this.#onTenantConflict = onTenantConflict;
  }

  tenantConflict(tenantId: string): void {
    this.adjustments.tenant_conflicts++;
    this.#onTenantConflict?.(tenantId);
  }

  /** The later of `at` and `start`. An `at` before `start` (clock skew) is counted. */
  notBefore(start: Instant, at: Instant): Instant {
    if (compareInstants(at, start) >= 0) return at;
    this.adjustments.clamped++;
    return start;
  }
}
