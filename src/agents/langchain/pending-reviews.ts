import { type Instant, now } from "../../events/door.ts";
import { type DecidedBy, fieldsOf, personOf } from "../core/door.ts";
import {
  type Answer,
  type AskedCall,
  answersIn,
  type DecidedCall,
  decidedCall,
  lastCalls,
  undecided,
} from "./review.ts";
import type { RunState } from "./run-state.ts";

/** The calls that one interrupt asks about. */
export interface Review {
  readonly interruptId: string | undefined;
  readonly callIds: readonly string[];
}

/** A node that may have asked. */
interface AskingNode {
  readonly calls: readonly AskedCall[];
  readonly at: Instant;
}

/**
 * Decisions that an invocation resumes with, until the asking nodes have ended. A graph and its inner graphs share
 * it.
 */
export class PendingReviews {
  /** How long people took, in ms. `undefined`: this process did not see the pause. */
  readonly waitMs: number | undefined;
  /** Metadata of the invocation that resumes. */
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly #answers: Answer[];
  readonly #reviews: readonly Review[];
  /**
   * The calls of a node's state, by the ID of the node's call. Kept because the middleware changes the model's
   * answer.
   */
  readonly #nodes = new Map<string, AskingNode>();

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

  /** @param reviews the calls that the pause asked about, if this process saw it. */
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
    if (calls !== undefined && calls.length > 0) this.#nodes.set(id, { calls, at: now() });
  }

  /** When a node that may have asked started. It got its answers then, which are only known at its end. */
  startOf(id: string): Instant | undefined {
    return this.#nodes.get(id)?.at;
  }

  /** @returns the decisions, if this node asked for them. */
  nodeEnded(id: string, outputs: unknown): readonly DecidedCall[] {
    const { calls } = this.#nodes.get(id) ?? {};
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

/** Sends decisions about tool calls after the asking node ended. */
export class Decisions {
  readonly #decidedBy: DecidedBy | undefined;
  readonly #onError: (error: unknown) => void;

  constructor(decidedBy: DecidedBy | undefined, onError: (error: unknown) => void) {
    this.#decidedBy = decidedBy;
    this.#onError = onError;
  }

  nodeEnded(run: RunState, id: string, outputs: unknown): void {
    const { reviews } = run;
    if (reviews === undefined || run.ended) return;
    const { metadata, waitMs } = reviews;
    const decidedAt = reviews.startOf(id);
    for (const [at, decided] of reviews.nodeEnded(id, outputs).entries()) {
      const { reason, tool, toolUseId } = decided;
      if (!decided.approved) run.asked.known(toolUseId, tool);
      const outcome = decided.details.outcome ?? "approved";
      const decision = { outcome, tool, toolUseId, reason };
      const person = personOf(this.#decidedBy, decision, metadata, this.#onError);
      const details = {
        ...decided.details,
        ...(waitMs === undefined ? {} : { wait_ms: Math.round(waitMs) }),
        ...(person === undefined ? {} : { person }),
      };
      const on = { eventId: `${id}:decision:${at}`, at: decidedAt, isLate: true };
      if (decided.approved) run.writer.toolApproved(decided, details, id, on);
      else run.writer.toolDenied(decided, reason, details, id, on);
    }
  }
}
