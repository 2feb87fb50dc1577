import type { ReadableSpan, SpanExporter } from "@opentelemetry/sdk-trace-node";
import { withoutHeaderName } from "../export/answer.ts";
import type { SpanLedger } from "./span-ledger.ts";

type ExportDone = Parameters<SpanExporter["export"]>[1];
type ExportResult = Parameters<ExportDone>[0];

/** The SDK's `ExportResultCode`, which is in a package that this one does not depend on. */
const SUCCESS: ExportResult["code"] = 0;
const FAILED: ExportResult["code"] = 1;

/**
 * Books in a ledger what becomes of the spans that an exporter is given: confirmed or failed, once
 * for each request, however late.
 */
export class CountedExporter implements SpanExporter {
  readonly #exporter: SpanExporter;
  readonly #ledger: SpanLedger;
  readonly #underWay = new Set<Promise<ExportResult>>();

  constructor(exporter: SpanExporter, ledger: SpanLedger) {
    this.#exporter = exporter;
    this.#ledger = ledger;
  }

  export(spans: ReadableSpan[], done: ExportDone): void {
    const ledger = this.#ledger;
    const count = spans.length;
    ledger.send(count);
    let finish: (result: ExportResult) => void = () => {};
    const request = new Promise<ExportResult>((resolve) => {
      finish = resolve;
    });
    this.#underWay.add(request);
    const settle: ExportDone = ({ code, error }) => {
      if (!this.#underWay.delete(request)) return;
      const result = { code, ...(error && { error: withoutHeaderName(error) }) };
      if (result.code === SUCCESS) ledger.confirm(count);
      else ledger.fail(count, result.error);
      finish(result);
      done(result);
    };
    try {
      this.#exporter.export(spans, settle);
    } catch (error) {
      settle({ code: FAILED, error: error instanceof Error ? error : new Error(String(error)) });
    }
  }

  /** Waits for the requests that are under way now; rejects when one of them failed. */
  async forceFlush(): Promise<void> {
    const results = await Promise.all(this.#underWay);
    const failed = results.find((result) => result.code !== SUCCESS);
    if (failed !== undefined) throw failed.error ?? new Error("the export of spans failed");
  }

  shutdown(): Promise<void> {
    return this.#exporter.shutdown();
  }
}
