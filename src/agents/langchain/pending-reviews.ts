import { fieldsOf } from "../core/narrow.ts";
import {
  type Answer,
  type AskedCall,
  answersIn,
  type DecidedCall,
  decidedCall,
  lastCalls,
  undecided,
} from "./review.ts";

/** The calls that one interrupt asked about. */
export interface Review {
  readonly interruptId: string | undefined;
  readonly callIds: readonly string[];
}

/**
 * The decisions that an invocation resumes with, until the nodes that asked for them have ended: one
 * object for the graph and the graphs inside it.
 */
export class PendingReviews {
  /** How long people took, in ms, where the pause was seen in this process. */
  readonly waitMs: number | undefined;
  /** Of the invocation that resumes. */
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly #answers: Answer[];
  readonly #reviews: readonly Review[];
  /** By the id of the node's call, the calls of its state: the middleware changes the model's answer. */
  readonly #nodes = new Map<string, readonly AskedCall[]>();

  private constructor(
    answers: readonly Answer[],
    reviews: readonly Review[],
    waitMs: number | undefined,
    metadata: unknown,
  ) {
    this.#answers = [...answers];
    this.#reviews = reviews;
    this.waitMs = waitMs;
    this.metadata = fieldsOf(metadata) ?? {};
  }

  /** @param reviews what the pause asked, where it was seen in this process. */
  static of(
    inputs: unknown,
    reviews: readonly Review[],
    waitMs: number | undefined,
    metadata: unknown,
  ): PendingReviews | undefined {
    const answers = answersIn(inputs);
    if (answers.length === 0) return undefined;
    return new PendingReviews(answers, reviews, waitMs, metadata);
  }

  nodeStarted(id: string, inputs: unknown): void {
    if (this.#answers.length === 0) return;
    const calls = lastCalls(inputs);
    if (calls !== undefined && calls.length > 0) this.#nodes.set(id, calls);
  }

  /** @returns what was decided, if it was this node that asked. */
  nodeEnded(id: string, outputs: unknown): readonly DecidedCall[] {
    const calls = this.#nodes.get(id);
    if (calls === undefined) return NONE;
    this.#nodes.delete(id);
    for (const [at, { decisions, interruptId }] of this.#answers.entries()) {
      const about = this.#callsOf(interruptId, calls) ?? undecided(decisions, calls, outputs);
      if (about?.length !== decisions.length) continue;
      this.#answers.splice(at, 1);
      return decisions.flatMap((decision, index) => {
        const call = about[index];
        const decided = call === undefined ? undefined : decidedCall(decision, call, outputs);
        return decided === undefined ? [] : [decided];
      });
    }
    return NONE;
  }

  nodeFailed(id: string): void {
    this.#nodes.delete(id);
  }

  #callsOf(
    interruptId: string | undefined,
    calls: readonly AskedCall[],
  ): readonly AskedCall[] | undefined {
    const review =
      interruptId === undefined && this.#reviews.length === 1
        ? this.#reviews[0]
        : this.#reviews.find((one) => one.interruptId === interruptId);
    if (review === undefined) return undefined;
    const found = review.callIds.flatMap((id) => calls.filter((call) => call.id === id));
    return found.length === review.callIds.length ? found : undefined;
  }
}

const NONE: readonly DecidedCall[] = [];
