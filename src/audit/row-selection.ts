import { checkOneOf } from "../events/door.ts";
import { graphEventForm } from "./wire/graph-event-form.ts";

/**
 * The rows that events leave in the audit log. `all`: every kind. `upstream`: only kinds that upstream's readers
 * know, none of this package's own.
 */
export type AuditRows = "all" | "upstream";

/** The values of `rows`. */
export const AUDIT_ROWS = ["all", "upstream"] as const satisfies readonly AuditRows[];

/** @throws TypeError if the option is neither absent nor one of the two words. */
export function checkAuditRows(rows: AuditRows | undefined): AuditRows {
  checkOneOf(rows, "rows", AUDIT_ROWS);
  return rows ?? "all";
}

/** Whether a kind of row is one of upstream's. */
export function isUpstreamKind(kind: string): boolean {
  return graphEventForm.variants.has(kind);
}
