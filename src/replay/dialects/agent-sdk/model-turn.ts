import {
  type Instant,
  millisecondsBetween,
  type SignalAttributes,
  type SupposedEnd,
} from "../../../events/door.ts";
import type { Count } from "./events.ts";

/**
 * The open model call of a run. Upstream says when a turn begins and, after its tools, what it used;
 * when the model had answered is read from what came between.
 */
export class ModelTurn {
  /** Absent where the `start` was not seen. */
  readonly turn: Count | undefined;
  readonly startedAt: Instant;
  retries = 0;
  #firstChunkAt: Instant | undefined;
  #lastOutputAt: Instant | undefined;
  #firstToolAt: Instant | undefined;
  #erredAt: Instant | undefined;
  /** Whether what came last was a whole block, or the run went on past it. */
  #whole = false;

  constructor(turn: Count | undefined, startedAt: Instant) {
    this.turn = turn;
    this.startedAt = startedAt;
  }

  /** The model said something; `streamed` when it was a piece of more. */
  keepAlive(at: Instant, streamed: boolean): void {
    // A server calls the model again in the same turn, once its tools are done.
    if (streamed && !this.toolsBegan) this.#firstChunkAt ??= at;
    this.#lastOutputAt = at;
    this.#whole = !streamed;
    this.#erredAt = undefined;
  }

  /** The run had an error, which may have cut the answer off, or been about a whole one. */
  erred(at: Instant): void {
    this.#erredAt = at;
  }

  /** The run ended well or waits for a human, and so what the model was saying was all of it. */
  wasHeardOut(): void {
    this.#whole = true;
  }

  /** A tool that it asked for began: nothing of the answer is to come. */
  toolStarted(at: Instant): void {
    this.#firstToolAt ??= at;
  }

  /** It is asked again, and what it said so far is void. */
  retried(): void {
    this.retries += 1;
    this.#lastOutputAt = undefined;
    this.#erredAt = undefined;
  }

  /** Whether it had answered; a stream that stops at a piece of a block was cut. */
  get answered(): boolean {
    return this.#firstToolAt !== undefined || (this.#whole && this.#lastOutputAt !== undefined);
  }

  /** Whether tools that it asked for have begun: then its answer surely was whole. */
  get toolsBegan(): boolean {
    return this.#firstToolAt !== undefined;
  }

  /** When an error came after which nothing was heard of it. */
  get erredAt(): Instant | undefined {
    return this.#erredAt;
  }

  /** When it had answered: as its first tool began, else with its last output, if there was any. */
  get answeredAt(): Instant | undefined {
    return this.#firstToolAt ?? this.#lastOutputAt;
  }

  /** Seconds to the first piece of the answer, where it was streamed. */
  get firstChunkAfter(): number | undefined {
    const at = this.#firstChunkAt;
    return at === undefined ? undefined : millisecondsBetween(this.startedAt, at) / 1000;
  }
}

/** How often it was tried again, where it was. */
export function retryCount({ retries }: ModelTurn): number | undefined {
  return retries === 0 ? undefined : retries;
}

/** How a model call ended whose run waits and may wait for good; `undefined` where it gave no answer. */
export function modelAnswer(model: ModelTurn): SupposedEnd["model"] {
  const at = model.answered ? model.answeredAt : undefined;
  if (at === undefined) return undefined;
  const attributes: SignalAttributes = {
    "entelix.retry.count": retryCount(model),
    "gen_ai.response.time_to_first_chunk": model.firstChunkAfter,
  };
  return { at, attributes };
}
