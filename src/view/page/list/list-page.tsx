import { useEffect, useMemo } from "preact/hooks";
import { count, counted } from "../../../events/format/door.ts";
import type { ViewSource } from "../../format.ts";
import { groupRows } from "../../model/conversations.ts";
import { failureBars } from "../../model/failure-bars.ts";
import { filterRows } from "../../model/filter-rows.ts";
import { msOf } from "../../model/formats.ts";
import { FEW_RUNS, numbersOf } from "../../model/list-numbers.ts";
import {
  addressQuery,
  isFiltered,
  type ListQuery,
  listQuery,
  withoutFilters,
} from "../../model/list-query.ts";
import { newestFirst, sortRows } from "../../model/sort-rows.ts";
import { type Feed, useFeed } from "../feed.ts";
import { replaceQuery } from "../route.ts";
import { ContentNote } from "../shell/content-note.tsx";
import { ErrorNote } from "../shell/error-note.tsx";
import { announce } from "../shell/live-region.tsx";
import { Sources } from "../shell/sources.tsx";
import { Time } from "../shell/time.tsx";
import { FailureChart } from "./failure-chart.tsx";
import { ListFilters } from "./list-filters.tsx";
import { Numbers } from "./numbers.tsx";
import { RunTable } from "./run-table.tsx";

/** All runs: filters, numbers, runs over time, and a table. */
export function ListPage({ query }: { readonly query: URLSearchParams }) {
  const feed = useFeed();
  const { rows, sources } = feed.state;
  const address = query.toString();
  const list = useMemo(() => listQuery(new URLSearchParams(address)), [address]);
  const byTime = useMemo(() => newestFirst(rows), [rows]);
  // Filter before sorting, so that another order does not filter again.
  const unsorted = { ...list, sort: "time", descending: true, grouped: false } as const;
  const filters = addressQuery(unsorted).toString();
  const matching = useMemo(
    () => filterRows(byTime, listQuery(new URLSearchParams(filters))),
    [byTime, filters],
  );
  const grouped = useMemo(
    () => (list.grouped ? groupRows(matching) : matching),
    [matching, list.grouped],
  );
  const sorted = useMemo(
    () => sortRows(grouped, list.sort, list.descending),
    [grouped, list.sort, list.descending],
  );
  const numbers = useMemo(() => numbersOf(matching), [matching]);
  const failures = useMemo(
    () => failureBars(matching, -new Date().getTimezoneOffset()),
    [matching],
  );
  const total = useMemo(() => filterRows(rows, withoutFilters(list)).length, [rows, list.subRuns]);
  const isEmpty = rows.length === 0;
  const shown = matching.length;
  useEffect(() => {
    if (isFiltered(list)) announce(`${counted(shown, "run matches", "runs match")}.`);
  }, [list]);
  return (
    <main class="list">
      <div class="list-head row">
        <h1>Runs</h1>
        {!isEmpty && <p class="muted">{amount(shown, total, list)}</p>}
        {sources.length > 0 && <Sources sources={sources} />}
      </div>
      {feed.content !== undefined && <ContentNote content={feed.content} isReport />}
      <OlderRuns feed={feed} />
      {isEmpty ? (
        <NoRuns feed={feed} />
      ) : (
        <>
          <ListFilters list={list} onChange={change} rows={rows} />
          <Numbers list={list} numbers={numbers} onChange={change} />
          {shown >= FEW_RUNS && <FailureChart failures={failures} list={list} onChange={change} />}
          {shown === 0 ? (
            <NoMatch list={list} total={total} />
          ) : (
            <RunTable all={rows} list={list} onChange={change} rows={sorted} />
          )}
        </>
      )}
    </main>
  );
}

function change(list: ListQuery): void {
  replaceQuery(addressQuery(list));
}

function amount(shown: number, total: number, list: ListQuery): string {
  const runs = list.subRuns ? counted(total, "run") : counted(total, "top-level run");
  return shown === total ? runs : `${count(shown)} of ${runs}`;
}

function OlderRuns({ feed }: { readonly feed: Feed }) {
  const { olderRuns, oldestNs, sources } = feed.state;
  if (olderRuns === 0) return null;
  return (
    <p class="note plain">
      {counted(olderRuns, "older run")} left out: only the newest are shown
      {oldestNs !== undefined && (
        <>
          , since <Time ms={msOf(oldestNs)} />
        </>
      )}
      . To see older runs, start <code>entelix-otel {feed.isReport ? "report" : "view"}</code> with
      fewer sources, or with <code>--run ID</code> for one run
      {sources.some(({ kind }) => kind === "otlp") && (
        <>
          . Of the spans that are sent here, <code>--save FILE</code> keeps all
        </>
      )}
      .
    </p>
  );
}

/** The page without runs: it is loading, there are none, or an error occurred. */
function NoRuns({ feed }: { readonly feed: Feed }) {
  const { error, loaded, otherSpans, sources } = feed.state;
  if (!loaded && error !== undefined) {
    return (
      <ErrorNote reason={error} title="The runs can't be read.">
        <p>
          <button onClick={() => feed.retry()} type="button">
            Try again
          </button>
        </p>
      </ErrorNote>
    );
  }
  if (!loaded || sources.some(({ read }) => read < 1)) return <p role="status">Reading…</p>;
  const receivers = sources.filter(({ kind }) => kind === "otlp");
  return (
    <div class="panel" role="status">
      {receivers.map(({ name }) => (
        <WaitsForSpans key={name} url={name} />
      ))}
      <p>
        <strong>No runs.</strong> The sources have no run of an agent yet.
        {sources.some(isWaiting) &&
          " Waiting for files in the folder: *.ndjson, *.jsonl or *.json, also .gz."}
      </p>
      {otherSpans > 0 && (
        <p>{counted(otherSpans, "span belongs", "spans belong")} to no run, and can't be shown.</p>
      )}
    </div>
  );
}

const NO_SPANS = "https://github.com/entelix/entelix-otel/blob/main/docs/no-spans.md";

/** What to run, so that this receiver gets spans. */
function WaitsForSpans({ url }: { readonly url: string }) {
  return (
    <>
      <p>
        Waits for spans at <code>{url}</code>. Start your application in another terminal:
      </p>
      <pre>
        <code>
          {`export OTEL_EXPORTER_OTLP_ENDPOINT=${url}\n`}
          {"export OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true\n"}
          {"node --import entelix-otel/register app.mjs"}
        </code>
      </pre>
      <p>
        With a setup in its code, run <code>node app.mjs</code>. Nothing comes?{" "}
        <a href={NO_SPANS} rel="noopener noreferrer" target="_blank">
          No spans?
        </a>
      </p>
    </>
  );
}

/** A followed folder is listed as a source while it has no files. */
function isWaiting({ followed, kind }: ViewSource): boolean {
  return followed && kind === "folder";
}

function NoMatch({ list, total }: { readonly list: ListQuery; readonly total: number }) {
  return (
    <div class="panel">
      <p>
        <strong>No run matches.</strong> {total === 0 && "All runs are sub-runs."}
      </p>
      <p class="row">
        {isFiltered(list) && (
          <button onClick={() => change(withoutFilters(list))} type="button">
            Clear filters
          </button>
        )}
        {!list.subRuns && (
          <button onClick={() => change({ ...list, subRuns: true })} type="button">
            Show sub-runs too
          </button>
        )}
      </p>
    </div>
  );
}
