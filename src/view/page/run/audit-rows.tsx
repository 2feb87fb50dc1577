import { useState } from "preact/hooks";
import { count } from "../../../events/format/door.ts";
import type { RunDetail, ViewRow } from "../../format.ts";
import { decisionIn } from "../../model/decisions.ts";
import { jsonOf } from "../../model/json-text.ts";
import { MOST_PRINTED } from "../../model/list-limits.ts";
import { subjectOf } from "../../model/span-rows.ts";
import { Text } from "../shell/text.tsx";
import { Time } from "../shell/time.tsx";
import { usePrinting } from "../shell/use-printing.ts";
import { Decision } from "./decision.tsx";
import { Fact } from "./run-header.tsx";
import { Code } from "./value.tsx";
import { VerdictLine } from "./verdict.tsx";

/** Rows that are shown before a button shows as many more. */
const STEP = 200;

export interface AuditRowsProps {
  readonly rows: readonly ViewRow[];
  readonly content: boolean;
}

/** Rows of the audit log, each with its hashes and payload to open. */
export function AuditRows({ content, rows }: AuditRowsProps) {
  const [shown, setShown] = useState(STEP);
  const printing = usePrinting();
  const listed = printing ? Math.max(shown, MOST_PRINTED) : shown;
  if (rows.length === 0) return <p class="muted">No audit row names this span.</p>;
  return (
    <>
      <ol class="audit-rows">
        {rows.slice(0, listed).map((row) => (
          <li key={`${row.tenant_id} ${row.thread_id} ${row.ordinal}`}>
            <AuditRow content={content} row={row} />
          </li>
        ))}
      </ol>
      {printing && rows.length > listed && (
        <p>
          The first {count(listed)} of {count(rows.length)} rows are printed.
        </p>
      )}
      {rows.length > shown && (
        <button onClick={() => setShown(shown + STEP)} type="button">
          Show {count(Math.min(STEP, rows.length - shown))} more of {count(rows.length - shown)}
        </button>
      )}
    </>
  );
}

function AuditRow({ content, row }: { readonly row: ViewRow; readonly content: boolean }) {
  const [open, setOpen] = useState(false);
  const { erased, kind, ordinal, timestamp } = row;
  const decision = decisionIn(row);
  const subject = subjectOf(row);
  return (
    <>
      <details onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>
          <span class="ordinal">{count(ordinal)}</span> <Text limit={80} value={kind} />
          {subject !== undefined && (
            <span class="muted">
              {" "}
              <Text limit={60} value={subject} />
            </span>
          )}
          {erased === true && (
            <>
              {" "}
              <span class="badge unsure">erased</span>
            </>
          )}
          {timestamp !== undefined && (
            <span class="muted when">
              {" "}
              <Time ms={Date.parse(timestamp)} precision="milliseconds" />
            </span>
          )}
        </summary>
        {open && <RowBody content={content} row={row} />}
      </details>
      {decision !== undefined && <Decision decision={decision} />}
    </>
  );
}

function RowBody({ content, row }: { readonly row: ViewRow; readonly content: boolean }) {
  const ids = [
    ["Thread", row.thread_id],
    ["Run", row.run_id],
    ["Trace", row.trace_id],
    ["Span", row.span_id],
    ["Event", row.event_id],
    ["Hash", row.hash],
    ["Hash of the row before", row.prev],
    ["Digest of the payload", row.digest],
  ] as const;
  return (
    <>
      <dl class="facts wide">
        {ids.map(([name, id]) =>
          id === null ? null : (
            <Fact key={name} name={name}>
              <span class="mono">
                <Text value={id} />
              </span>
            </Fact>
          ),
        )}
      </dl>
      {row.erased === true ? (
        <p class="muted">The payload was erased. The hashes still prove that the row was there.</p>
      ) : row.event === undefined ? (
        <p class="muted">{content ? "The row has no payload." : "The payload was left out."}</p>
      ) : (
        <Code text={jsonOf(row.event)} />
      )}
    </>
  );
}

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
