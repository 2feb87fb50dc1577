import {
  AuditCalls,
  type AuditScope,
  type AuditSink,
  type GraphEvent,
  type ResumeScope,
  type RowAnchor,
} from "../audit/door.ts";
import type { AgentEvent } from "../events/door.ts";
import type { Run } from "./lifecycle/run.ts";
import type { SpanHandle } from "./spans/span-handle.ts";
import { spanRefs } from "./spans/span-handle.ts";
import type { Telemetry } from "./telemetry.ts";

/** Follows a pending row, so that its run's span waits for it. */
export type Follow = (run: Run<SpanHandle> | undefined, row: Promise<RowAnchor>) => unknown;

/**
 * The runtime's own audit calls on a bridge: each row gets the ids of its run's span and counts for the
 * anchor on it, and a resume links the two runs.
 */
export class BridgeAudit extends AuditCalls {
  readonly #sink: AuditSink;
  readonly #telemetry: Telemetry;
  readonly #follow: Follow;

  constructor(sink: AuditSink, telemetry: Telemetry, follow: Follow) {
    super();
    this.#sink = sink;
    this.#telemetry = telemetry;
    this.#follow = follow;
  }

  override recordResumed(scope: ResumeScope, fromCheckpoint: string): Promise<RowAnchor> {
    try {
      this.#telemetry.linkResumed(scope.tenant_id, scope.run_id, scope.resumed_from_run_id);
    } catch (error) {
      return Promise.reject(error);
    }
    return super.recordResumed(scope, fromCheckpoint);
  }

  protected override recordCall(
    scope: AuditScope,
    build: (timestamp: string) => GraphEvent,
  ): Promise<RowAnchor> {
    try {
      const run = this.#telemetry.find(scope.tenant_id, scope.run_id);
      const row = this.#sink.recordCall(
        run === undefined ? scope : { ...spanRefs(run), ...scope },
        build,
        run === undefined ? undefined : (kind) => segmentOf(run, kind),
      );
      this.#follow(run, row);
      return row;
    } catch (error) {
      // A scope that can't be read is its caller's fault, and still a promise is what the caller expects.
      return Promise.reject(error);
    }
  }
}

/** A resumption may be recorded before the run starts again. */
function segmentOf({ open, segment }: Run<SpanHandle>, kind: string): number {
  return kind === "resumed" && !open ? segment + 1 : segment;
}

/** The row that an event after the shutdown does not leave, as an error; `undefined`: it leaves none in any case. */
export function lostRowOf(event: AgentEvent | null | undefined): Error | undefined {
  // Senders in plain JavaScript are not held to the types.
  switch (event?.type) {
    case "started":
      return new Error("no run may start after the shutdown: it would have no audit rows");
    case "tool_start":
    case "tool_complete":
    case "tool_error":
    case "tool_call_approved":
    case "tool_call_denied":
    case "complete":
    case "failed":
    case "interrupted":
      return new Error(`no audit row of a ${event.type} after the shutdown`);
    default:
      return undefined;
  }
}
