import type { ComponentChildren } from "preact";
import { count, cut, durationText, safe } from "../../../events/format/door.ts";
import type { ViewRun } from "../../format.ts";
import { dollars } from "../../model/formats.ts";
import type { SortColumn } from "../../model/list-query.ts";
import type { RunRow } from "../../model/run-index.ts";
import { storyLine } from "../../model/story-words.ts";
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
  /** Its track in the grid. */
  readonly width: string;
  /** Least width of the window that has room for it, in rem. Default: that of the table. */
  readonly from?: number;
  /** Whether a run has a value. A column without any is not shown. Default: every run has one. */
  readonly isFilled?: (run: ViewRun) => boolean;
  readonly cell: (row: RunRow) => ComponentChildren;
}

export const COLUMNS: readonly Column[] = [
  {
    sort: "time",
    label: "Time",
    title: "When the run started, in your time zone",
    style: "cell-time",
    width: "11.8rem",
    cell: ({ run, startMs }) => (
      // The row has the focus, and opens with Enter.
      <a href={runAddress(run.key)} tabIndex={-1}>
        <Time ms={startMs} />
        <span class="visually-hidden">, run {safe(cut(run.run_id, 100).text)}</span>
      </a>
    ),
  },
  {
    label: "What happened",
    title: "What was asked, and how it went",
    style: "cell-story",
    width: "minmax(12rem, 4.5fr)",
    isFilled: (run) => run.question !== undefined || storyLine(run) !== undefined,
    cell: ({ run }) => <Story run={run} />,
  },
  {
    sort: "agent",
    label: "Agent",
    style: "cell-agent",
    width: "minmax(5.3rem, 1.4fr)",
    cell: ({ run }) => (run.agent === undefined ? none : <Name value={run.agent} />),
  },
  {
    sort: "tenant",
    label: "Tenant",
    style: "cell-tenant",
    width: "minmax(4.7rem, 0.9fr)",
    isFilled: ({ tenant_id }) => tenant_id !== "",
    cell: ({ run }) => <Name value={run.tenant_id} />,
  },
  {
    sort: "outcome",
    label: "Outcome",
    style: "cell-outcome",
    width: "8.5rem",
    cell: ({ run }) => <Badge outcome={run.outcome} />,
  },
  {
    sort: "kind",
    label: "Failure kind",
    style: "cell-kind",
    width: "minmax(9.2rem, 1.7fr)",
    isFilled: (run) => reasonText(run) !== undefined,
    cell: ({ run }) => reason(run),
  },
  {
    sort: "origin",
    label: "Origin",
    title: "Where the failure arose: model, tool or run",
    style: "cell-origin",
    width: "4.5rem",
    from: 84,
    isFilled: ({ failure_origin }) => failure_origin !== undefined,
    cell: ({ run }) =>
      run.failure_origin === undefined ? null : <Name value={run.failure_origin} />,
  },
  {
    sort: "working",
    label: "Duration",
    title: "Time from start to end, without the time spent waiting for people",
    style: "cell-working number",
    width: "6.4rem",
    cell: ({ run }) => (run.working_ms === undefined ? null : durationText(run.working_ms)),
  },
  {
    sort: "waiting",
    label: "Waiting",
    title: "Time spent waiting for people",
    style: "cell-waiting number",
    width: "6rem",
    from: 84,
    isFilled: ({ waiting_ms = 0 }) => waiting_ms > 0,
    cell: ({ run }) => (run.waiting_ms ? durationText(run.waiting_ms) : null),
  },
  {
    sort: "input",
    label: "Tokens in",
    style: "cell-input number",
    width: "6.4rem",
    from: 96,
    isFilled: ({ input_tokens }) => input_tokens !== undefined,
    cell: ({ run }) => (run.input_tokens === undefined ? null : count(run.input_tokens)),
  },
  {
    sort: "output",
    label: "Tokens out",
    style: "cell-output number",
    width: "6.9rem",
    from: 96,
    isFilled: ({ output_tokens }) => output_tokens !== undefined,
    cell: ({ run }) => (run.output_tokens === undefined ? null : count(run.output_tokens)),
  },
  {
    sort: "cost",
    label: "Cost",
    title: "US dollars",
    style: "cell-cost number",
    width: "6.1rem",
    isFilled: ({ cost_usd }) => cost_usd !== undefined,
    cell: ({ run: { cost_usd } }) =>
      cost_usd === undefined ? null : (
        <span title={`${safe(cut(cost_usd, 60).text)} US dollars`}>
          {safe(cut(dollars(cost_usd), 20).text)}
        </span>
      ),
  },
  {
    label: "Run ID",
    style: "cell-run mono",
    width: "minmax(10rem, 1.6fr)",
    from: 112,
    cell: ({ run }) => <Name value={run.run_id} />,
  },
];

const none = <span class="muted">(none)</span>;

/** The question, and below it how the run went. */
function Story({ run }: { readonly run: ViewRun }) {
  const { question } = run;
  const line = storyLine(run);
  return (
    <>
      {question !== undefined && <Name value={question} />}
      {line !== undefined && (
        <span class={`story-line story-${line.tone}`}>
          <Name value={line.text} />
        </span>
      )}
    </>
  );
}

/** Failure kind, else the reason of the pause, or the problem of a complete run. */
function reason(run: ViewRun) {
  const text = reasonText(run);
  return text === undefined ? null : <Name value={text} />;
}

function reasonText(run: ViewRun): string | undefined {
  const { degraded, failure_kind, interruption_kind, loop, resumed } = run;
  if (failure_kind !== undefined) return failure_kind;
  if (interruption_kind !== undefined) {
    return `${resumed === true ? "waited" : "waits"}: ${interruption_kind}`;
  }
  if (degraded !== undefined) return `degraded: ${degraded.join(", ")}`;
  return loop === undefined ? undefined : `loop: ${loop}`;
}
