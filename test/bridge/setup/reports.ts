import { SpanLossError } from "../../../src/bridge/setup/span-ledger.ts";

/** An `onError` that keeps what it was told. */
export function keepReports() {
  const all: { error: unknown; where: string }[] = [];
  return {
    all,
    onError: (error: unknown, where: string): void => {
      all.push({ error, where });
    },
    /** The reports of lost spans made at that place. */
    losses: (where: string): SpanLossError[] =>
      all
        .filter((report) => report.where === where)
        .flatMap(({ error }) => (error instanceof SpanLossError ? [error] : [])),
  };
}
