import type { MeterProvider } from "@opentelemetry/api";
import { observable, ownMeter } from "../../metrics/instruments.ts";
import { LOSS_REASONS } from "../loss-reason.ts";
import type { SpanLedger } from "../span-ledger.ts";

/** Shows the spans that a ledger has lost as `entelix.bridge.spans_dropped`, each reason from 0. */
export function observeSpansDropped(provider: MeterProvider, ledger: SpanLedger): void {
  observable(ownMeter(provider), "entelix.bridge.spans_dropped").addCallback((result) => {
    const { lost } = ledger.counts();
    for (const reason of LOSS_REASONS) result.observe(lost[reason], { "entelix.reason": reason });
  });
}
