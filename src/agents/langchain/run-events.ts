import { type Instant, type InterruptionKind, now, sentLater } from "../../events/door.ts";
import { type OpenEnvelope, type SafeSink, withDetails } from "../core/door.ts";
import { isZeroCost } from "../runtime/door.ts";
import type { Failure } from "./langchain-errors.ts";
import type { RunState } from "./run-state.ts";

/**
 * The envelope of an event.
 *
 * @param id same for every call of the same callback.
 * @param happenedAt time of an event that waited. Default: now.
 */
export function envelopeIn(
  run: RunState,
  id: string,
  happenedAt?: Readonly<Instant>,
): OpenEnvelope {
  const { subject } = run;
  const base = baseEnvelope(run, id, happenedAt ?? now());
  const envelope = subject === undefined ? base : { ...base, ...subject };
  return happenedAt === undefined ? envelope : sentLater(envelope);
}

function baseEnvelope(
  { id: runId, rootId, threadId }: RunState,
  id: string,
  timestamp: Readonly<Instant>,
): OpenEnvelope {
  // All fields in one literal: adding fields later is slower.
  if (rootId === runId) {
    return threadId === undefined
      ? { event_id: id, timestamp }
      : { event_id: id, timestamp, thread_id: threadId };
  }
  return threadId === undefined
    ? { event_id: id, timestamp, root_run_id: rootId }
    : { event_id: id, timestamp, thread_id: threadId, root_run_id: rootId };
}

/** Adds the step around an event to its envelope. */
export function inStep(envelope: OpenEnvelope, stepId: string | undefined): OpenEnvelope {
  if (stepId !== undefined) envelope.details = { ...envelope.details, step_id: stepId };
  return envelope;
}

export interface Beginning {
  readonly agent: string;
  readonly parentRunId: string | undefined;
  /** `null`: known to have none. `undefined`: not known. */
  readonly parentToolUseId: string | null | undefined;
  readonly parentStepId: string | undefined;
  readonly resumedFromRunId: string | undefined;
  /** Content. */
  readonly asked: unknown;
}

/** Sends the events of runs. */
export class RunEvents {
  readonly #sink: SafeSink;

  constructor(sink: SafeSink) {
    this.#sink = sink;
  }

  started(run: RunState, from: Beginning): void {
    const envelope = inStep(
      envelopeIn(run, eventId(run.id, "run-start", run.part)),
      from.parentStepId,
    );
    if (from.parentToolUseId !== undefined) envelope.parent_tool_use_id = from.parentToolUseId;
    if (from.resumedFromRunId !== undefined) envelope.resumed_from_run_id = from.resumedFromRunId;
    if (from.asked !== undefined) envelope.details = { ...envelope.details, input: from.asked };
    this.#sink.send(
      {
        type: "started",
        run_id: run.id,
        tenant_id: run.tenant,
        parent_run_id: from.parentRunId ?? null,
        agent: from.agent,
      },
      envelope,
    );
  }

  complete(run: RunState, state: unknown, answer: unknown): void {
    run.ended = true;
    // Only the root run reports usage. It includes the child runs.
    const usage = run.root ? run.totals.snapshot() : null;
    const envelope = envelopeIn(run, eventId(run.id, "run-end", run.part));
    if (usage?.cost_usd != null && isZeroCost(usage.cost_usd)) {
      envelope.details = { ...envelope.details, cost_known: true };
    }
    this.#sink.send(
      { type: "complete", run_id: run.id, tenant_id: run.tenant, state, usage },
      answering(envelope, answer),
    );
  }

  /** @param at time of the failure. Default: now. */
  failed(run: RunState, failure: Failure, at?: Instant): void {
    run.ended = true;
    const { error, envelope, exception, kind } = failure;
    const details = exception === undefined ? undefined : { exception };
    this.#sink.send(
      { type: "failed", run_id: run.id, tenant_id: run.tenant, error, envelope, kind },
      withDetails(envelopeIn(run, eventId(run.id, "run-end", run.part), at), details),
    );
  }

  /** @param question content: the question of the paused run. */
  interrupted(run: RunState, kind: InterruptionKind, payload: unknown, question: unknown): void {
    run.ended = true;
    this.#sink.send(
      { type: "interrupted", run_id: run.id, tenant_id: run.tenant, kind, payload },
      answering(envelopeIn(run, eventId(run.id, "run-end", run.part)), question),
    );
  }
}

function answering(envelope: OpenEnvelope, output: unknown): OpenEnvelope {
  if (output !== undefined) envelope.details = { ...envelope.details, output };
  return envelope;
}

/** A digit of the event's ID for each event of a LangChain run. */
const DIGITS = {
  "run-start": "a",
  "run-end": "b",
  "call-start": "c",
  "call-end": "d",
} as const;

const UUID_LENGTH = 36;
/** Position of a UUID's version. */
const VERSION_AT = 14;

/**
 * The ID of an event, the same for every call of its callback. It is a UUID like LangChain's run IDs, because sinks
 * remember UUIDs with less time and memory than other texts.
 *
 * @param part number of the run's segment.
 */
export function eventId(runId: string, what: keyof typeof DIGITS, part = 1): string {
  if (part > 1) return `${runId}:${what}:${part}`;
  if (runId.length !== UUID_LENGTH) return `${runId}:${what}`;
  return `${runId.slice(0, VERSION_AT)}${DIGITS[what]}${runId.slice(VERSION_AT + 1)}`;
}
