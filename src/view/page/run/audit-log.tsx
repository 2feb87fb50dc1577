import type { RunDetail } from "../../format.ts";
import { AuditRows } from "./audit-rows.tsx";
import { VerdictLine } from "./verdict.tsx";

/** All audit rows of a run and of its child runs, with the verdict of their log. */
export function AuditLog({ detail }: { readonly detail: RunDetail }) {
  return (
    <section aria-label="Audit rows of the run">
      <h2 class="print-only">Audit rows</h2>
      <VerdictLine from={detail.rows_from} verdict={detail.verdict} />
      <AuditRows content={detail.content} rows={detail.rows} />
    </section>
  );
}
