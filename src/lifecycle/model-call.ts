import type { Instant } from "../events/instant.ts";
import type { ModelOpening } from "./signals.ts";

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
    const provider = opening.facts?.["gen_ai.provider.name"];
    this.ordinal = ordinal;
    this.model = opening.model;
    this.provider = typeof provider === "string" ? provider : undefined;
    this.startedAt = startedAt;
    this.id = id;
  }
}
