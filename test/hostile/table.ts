import { HARMS } from "./harm.ts";
import type { KindCounts } from "./trials.ts";

/** What came of one family. */
export interface FamilyResult {
  readonly family: string;
  readonly kinds: readonly KindCounts[];
}

const COLUMNS = ["family", "input", "count", "refused", "accepted", ...HARMS] as const;

/** The rows of the one table: each kind of each family, and the sum of all. */
function rowsOf(results: readonly FamilyResult[]): string[][] {
  const all = results.flatMap(({ kinds }) => kinds);
  const figures = (kinds: readonly KindCounts[]) => {
    const sum = (of: (kind: KindCounts) => number) =>
      kinds.reduce((total, kind) => total + of(kind), 0).toLocaleString("en-US");
    const harms = HARMS.map((harm) => sum((kind) => kind.harms[harm]));
    return [
      sum((kind) => kind.inputs),
      sum((kind) => kind.refused),
      sum((kind) => kind.accepted),
      ...harms,
    ];
  };
  const rows = results.flatMap(({ family, kinds }) =>
    // What was not tried, on this machine or in a short run, has no figures.
    kinds.filter(({ inputs }) => inputs > 0).map((kind) => [family, kind.kind, ...figures([kind])]),
  );
  return [...rows, ["all", "", ...figures(all)]];
}

/** The table for a terminal. */
export function plainTable(results: readonly FamilyResult[]): string {
  const rows = [[...COLUMNS], ...rowsOf(results)];
  const widths = COLUMNS.map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)));
  return rows
    .map((row) =>
      row
        .map((cell, at) => (at < 2 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0)))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

/** The table as it stands in docs/hostile-trials.md. */
export function markdownTable(results: readonly FamilyResult[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  const rule = `|${COLUMNS.map((_, at) => (at < 2 ? "---" : "--:")).join("|")}|`;
  return [line(COLUMNS), rule, ...rowsOf(results).map(line)].join("\n");
}
