import type { ComponentChildren } from "preact";
import { count, cut, durationText, safe } from "../../../events/format/door.ts";
import type { ViewRun } from "../../format.ts";
import { dollars } from "../../model/formats.ts";
import type { SortColumn } from "../../model/list-query.ts";
import type { RunRow } from "../../model/run-index.ts";
import { runAddress } from "../route.ts";
import { Badge } from "../shell/badge.tsx";
import { Name } from "../shell/text.tsx";
import { Time } from "../shell/time.tsx";

/** A column of the list. */
export interface Column {
  /** Absent if the list can't be sorted by it. */
  readonly sort?: SortColumn;
  readonly label: string;
  /** Explanation of the label. */
  readonly title?: string;
  /** CSS classes of its cells. */
  readonly style: string;
  readonly cell: (row: RunRow) => ComponentChildren;
}

export const COLUMNS: readonly Column[] = [
  {
    sort: "time",
    label: "Time",
    title: "When the run started, in your time zone",
    style: "cell-time",
    cell: ({ run, startMs }) => (
      // The row has the focus, and opens with Enter.
      <a href={runAddress(run.key)} tabIndex={-1}>
        <Time ms={startMs} />
        <span class="visually-hidden">, run {safe(cut(run.run_id, 100).text)}</span>
      </a>
    ),
  },
  {
    sort: "agent",
    label: "Agent",
    style: "cell-agent",
    cell: ({ run }) => (run.agent === undefined ? none : <Name value={run.agent} />),
  },
  {
    sort: "tenant",
    label: "Tenant",
    style: "cell-tenant",
    cell: ({ run }) => <Name value={run.tenant_id} />,
  },
  {
    sort: "outcome",
    label: "Outcome",
    style: "cell-outcome",
    cell: ({ run }) => <Badge outcome={run.outcome} />,
  },
  { sort: "kind", label: "Failure kind", style: "cell-kind", cell: ({ run }) => reason(run) },
  {
    sort: "origin",
    label: "Origin",
    title: "Where the failure arose: model, tool or run",
    style: "cell-origin",
    cell: ({ run }) =>
      run.failure_origin === undefined ? null : <Name value={run.failure_origin} />,
  },
  {
    sort: "working",
    label: "Duration",
    title: "Time from start to end, without the time spent waiting for people",
    style: "cell-working number",
    cell: ({ run }) => (run.working_ms === undefined ? null : durationText(run.working_ms)),
  },
  {
    sort: "waiting",
    label: "Waiting",
    title: "Time spent waiting for people",
    style: "cell-waiting number",
    cell: ({ run }) => (run.waiting_ms ? durationText(run.waiting_ms) : null),
  },
  {
    sort: "input",
    label: "Tokens in",
    style: "cell-input number",
    cell: ({ run }) => (run.input_tokens === undefined ? null : count(run.input_tokens)),
  },
  {
    sort: "output",
    label: "Tokens out",
    style: "cell-output number",
    cell: ({ run }) => (run.output_tokens === undefined ? null : count(run.output_tokens)),
  },
  {
    sort: "cost",
    label: "Cost",
    title: "US dollars",
    style: "cell-cost number",
    cell: ({ run: { cost_usd } }) =>
      cost_usd === undefined ? null : (
        <span title={`${safe(cut(cost_usd, 60).text)} US dollars`}>
          {safe(cut(dollars(cost_usd), 20).text)}
        </span>
      ),
  },
  { label: "Run ID", style: "cell-run mono", cell: ({ run }) => <Name value={run.run_id} /> },
];

const none = <span class="muted">(none)</span>;

/** Failure kind, else the reason of the pause, or the problem of a complete run. */
function reason({ degraded, failure_kind, interruption_kind, loop }: ViewRun) {
  if (failure_kind !== undefined) return <Name value={failure_kind} />;
  if (interruption_kind !== undefined) return <Name value={`waits: ${interruption_kind}`} />;
  if (degraded !== undefined) return <Name value={`degraded: ${degraded.join(", ")}`} />;
  return loop === undefined ? null : <Name value={`loop: ${loop}`} />;
}
