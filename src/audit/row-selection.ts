import { checkOneOf } from "../events/door.ts";
import { graphEventForm } from "./wire/graph-event-form.ts";

/**
 * Which rows events leave in the audit log. `all`: every kind. `upstream`: no row of this package's own
 * kinds, so that the log holds only what upstream's readers know.
 */
export type AuditRows = "all" | "upstream";

/** What `rows` may be. */
export const AUDIT_ROWS = ["all", "upstream"] as const satisfies readonly AuditRows[];

/** @throws TypeError when the option is neither absent nor one of the two words. */
export function checkAuditRows(rows: AuditRows | undefined): AuditRows {
  checkOneOf(rows, "rows", AUDIT_ROWS);
  return rows ?? "all";
}

/** Whether upstream knows a kind of row. */
export function isUpstreamKind(kind: string): boolean {
  return graphEventForm.variants.has(kind);
}
