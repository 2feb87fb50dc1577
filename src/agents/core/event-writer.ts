import {
  type AgentEvent,
  type EventDetails,
  now,
  SequenceCounter,
  sentLater,
} from "../../events/door.ts";
import { IdCounter, isZeroCost } from "../runtime/door.ts";
import type { RunRef, Stamp, Timed } from "./run-parts.ts";
import { type OpenEnvelope, type SafeSink, withDetails } from "./safe-sink.ts";

/**
 * Sends the events of one run in order, each with an ID and a time. Events are written field by field, because
 * spreading shared fields is many times slower.
 */
export abstract class EventWriter {
  readonly run: RunRef;
  protected readonly runId: string;
  protected readonly tenantId: string;
  readonly #sink: Pick<SafeSink, "send">;
  readonly #sequence: SequenceCounter | undefined;
  #ids: IdCounter | undefined;

  /** @param others whether something else also sends events of this run. Events have no sequence numbers then. */
  constructor(sink: Pick<SafeSink, "send">, run: RunRef, others = false) {
    this.#sequence = others ? undefined : new SequenceCounter();
    this.#sink = sink;
    this.run = run;
    this.runId = run.runId;
    this.tenantId = run.tenantId;
  }

  /** An ID for a call without one. */
  newId(): string {
    this.#ids ??= new IdCounter();
    return this.#ids.next();
  }

  protected send(event: AgentEvent, envelope: OpenEnvelope): void {
    this.#sink.send(event, envelope);
  }

  protected envelope({ at, eventId, isLate }: Stamp, stepId?: string): OpenEnvelope {
    const { rootRunId, runId, subject, threadId } = this.run;
    // All fields in one literal: adding or spreading fields later is slower.
    const envelope: OpenEnvelope = {
      event_id: eventId ?? this.newId(),
      sequence: this.#sequence?.next(),
      timestamp: at ?? now(),
      thread_id: threadId,
      session_id: subject?.session_id,
      root_run_id: rootRunId === runId ? undefined : rootRunId,
      details: subject?.details,
    };
    if (stepId !== undefined) withDetails(envelope, { step_id: stepId });
    return isLate === true ? sentLater(envelope) : envelope;
  }
}

/** A known cost of zero must be marked, because `"0"` alone means unknown. */
export function costKnown(cost: string | undefined): EventDetails | undefined {
  return cost !== undefined && isZeroCost(cost) ? { cost_known: true } : undefined;
}

export function lastedMs({ durationMs, startedMs }: Timed): number {
  return Math.max(0, Math.round(durationMs ?? performance.now() - startedMs));
}
