import type { Instant, ModelOpening } from "../../events/door.ts";
import type { CallIdBudget } from "./call-history.ts";

/**
 * A run's open call of its model.
 *
 * @typeParam H the driver's handle of a span.
 */
export class ModelCall<H> {
  /** Which of the run's model calls it is, from 1: its span id is derived from it. */
  readonly ordinal: number;
  readonly model: string | undefined;
  readonly provider: string | undefined;
  readonly startedAt: Instant;
  /** Empty where its source does not tell calls apart. */
  readonly id: string;
  handle: H | undefined = undefined;

  constructor(ordinal: number, opening: ModelOpening, startedAt: Instant, id = "") {
    const provider = opening.attributes?.["gen_ai.provider.name"];
    this.ordinal = ordinal;
    this.model = opening.model;
    this.provider = typeof provider === "string" ? provider : undefined;
    this.startedAt = startedAt;
    this.id = id;
  }
}

/** A run remembers the ids of at least this many model calls that ended last, and at most twice as many. */
const ENDED_AT_LEAST = 128;

/**
 * The model calls of one run whose source tells them apart by id: those that are open, oldest first,
 * and the ids of those that ended last.
 */
export class ModelCalls<H> {
  readonly #open = new Map<string, ModelCall<H>>();
  // Two halves, of which the older one is forgotten as a whole: a Set that loses its first entry over
  // and over gets slow.
  #ended: Set<string> | undefined = undefined;
  #endedBefore: Set<string> | undefined = undefined;

  get size(): number {
    return this.#open.size;
  }

  get(id: string): ModelCall<H> | undefined {
    return this.#open.get(id);
  }

  get oldest(): ModelCall<H> | undefined {
    return this.#open.values().next().value;
  }

  add(call: ModelCall<H>): void {
    this.#open.set(call.id, call);
  }

  remove(call: ModelCall<H>): void {
    this.#open.delete(call.id);
  }

  /** Whether a call of this id has ended, as far as that is remembered. */
  hasEnded(id: string): boolean {
    return this.#ended?.has(id) === true || this.#endedBefore?.has(id) === true;
  }

  /** @param budget where ids that are forgotten are counted. */
  noteEnded(id: string, budget: CallIdBudget): void {
    this.#ended ??= new Set();
    if (this.#ended.size === ENDED_AT_LEAST) {
      budget.forgotten += this.#endedBefore?.size ?? 0;
      this.#endedBefore = this.#ended;
      this.#ended = new Set();
    }
    this.#ended.add(id);
  }
}
