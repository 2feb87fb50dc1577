import type { Signal } from "../../lifecycle/signal.ts";

/** The signals that one event makes, in their order. */
export class SignalList {
  readonly signals: Signal[] = [];
  /** Whose signals they are. */
  readonly tenantId: string;

  constructor(tenantId: string) {
    this.tenantId = tenantId;
  }

  /** Adds a signal. It is one literal: to put it together out of parts takes several times as long. */
  add(signal: Signal): void {
    this.signals.push(signal);
  }
}
