import type { AuditCalls, AuditScope, ResumeScope } from "../audit/audit-calls.ts";
import type { RowAnchor } from "../audit/audit-row.ts";
import type { AuditSink } from "../audit/audit-sink.ts";
import type { InterruptionKind, UsageLimitBreach } from "../errors/agent-error-detail.ts";
import type { ToolErrorKind } from "../errors/error-kinds.ts";
import type { Run } from "../lifecycle/run.ts";
import type { SpanHandle } from "./span-handle.ts";
import { spanRefs } from "./span-refs.ts";
import type { Telemetry } from "./telemetry.ts";

/** Follows a row on its way, so that its run's span waits for it. */
export type Follow = (run: Run<SpanHandle> | undefined, row: Promise<RowAnchor>) => unknown;

/**
 * The runtime's own audit calls on a bridge: each row gets the ids of its run's span, counts for the
 * anchor on it, and a resume links the two runs.
 */
export class BridgeAudit implements AuditCalls {
  readonly #sink: AuditSink;
  readonly #telemetry: Telemetry;
  readonly #follow: Follow;

  constructor(sink: AuditSink, telemetry: Telemetry, follow: Follow) {
    this.#sink = sink;
    this.#telemetry = telemetry;
    this.#follow = follow;
  }

  recordSubAgentInvoked(scope: AuditScope, agentId: string, subThreadId: string) {
    return this.#record(scope, (full) =>
      this.#sink.recordSubAgentInvoked(full, agentId, subThreadId),
    );
  }

  recordAgentHandoff(scope: AuditScope, from: string | null, to: string) {
    return this.#record(scope, (full) => this.#sink.recordAgentHandoff(full, from, to));
  }

  recordInterrupted(scope: AuditScope, kind: InterruptionKind, payload: unknown) {
    return this.#record(scope, (full) => this.#sink.recordInterrupted(full, kind, payload));
  }

  recordResumed(scope: ResumeScope, fromCheckpoint: string) {
    return this.#record(scope, (full) => {
      this.#telemetry.noteResumed(scope.tenant_id, scope.run_id, scope.resumed_from_run_id);
      return this.#sink.recordResumed(full, fromCheckpoint);
    });
  }

  recordMemoryRecall(scope: AuditScope, tier: string, namespaceKey: string, hits: number | bigint) {
    return this.#record(scope, (full) =>
      this.#sink.recordMemoryRecall(full, tier, namespaceKey, hits),
    );
  }

  recordUsageLimitExceeded(scope: AuditScope, breach: UsageLimitBreach) {
    return this.#record(scope, (full) => this.#sink.recordUsageLimitExceeded(full, breach));
  }

  recordContextCompacted(
    scope: AuditScope,
    droppedChars: number | bigint,
    retainedChars: number | bigint,
  ) {
    return this.#record(scope, (full) =>
      this.#sink.recordContextCompacted(full, droppedChars, retainedChars),
    );
  }

  recordToolErrorTerminal(scope: AuditScope, kind: ToolErrorKind, toolName: string) {
    return this.#record(scope, (full) => this.#sink.recordToolErrorTerminal(full, kind, toolName));
  }

  #record(scope: AuditScope, call: (full: AuditScope) => Promise<RowAnchor>): Promise<RowAnchor> {
    try {
      const run = this.#telemetry.find(scope.tenant_id, scope.run_id);
      const row = call(run === undefined ? scope : { ...spanRefs(run), ...scope });
      this.#follow(run, row);
      return row;
    } catch (error) {
      // A scope that can't be read is its caller's fault, and still a promise is what the caller expects.
      return Promise.reject(error);
    }
  }
}
