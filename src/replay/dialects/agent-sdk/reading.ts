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

/** Signals and rows of one event. */
export interface EventOutput {
  readonly signals: Signal[];
  readonly rows: ProjectedRow[];
}

/** A span event of the run or of its model call. */
export interface Note {
  readonly name: string;
  readonly on?: SpanEventTarget;
  readonly attributes?: SignalAttributes;
}

/** One event of a run while it is read. Adds signals with the run's IDs and the event's time. */
export class Reading implements SignalSubject {
  readonly run: OpenRun;
  readonly tenantId: string;
  readonly runId: string;
  readonly at: Instant;
  readonly output: EventOutput;

  constructor(run: OpenRun, at: Instant, output: EventOutput) {
    this.run = run;
    this.tenantId = run.tenantId;
    this.runId = run.runId;
    this.at = at;
    this.output = output;
  }

  /** The event's time in the form of the audit log. */
  get timestamp(): string {
    return formatRfc3339(this.at);
  }

  // Each signal is one literal: composing it from parts takes several times as long.

  opens(threadId: string | undefined): void {
    const { tenantId, runId, at } = this;
    this.output.signals.push({
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
    this.output.signals.push({ signal: "attributes", tenantId, runId, at, attributes });
  }

  /** Reports activity. */
  keepAlive(): void {
    const { tenantId, runId, at } = this;
    this.output.signals.push({ signal: "activity", tenantId, runId, at });
  }

  /** Reports an event after the end of the run. */
  late(reason: LateReason): void {
    const { tenantId, runId, at } = this;
    this.output.signals.push({ signal: "late", tenantId, runId, at, reason });
  }

  note({ name, on, attributes }: Note): void {
    const { tenantId, runId, at } = this;
    this.output.signals.push({ signal: "span_event", tenantId, runId, at, name, on, attributes });
  }

  row(event: AnyGraphEvent): void {
    this.output.rows.push({ runId: this.runId, event });
  }

  /** The run may have ended with this event. */
  mayEnd(end: RunEnd): void {
    const { tenantId, runId, at, run } = this;
    run.mayEnd = end;
    const model = run.model === undefined ? undefined : modelAnswer(run.model);
    this.output.signals.push({ signal: "run_may_end", tenantId, runId, at, end, model });
  }

  /**
   * Ends the run.
   *
   * @param supposed whether no event states this end.
   */
  end(end: RunEnd, supposed?: boolean): void {
    const { tenantId, runId, at } = this;
    this.output.signals.push({ signal: "run_closes", tenantId, runId, at, end, supposed });
    this.run.close();
  }
}

/** The runtime of a run. Alerts and dashboards are the same for all runtimes. */
export const SOURCE: SignalAttributes = { "entelix.source": "agent-sdk" };
