import { useEffect, useMemo } from "preact/hooks";
import { cut, safe } from "../../../events/format/door.ts";
import { hasExchange } from "../../model/exchange.ts";
import type { RunModel } from "../../model/run-model.ts";
import type { RunData } from "../data.ts";
import { listAddress, replaceQuery } from "../route.ts";
import { ErrorNote } from "../shell/error-note.tsx";
import { usePrinting } from "../shell/use-printing.ts";
import { AuditLog } from "./audit-rows.tsx";
import { CostTable } from "./cost-table.tsx";
import { ExchangeView } from "./exchange/exchange-view.tsx";
import { GraphView } from "./graph-view.tsx";
import { RunBegin } from "./run-begin.tsx";
import { RunHeader } from "./run-header.tsx";
import { Tabs } from "./tabs.tsx";
import { TimelineView } from "./timeline-view.tsx";
import { useOutline } from "./use-outline.ts";
import { useRun } from "./use-run.ts";

export interface RunPageProps {
  readonly data: RunData;
  readonly runKey: string;
  readonly query: URLSearchParams;
}

/** One run: its conversation, its timeline with the details of a span, its graph, its cost, its audit rows. */
export function RunPage({ data, query, runKey }: RunPageProps) {
  const { end, error, head, model, spans } = useRun(data, runKey);
  const run = model?.detail.run ?? head?.run;
  useTitle(run && `${run.agent ?? run.run_id}, ${run.outcome}`);
  return (
    <main class="run">
      <a class="no-print" href={listAddress()}>
        All runs
      </a>
      {error !== undefined && (
        <ErrorNote
          reason={error}
          title={model === undefined ? "The run can't be shown." : "The run can't be read again."}
        />
      )}
      {model === undefined && error === undefined && (
        <RunBegin head={head} runKey={runKey} spans={spans} />
      )}
      {model !== undefined && (
        <Run end={end} isReport={data.isReport} model={model} query={query} />
      )}
    </main>
  );
}

interface RunProps {
  readonly model: RunModel;
  readonly end: number;
  readonly isReport: boolean;
  readonly query: URLSearchParams;
}

const CONVERSATION = "conversation";
const TIMELINE = "timeline";
const VIEWS: readonly string[] = [CONVERSATION, TIMELINE, "graph", "cost", "log"];
/** Parts of an address that are about the timeline. */
const OF_TIMELINE = ["span", "zoom", "only"];

/** The part of the run in the address. Default: the conversation, if there is one. */
function viewIn(query: URLSearchParams, model: RunModel): string {
  const view = query.get("view") ?? "";
  if (VIEWS.includes(view)) return view;
  const isOfTimeline = OF_TIMELINE.some((name) => query.has(name));
  return isOfTimeline || !hasExchange(model) ? TIMELINE : CONVERSATION;
}

function Run({ end, isReport, model, query }: RunProps) {
  const { rows } = model.detail;
  const view = useMemo(() => viewIn(query, model), [query, model]);
  const printing = usePrinting();
  return (
    <>
      <RunHeader isReport={isReport} model={model} />
      <Tabs
        label="Parts of the run"
        onChoose={(name) => change(query, "view", name)}
        tabs={[
          { id: CONVERSATION, label: "Conversation" },
          { id: TIMELINE, label: "Timeline" },
          { id: "graph", label: "Graph" },
          { id: "cost", label: "Cost and tokens" },
          { id: "log", label: "Audit rows", count: rows.length },
        ]}
        value={view}
      >
        <Part end={end} model={model} query={query} view={view} />
      </Tabs>
      {printing && view !== "log" && <AuditLog detail={model.detail} />}
    </>
  );
}

function Part({ end, model, query, view }: Omit<RunProps, "isReport"> & { readonly view: string }) {
  const only = query.get("only") === "failures" ? model.failed : undefined;
  const shown = useOutline(model, [query.get("span"), query.get("zoom")], only);
  switch (view) {
    case CONVERSATION:
      return <ExchangeView model={model} query={query} />;
    case "graph":
      return <GraphView model={model} query={query} />;
    case "cost":
      return <CostTable model={model} query={query} />;
    case "log":
      return <AuditLog detail={model.detail} />;
    default:
      return (
        <TimelineView
          end={end}
          model={model}
          onFailuresOnly={(on) => change(query, "only", on ? "failures" : undefined)}
          onlyFailures={only !== undefined}
          onSelect={(id) => change(query, "span", id)}
          onZoom={(id) => change(query, "zoom", id)}
          selected={model.tree.byId.get(query.get("span") ?? "")}
          shown={shown}
          zoom={query.get("zoom") ?? undefined}
        />
      );
  }
}

/** Changes a part of the query in the address. */
function change(query: URLSearchParams, name: string, value: string | undefined): void {
  const changed = new URLSearchParams(query);
  if (value === undefined) changed.delete(name);
  else changed.set(name, value);
  replaceQuery(changed);
}

/** Adds the name of the run to the page title, to distinguish tabs and history entries. */
function useTitle(shown: string | undefined): void {
  useEffect(() => {
    if (shown === undefined) return;
    const { title } = document;
    document.title = `${safe(cut(shown, 100).text)} – ${title}`;
    return () => {
      document.title = title;
    };
  }, [shown]);
}
