import {
  type AgentEvent,
  Conversation,
  type EventDetails,
  type EventEnvelope,
  type Instant,
  now,
  readDecimal,
  SequenceCounter,
  sentLater,
  type UsageSnapshot,
} from "../../events/door.ts";
import { IdCounter } from "./id-counter.ts";
import type { RunRef, Stamp, Timed } from "./run-parts.ts";

/** A mutable envelope. Events of a writer always have an ID and a time. */
export type OpenEnvelope = { -readonly [K in keyof EventEnvelope]: EventEnvelope[K] } & {
  event_id: string;
  timestamp: string | Readonly<Instant>;
};

/** Adds details of this event to those that all events of its run have. Returns the same envelope. */
export function withDetails(
  envelope: OpenEnvelope,
  details: EventDetails | undefined,
): OpenEnvelope {
  if (details === undefined) return envelope;
  const before = envelope.details;
  envelope.details = before === undefined ? details : { ...before, ...details };
  return envelope;
}

/**
 * Where a writer sends its events.
 *
 * @typeParam T what the writer's methods return, such as a promise of the sink.
 */
export interface Outlet<T> {
  send(event: AgentEvent, envelope: OpenEnvelope): T;
}

/** Sums what a run uses. */
export interface Totals {
  /** Usage so far. `null`: not known. */
  snapshot(): UsageSnapshot | null;
  /** Whether the model calls of the run report no usage, so that its end is the only source. */
  readonly isOwn?: boolean;
}

export interface WriterOptions {
  /** Whether something else also sends events of this run. Events have no sequence numbers then. */
  readonly others?: boolean;
  /** Only for a root run: the sum of the run and its child runs. Its end has it, however it ended. */
  readonly totals?: Totals | undefined;
}

/**
 * Sends the events of one run in order, each with an ID and a time. Events are written field by field, because
 * spreading shared fields is many times slower.
 */
export abstract class EventWriter<T = void> {
  readonly run: RunRef;
  protected readonly runId: string;
  protected readonly tenantId: string;
  protected readonly totals: Totals | undefined;
  readonly #outlet: Outlet<T>;
  readonly #sequence: SequenceCounter | undefined;
  #ids: IdCounter | undefined;
  #conversation: Conversation | undefined;

  constructor(outlet: Outlet<T>, run: RunRef, { others, totals }: WriterOptions = {}) {
    this.#sequence = others === true ? undefined : new SequenceCounter();
    this.totals = totals;
    this.#outlet = outlet;
    this.run = run;
    this.runId = run.runId;
    this.tenantId = run.tenantId;
  }

  /** An ID for a call without one. */
  newId(): string {
    this.#ids ??= new IdCounter();
    return this.#ids.next();
  }

  /** Converts the messages of the run's model calls, each message once. */
  get conversation(): Conversation {
    this.#conversation ??= new Conversation();
    return this.#conversation;
  }

  /** The run ends. */
  protected forget(): void {
    this.#conversation?.end();
  }

  protected send(event: AgentEvent, envelope: OpenEnvelope): T {
    return this.#outlet.send(event, envelope);
  }

  protected envelope({ at, eventId, isLate }: Stamp, stepId?: string): OpenEnvelope {
    const { run } = this;
    const { subject } = run;
    // All fields in one literal: adding or spreading fields later is slower.
    const envelope: OpenEnvelope = {
      event_id: eventId ?? this.newId(),
      sequence: this.#sequence?.next(),
      timestamp: at ?? now(),
      thread_id: run.threadId,
      session_id: subject?.session_id,
      root_run_id: run.rootRunId === run.runId ? undefined : run.rootRunId,
      resumed_from_run_id: run.resumedFromRunId,
      parent_tool_use_id: run.parentToolUseId,
      details: subject?.details,
    };
    if (run.traceparent !== undefined) {
      envelope.traceparent = run.traceparent;
      envelope.tracestate = run.tracestate;
    }
    if (stepId !== undefined) withDetails(envelope, { step_id: stepId });
    return isLate === true ? sentLater(envelope) : envelope;
  }
}

/** A known cost of zero must be marked, because `"0"` alone means unknown. */
export function costKnown(cost: string | undefined): EventDetails | undefined {
  return cost !== undefined && isZeroCost(cost) ? { cost_known: true } : undefined;
}

function isZeroCost(cost: string): boolean {
  return readDecimal(cost)?.digits === 0n;
}

export function lastedMs({ durationMs, startedMs }: Timed): number {
  return Math.max(0, Math.round(durationMs ?? performance.now() - startedMs));
}
