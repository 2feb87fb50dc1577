import type { ComponentChildren } from "preact";
import { count, cut, durationText, safe } from "../../../events/format/door.ts";
import type { ViewRun } from "../../format.ts";
import { dollars } from "../../model/formats.ts";
import type { ListLine } from "../../model/list-lines.ts";
import type { SortColumn } from "../../model/list-query.ts";
import { tokensOf } from "../../model/sort-rows.ts";
import { storyLine } from "../../model/story-words.ts";
import { Badge } from "../shell/badge.tsx";
import { Name } from "../shell/text.tsx";
import { RowName, RowStory, RowTime } from "./row-cells.tsx";

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
  readonly cell: (line: ListLine, shown: Shown) => ComponentChildren;
}

/** What a cell must know of the table. */
export interface Shown {
  /** The present: Unix time in ms. */
  readonly now: number;
  /** Seconds in which several of the lines on the page begin: Unix times. */
  readonly sharedSeconds: ReadonlySet<number>;
}

export const COLUMNS: readonly Column[] = [
  {
    sort: "time",
    label: "Time",
    title: "When the run started, in your time zone",
    style: "cell-time",
    width: "10rem",
    cell: ({ row: { startMs } }, { now, sharedSeconds }) => (
      <RowTime ms={startMs} now={now} precise={sharedSeconds.has(Math.floor(startMs / 1000))} />
    ),
  },
  {
    label: "What happened",
    title: "What was asked, and how it went",
    style: "cell-story",
    width: "minmax(12rem, 4.5fr)",
    isFilled: (run) => run.question !== undefined || storyLine(run) !== undefined,
    cell: (line) => <RowStory line={line} />,
  },
  {
    sort: "agent",
    label: "Agent",
    style: "cell-agent",
    width: "minmax(5.3rem, 1.2fr)",
    cell: (line) => {
      const { agent, question } = line.row.run;
      if (question === undefined) return <RowName line={line} value={agent} />;
      return agent === undefined ? none : <Name value={agent} />;
    },
  },
  {
    sort: "tenant",
    label: "Tenant",
    style: "cell-tenant",
    width: "minmax(4.7rem, 0.9fr)",
    isFilled: ({ tenant_id }) => tenant_id !== "",
    cell: ({ row: { run } }) => <Name value={run.tenant_id} />,
  },
  {
    sort: "outcome",
    label: "Outcome",
    style: "cell-outcome",
    width: "8rem",
    cell: ({ row: { run } }) => <Badge outcome={run.outcome} />,
  },
  {
    sort: "kind",
    label: "Failure kind",
    style: "cell-kind",
    width: "minmax(11rem, 1.7fr)",
    isFilled: (run) => reasonText(run) !== undefined,
    cell: ({ row: { run } }) => reason(run),
  },
  {
    sort: "origin",
    label: "Origin",
    title: "Where the failure arose: model, tool or run",
    style: "cell-origin",
    width: "4.5rem",
    from: 96,
    isFilled: ({ failure_origin }) => failure_origin !== undefined,
    cell: ({ row: { run } }) =>
      run.failure_origin === undefined ? null : <Name value={run.failure_origin} />,
  },
  {
    sort: "working",
    label: "Duration",
    title: "Time from start to end, without the time spent waiting for people",
    style: "cell-working number",
    width: "6.4rem",
    cell: ({ row: { run } }) =>
      run.working_ms === undefined ? null : durationText(run.working_ms),
  },
  {
    sort: "waiting",
    label: "Waiting",
    title: "Time spent waiting for people",
    style: "cell-waiting number",
    width: "6rem",
    from: 84,
    isFilled: ({ waiting_ms = 0 }) => waiting_ms > 0,
    cell: ({ row: { run } }) => (run.waiting_ms ? durationText(run.waiting_ms) : null),
  },
  {
    sort: "tokens",
    label: "Tokens",
    title: "Input and output tokens together",
    style: "cell-tokens number",
    width: "5.6rem",
    from: 84,
    isFilled: (run) => tokensOf(run) !== undefined,
    cell: ({ row: { run } }) => {
      const tokens = tokensOf(run);
      if (tokens === undefined) return null;
      const { input_tokens = 0, output_tokens = 0 } = run;
      const parts = `${count(input_tokens)} in, ${count(output_tokens)} out`;
      return <span title={parts}>{count(tokens)}</span>;
    },
  },
  {
    sort: "input",
    label: "Tokens in",
    style: "cell-input number",
    width: "6.4rem",
    from: 128,
    isFilled: ({ input_tokens }) => input_tokens !== undefined,
    cell: ({ row: { run } }) => (run.input_tokens === undefined ? null : count(run.input_tokens)),
  },
  {
    sort: "output",
    label: "Tokens out",
    style: "cell-output number",
    width: "6.9rem",
    from: 128,
    isFilled: ({ output_tokens }) => output_tokens !== undefined,
    cell: ({ row: { run } }) => (run.output_tokens === undefined ? null : count(run.output_tokens)),
  },
  {
    sort: "cost",
    label: "Cost",
    title: "US dollars",
    style: "cell-cost number",
    width: "7rem",
    isFilled: ({ cost_usd }) => cost_usd !== undefined,
    cell: ({
      row: {
        run: { cost_usd, estimated_by },
      },
    }) =>
      cost_usd === undefined ? null : (
        <span title={`${safe(cut(cost_usd, 60).text)} US dollars${estimated(estimated_by)}`}>
          {estimated_by === undefined ? "" : "≈ "}
          {safe(cut(dollars(cost_usd), 20).text)}
        </span>
      ),
  },
  {
    label: "Model",
    style: "cell-model",
    width: "minmax(6rem, 1.2fr)",
    from: 104,
    isFilled: ({ model }) => model !== undefined,
    cell: ({ row: { run } }) => names(run.models ?? run.model),
  },
  {
    label: "Conversation",
    style: "cell-thread",
    width: "minmax(7.4rem, 1fr)",
    from: 112,
    isFilled: ({ thread_id }) => thread_id !== undefined,
    cell: ({ row: { run } }) => names(run.thread_id),
  },
  {
    label: "User",
    style: "cell-user",
    width: "minmax(5rem, 0.9fr)",
    from: 120,
    isFilled: ({ user }) => user !== undefined,
    cell: ({ row: { run } }) => names(run.user),
  },
  {
    label: "Tools",
    style: "cell-tools",
    width: "minmax(7rem, 1.4fr)",
    from: 128,
    isFilled: ({ tools }) => tools !== undefined,
    cell: ({ row: { run } }) => names(run.tools),
  },
  {
    label: "Tags",
    style: "cell-tags",
    width: "minmax(5rem, 0.9fr)",
    from: 136,
    isFilled: ({ tags }) => tags !== undefined,
    cell: ({ row: { run } }) => names(run.tags),
  },
  {
    label: "Run ID",
    style: "cell-run",
    width: "minmax(10rem, 1.6fr)",
    from: 144,
    cell: ({ row: { run } }) => (
      <span class="mono">
        <Name value={run.run_id} />
      </span>
    ),
  },
];

function estimated(by: string | undefined): string {
  return by === undefined ? "" : `, estimated by ${by}`;
}

const none = <span class="muted">(none)</span>;

/** Names from outside, in one line. */
function names(value: string | readonly string[] | undefined) {
  if (value === undefined) return null;
  return <Name value={typeof value === "string" ? value : value.join(", ")} />;
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
