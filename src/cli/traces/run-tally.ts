import { attributeText, type FinishedSpan, operationOf } from "../../bridge/door.ts";
import { FAILURE_KIND_IDS } from "../../events/door.ts";
import { table } from "../terminal/table.ts";
import { safe } from "../terminal/text.ts";

/** Most tenants that are counted separately. The others are counted together. */
const MOST_TENANTS = 1_000;
const OTHER_TENANTS = "(other tenants)";

/** Counts finished spans: runs by outcome, failures by kind and tenant. */
export class RunTally {
  spans = 0;
  runs = 0;
  calls = 0;
  /** Ends of runs and segments, by outcome. */
  readonly outcomes = new Map<string, number>();
  /** Failed runs by failure kind. */
  readonly failureKinds = new Map<string, number>();
  /** Failed runs by tenant and failure kind. */
  readonly failuresByTenant = new Map<string, Map<string, number>>();

  add(span: FinishedSpan): void {
    this.spans++;
    const operation = operationOf(span.attributes);
    if (operation === "execute_tool") this.calls++;
    if (operation !== "invoke_agent" && operation !== "invoke_workflow") return;
    // Later segments belong to a run that was counted already.
    if (span.attributes["entelix.run.segment"] === undefined) this.runs++;
    // Runs of other instrumentation have only a status.
    const status = span.failed ? "failed" : "complete";
    bump(this.outcomes, attributeText(span, "entelix.run.outcome") || status);
    const kind = attributeText(span, "entelix.failure.kind");
    if (kind === "") return;
    bump(this.failureKinds, kind);
    bump(this.#ofTenant(attributeText(span, "entelix.tenant_id")), kind);
  }

  #ofTenant(tenant: string): Map<string, number> {
    const known = this.failuresByTenant.get(tenant);
    if (known !== undefined) return known;
    const room = this.failuresByTenant.size < MOST_TENANTS;
    if (!room && tenant !== OTHER_TENANTS) return this.#ofTenant(OTHER_TENANTS);
    const kinds = new Map<string, number>();
    this.failuresByTenant.set(tenant, kinds);
    return kinds;
  }
}

function bump(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}

/** Most tenants in the table. */
const MOST_ROWS = 20;

/** A table of failed runs by tenant and kind. Tenants with the most failures come first. */
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
