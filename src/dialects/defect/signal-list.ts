import type { Instant } from "../../events/instant.ts";
import type { Signal, SignalKind } from "../../lifecycle/signal.ts";

/** The signals that one event makes, in their order. */
export class SignalList {
  readonly signals: Signal[] = [];
  readonly #tenantId: string;

  constructor(tenantId: string) {
    this.#tenantId = tenantId;
  }

  /** Adds a signal about a run. */
  add(runId: string, at: Readonly<Instant>, kind: SignalKind): void {
    this.signals.push({ tenantId: this.#tenantId, runId, at: [at[0], at[1]], ...kind });
  }
}
