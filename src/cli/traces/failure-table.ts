import { FAILURE_KIND_IDS } from "../../errors/error-kinds.ts";
import { safe } from "../terminal/safe-text.ts";
import { table } from "../terminal/table.ts";
import type { RunTally } from "./run-tally.ts";

/** Tenants that are shown; the rest is a number. */
const MOST_ROWS = 20;

/** Failed runs by tenant and kind, the most first; only kinds that occur have a column. */
export function failureTable(tally: RunTally): string[] {
  const kinds = FAILURE_KIND_IDS.filter((kind) => tally.failureKinds.has(kind));
  const tenants = [...tally.failuresByTenant].map(([tenant, counts]) => ({
    tenant,
    counts: kinds.map((kind) => counts.get(kind) ?? 0),
  }));
  tenants.sort((a, b) => total(b.counts) - total(a.counts));
  const rows = tenants
    .slice(0, MOST_ROWS)
    .map(({ tenant, counts }) => [safe(tenant), ...counts.map(String), String(total(counts))]);
  const lines = table([["tenant", ...kinds, "failed runs"], ...rows]);
  const more = tenants.length - MOST_ROWS;
  return more > 0 ? [...lines, `… and ${more} more tenants`] : lines;
}

function total(counts: readonly number[]): number {
  return counts.reduce((sum, count) => sum + count, 0);
}
