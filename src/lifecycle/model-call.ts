import type { Instant } from "../events/instant.ts";

/**
 * A run's open call of its model.
 *
 * @typeParam H the driver's handle of a span.
 */
export class ModelCall<H> {
  /** Which of the run's model calls it is, from 1: its span id is derived from it. */
  readonly ordinal: number;
  readonly model: string | undefined;
  readonly startedAt: Instant;
  handle: H | undefined = undefined;

  constructor(ordinal: number, model: string | undefined, startedAt: Instant) {
    this.ordinal = ordinal;
    this.model = model;
    this.startedAt = startedAt;
  }
}
