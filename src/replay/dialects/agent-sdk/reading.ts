import type { AnyGraphEvent } from "../../../audit/door.ts";
import {
  formatRfc3339,
  type Instant,
  type LateReason,
  type RunEnd,
  type Signal,
  type SignalAttributes,
  type SignalSubject,
  type SpanEventTarget,
} from "../../../events/door.ts";
import type { ProjectedRow } from "../mapping.ts";
import { modelAnswer } from "./model-turn.ts";
import type { OpenRun } from "./open-run.ts";

/** What an event says, as it is read. */
export interface Said {
  readonly signals: Signal[];
  readonly rows: ProjectedRow[];
}

/** A point in the life of the run, or of its model call. */
export interface Note {
  readonly name: string;
  readonly on?: SpanEventTarget;
  readonly attributes?: SignalAttributes;
}

/** One event being read, as one of its run: it is where and when its signals are. */
export class Reading implements SignalSubject {
  readonly run: OpenRun;
  readonly tenantId: string;
  readonly runId: string;
  readonly at: Instant;
  readonly said: Said;

  constructor(run: OpenRun, at: Instant, said: Said) {
    this.run = run;
    this.tenantId = run.tenantId;
    this.runId = run.runId;
    this.at = at;
    this.said = said;
  }

  /** The event's time as the audit log has it. */
  get timestamp(): string {
    return formatRfc3339(this.at);
  }

  // Each signal is one literal: putting it together out of parts takes several times as long.

  opens(threadId: string | undefined): void {
    const { tenantId, runId, at } = this;
    this.said.signals.push({
      signal: "run_opens",
      tenantId,
      runId,
      at,
      threadId,
      attributes: SOURCE,
    });
  }

  attributes(attributes: SignalAttributes): void {
    const { tenantId, runId, at } = this;
    this.said.signals.push({ signal: "attributes", tenantId, runId, at, attributes });
  }

  /** The run was heard of, and no more. */
  keepAlive(): void {
    const { tenantId, runId, at } = this;
    this.said.signals.push({ signal: "activity", tenantId, runId, at });
  }

  /** The run was over before. */
  late(reason: LateReason): void {
    const { tenantId, runId, at } = this;
    this.said.signals.push({ signal: "late", tenantId, runId, at, reason });
  }

  note({ name, on, attributes }: Note): void {
    const { tenantId, runId, at } = this;
    this.said.signals.push({ signal: "span_event", tenantId, runId, at, name, on, attributes });
  }

  row(event: AnyGraphEvent): void {
    this.said.rows.push({ runId: this.runId, event });
  }

  /** The run may have ended with this event. */
  mayEnd(end: RunEnd): void {
    const { tenantId, runId, at, run } = this;
    run.mayEnd = end;
    const model = run.model === undefined ? undefined : modelAnswer(run.model);
    this.said.signals.push({ signal: "run_may_end", tenantId, runId, at, end, model });
  }

  /**
   * The run has ended.
   *
   * @param supposed as it may have: no event says so.
   */
  end(end: RunEnd, supposed?: boolean): void {
    const { tenantId, runId, at } = this;
    this.said.signals.push({ signal: "run_closes", tenantId, runId, at, end, supposed });
    this.run.close();
  }
}

/** Which runtime a run is of; alerts and dashboards are the same for all. */
export const SOURCE: SignalAttributes = { "entelix.source": "agent-sdk" };
