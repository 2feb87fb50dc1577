import {
  type ModelEnd,
  type ModelProblem,
  numberOf,
  type SignalAttributes,
  usageAttributes,
} from "../../../events/door.ts";
import type { AutoRetryEnd, AutoRetryStart, Count, TokenUsage, TurnComplete } from "./events.ts";
import { ModelTurn, retryCount } from "./model-turn.ts";
import type { Reading } from "./reading.ts";
import { usageOf } from "./terminals.ts";

/** Opens a model call at the start of a turn. A call that is still open ended before, or is retried. */
export function modelStarts(reading: Reading, turn: Count | undefined): ModelTurn {
  const { run, at } = reading;
  const open = run.model;
  if (open !== undefined) {
    const again = turn !== undefined && open.turn === turn;
    const cut = again || open.erredAt !== undefined;
    closeModel(reading, open, { unfinished: cut && !open.answered });
  }
  const model = new ModelTurn(turn, at);
  run.model = model;
  run.waitsFor = undefined;
  run.retriesUsedUp = false;
  const { tenantId, runId } = reading;
  const attributes: SignalAttributes = { "entelix.turn": numberOf(turn) };
  reading.output.signals.push({ signal: "model_opens", tenantId, runId, at, attributes });
  return model;
}

/** The model produces output. */
export function modelSpeaks(reading: Reading, streamed: boolean): void {
  reading.run.waitsFor = undefined;
  reading.run.retriesUsedUp = false;
  seenModel(reading).keepAlive(reading.at, streamed);
}

/** The model could not be reached and is called again. */
export function modelRetries(reading: Reading, event: AutoRetryStart): void {
  reading.run.waitsFor = undefined;
  seenModel(reading).retried();
  const most = numberOf(event.max_attempts);
  reading.note({
    name: "entelix.retry",
    on: "model",
    attributes: {
      "entelix.retry.attempt": numberOf(event.attempt),
      "entelix.retry.max_attempts": most === WITHOUT_END ? undefined : most,
      "entelix.retry.delay_ms": numberOf(event.delay_ms),
      "entelix.error.message": event.error_message,
    },
  });
}

/** The largest u32: upstream waits for the connection without limit. */
const WITHOUT_END = 2 ** 32 - 1;

/** The retries are over, with or without success. */
export function retriesEnd(reading: Reading, event: AutoRetryEnd): void {
  if (event.success) return;
  const message = event.final_error ?? "the retries were used up";
  closeModel(reading, seenModel(reading), { problem: { message } });
  reading.run.retriesUsedUp = true;
}

/**
 * Closes the model call of a turn with its usage.
 *
 * @returns false if the call of that turn was already closed.
 */
export function turnCompletes(reading: Reading, { turn, usage }: TurnComplete): boolean {
  const { run } = reading;
  const { model } = run;
  const least = model?.turn ?? run.lastTurn;
  const isOver = least !== undefined && (model?.turn === undefined ? turn <= least : turn < least);
  if (isOver) return false;
  closeModel(reading, seenModel(reading), { usage, turn });
  run.lastTurn = turn;
  run.totals.used(usage);
  return true;
}

/** Closes the open model call when its run ends or may end: complete if the answer was, else unfinished. */
export function closeLast(reading: Reading): void {
  const { model } = reading.run;
  if (model !== undefined) closeModel(reading, model, { unfinished: !model.answered });
}

/** The end of a model call, except its time. */
export interface ModelClosing {
  readonly problem?: ModelProblem;
  readonly unfinished?: boolean;
  readonly usage?: TokenUsage;
  /** The turn, if its `start` was not seen. */
  readonly turn?: Count;
}

/** Closes the open model call. */
export function closeModel(
  reading: Reading,
  model: ModelTurn,
  { problem, unfinished, usage, turn }: ModelClosing = {},
): void {
  const { run, tenantId, runId } = reading;
  run.model = undefined;
  run.lastTurn = model.turn ?? run.lastTurn;
  const attributes: SignalAttributes = {
    "entelix.turn": model.turn === undefined ? numberOf(turn) : undefined,
    "entelix.retry.count": retryCount(model),
    "gen_ai.response.time_to_first_chunk": model.firstChunkAfter,
    ...usageAttributes(usage && usageOf(usage)),
  };
  const cut = problem !== undefined || unfinished === true;
  const over = model.erredAt ?? reading.at;
  const at = cut ? over : (model.answeredAt ?? over);
  const outcome = unfinished === true ? "unfinished" : "complete";
  const end: ModelEnd =
    problem === undefined ? { outcome, attributes } : { outcome: "error", problem, attributes };
  reading.output.signals.push({ signal: "model_closes", tenantId, runId, at, end });
}

/** The open model call. Opens one if its `start` was not seen. */
function seenModel(reading: Reading): ModelTurn {
  return reading.run.model ?? modelStarts(reading, undefined);
}
