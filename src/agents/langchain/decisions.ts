import { type DecidedBy, personOf } from "../core/decided-by.ts";
import type { CallEvents } from "./call-events.ts";
import type { RunState } from "./run-state.ts";

/** Sends what people have decided about tool calls, once the node that asked them has ended. */
export class Decisions {
  readonly #calls: CallEvents;
  readonly #decidedBy: DecidedBy | undefined;
  readonly #onError: (error: unknown) => void;

  constructor(
    calls: CallEvents,
    decidedBy: DecidedBy | undefined,
    onError: (error: unknown) => void,
  ) {
    this.#calls = calls;
    this.#decidedBy = decidedBy;
    this.#onError = onError;
  }

  nodeEnded(run: RunState, id: string, outputs: unknown): void {
    const { reviews } = run;
    if (reviews === undefined || run.ended) return;
    const { metadata, waitMs } = reviews;
    for (const [at, decided] of reviews.nodeEnded(id, outputs).entries()) {
      const { reason, tool, toolUseId } = decided;
      const outcome = decided.details.outcome ?? "approved";
      const decision = { outcome, tool, toolUseId, reason };
      const person = personOf(this.#decidedBy, decision, metadata, this.#onError);
      const details = {
        ...decided.details,
        ...(waitMs === undefined ? {} : { wait_ms: Math.round(waitMs) }),
        ...(person === undefined ? {} : { person }),
      };
      this.#calls.decided(run, id, at, { ...decided, details });
    }
  }
}
