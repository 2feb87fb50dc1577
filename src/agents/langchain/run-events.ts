import { type Instant, type InterruptionKind, now, sentLater } from "../../events/door.ts";
import { type OpenEnvelope, type SafeSink, withDetails } from "../core/safe-sink.ts";
import { isZeroCost } from "../runtime/price.ts";
import type { Failure } from "./langchain-errors.ts";
import type { RunState } from "./run-state.ts";

/**
 * The envelope of an event: `id` is the same when the same callback is called again.
 *
 * @param happenedAt of an event that waited.
 */
export function envelopeIn(
  run: RunState,
  id: string,
  happenedAt?: Readonly<Instant>,
): OpenEnvelope {
  const { subject } = run;
  const placed = placedIn(run, id, happenedAt ?? now());
  const envelope = subject === undefined ? placed : { ...placed, ...subject };
  return happenedAt === undefined ? envelope : sentLater(envelope);
}

function placedIn(
  { id: runId, rootId, threadId }: RunState,
  id: string,
  timestamp: Readonly<Instant>,
): OpenEnvelope {
  // Whole from the start: an object that grows costs more than all that is in it.
  if (rootId === runId) {
    return threadId === undefined
      ? { event_id: id, timestamp }
      : { event_id: id, timestamp, thread_id: threadId };
  }
  return threadId === undefined
    ? { event_id: id, timestamp, root_run_id: rootId }
    : { event_id: id, timestamp, thread_id: threadId, root_run_id: rootId };
}

/** The same envelope, of what starts in a step. */
export function inStep(envelope: OpenEnvelope, stepId: string | undefined): OpenEnvelope {
  if (stepId !== undefined) envelope.details = { ...envelope.details, step_id: stepId };
  return envelope;
}

export interface Beginning {
  readonly agent: string;
  readonly parentRunId: string | undefined;
  /** `null` where it is known to be none. */
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
    // The run at the top alone says it, for all below.
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

  /** @param at when it failed. Default: now. */
  failed(run: RunState, failure: Failure, at?: Instant): void {
    run.ended = true;
    const { error, envelope, exception, kind } = failure;
    const details = exception === undefined ? undefined : { exception };
    this.#sink.send(
      { type: "failed", run_id: run.id, tenant_id: run.tenant, error, envelope, kind },
      withDetails(envelopeIn(run, eventId(run.id, "run-end", run.part), at), details),
    );
  }

  /** @param question what it asks. */
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

/** Which event of a LangChain run it is; each has a digit that stands for it in the event's id. */
const DIGITS = {
  "run-start": "a",
  "run-end": "b",
  "call-start": "c",
  "call-end": "d",
} as const;

const UUID_LENGTH = 36;
/** Where a UUID has its version. */
const VERSION_AT = 14;

/**
 * The id of an event, the same when its callback is called again. LangChain's run ids are UUIDs, and so
 * is this: sinks remember UUIDs in a fraction of the time and room that other texts take.
 *
 * @param part of a run that goes on under its own id after a pause, from 2.
 */
export function eventId(runId: string, what: keyof typeof DIGITS, part = 1): string {
  if (part > 1) return `${runId}:${what}:${part}`;
  if (runId.length !== UUID_LENGTH) return `${runId}:${what}`;
  return `${runId.slice(0, VERSION_AT)}${DIGITS[what]}${runId.slice(VERSION_AT + 1)}`;
}
