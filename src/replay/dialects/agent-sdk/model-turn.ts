import {
  type Instant,
  millisecondsBetween,
  type SignalAttributes,
  type SupposedEnd,
} from "../../../events/door.ts";
import type { Count } from "./events.ts";

/**
 * The open model call of a run. Upstream reports the start of a turn and, after its tools, its usage. The time of the
 * answer is derived from the events between them.
 */
export class ModelTurn {
  /** Absent if the `start` was not seen. */
  readonly turn: Count | undefined;
  readonly startedAt: Instant;
  retries = 0;
  #firstChunkAt: Instant | undefined;
  #lastOutputAt: Instant | undefined;
  #firstToolAt: Instant | undefined;
  #erredAt: Instant | undefined;
  /** Whether the last output was a whole block, or the run went on after it. */
  #whole = false;

  constructor(turn: Count | undefined, startedAt: Instant) {
    this.turn = turn;
    this.startedAt = startedAt;
  }

  /** Output of the model. `streamed`: it is a part of a block. */
  keepAlive(at: Instant, streamed: boolean): void {
    // A server calls the model again in the same turn after its tools.
    if (streamed && !this.toolsBegan) this.#firstChunkAt ??= at;
    this.#lastOutputAt = at;
    this.#whole = !streamed;
    this.#erredAt = undefined;
  }

  /** The run had an error. The answer may be cut off or complete. */
  erred(at: Instant): void {
    this.#erredAt = at;
  }

  /** The run ended well or waits for a human, so the answer is complete. */
  completeAnswer(): void {
    this.#whole = true;
  }

  /** A tool that the model asked for began, so the answer is complete. */
  toolStarted(at: Instant): void {
    this.#firstToolAt ??= at;
  }

  /** The model is called again. Its output so far is discarded. */
  retried(): void {
    this.retries += 1;
    this.#lastOutputAt = undefined;
    this.#erredAt = undefined;
  }

  /** Whether the answer is complete. A stream that stops within a block was cut off. */
  get answered(): boolean {
    return this.#firstToolAt !== undefined || (this.#whole && this.#lastOutputAt !== undefined);
  }

  /** Whether tools that the model asked for have begun: the answer is then certainly complete. */
  get toolsBegan(): boolean {
    return this.#firstToolAt !== undefined;
  }

  /** Time of an error after which no output followed. */
  get erredAt(): Instant | undefined {
    return this.#erredAt;
  }

  /** Time of the answer: the start of its first tool, else its last output. */
  get answeredAt(): Instant | undefined {
    return this.#firstToolAt ?? this.#lastOutputAt;
  }

  /** Seconds to the first part of a streamed answer. */
  get firstChunkAfter(): number | undefined {
    const at = this.#firstChunkAt;
    return at === undefined ? undefined : millisecondsBetween(this.startedAt, at) / 1000;
  }
}

/** Number of retries. `undefined` for none. */
export function retryCount({ retries }: ModelTurn): number | undefined {
  return retries === 0 ? undefined : retries;
}

/** The end of the model call of a run that waits, perhaps forever. `undefined` without an answer. */
export function modelAnswer(model: ModelTurn): SupposedEnd["model"] {
  const at = model.answered ? model.answeredAt : undefined;
  if (at === undefined) return undefined;
  const attributes: SignalAttributes = {
    "entelix.retry.count": retryCount(model),
    "gen_ai.response.time_to_first_chunk": model.firstChunkAfter,
  };
  return { at, attributes };
}
