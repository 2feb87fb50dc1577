import type { ProcessorFigures } from "../log-processor/log-processor-options.ts";
import { metricLines, one, type Sample } from "../prometheus-text.ts";
import type { IngestFigures } from "./ingest-figures.ts";
import { INGEST_METRICS, type IngestMetric, type IngestMetricName } from "./ingest-metric-names.ts";
import type { Recovered } from "./recover-journal.ts";

/** How the service stands when it is asked. */
export interface IngestState {
  readonly figures: IngestFigures;
  readonly lane: ProcessorFigures;
  readonly heldBytes: number;
  readonly connections: number;
  readonly ready: boolean;
  readonly journal: { readonly bytes: number; readonly next: number; readonly position: number };
  readonly recovered: Pick<Recovered, "missing" | "torn" | "tornBytes">;
  readonly backlogBytes: number;
}

/** The text of `/metrics`, in the form that Prometheus reads. */
export function metricsText(state: IngestState): string {
  const samples = samplesOf(state);
  const lines: string[] = [];
  for (const [name, metric] of Object.entries<IngestMetric>(INGEST_METRICS)) {
    const { about, kind } = metric;
    lines.push(...metricLines(name, kind, about, isName(name) ? samples[name] : []));
  }
  return `${lines.join("\n")}\n`;
}

function isName(name: string): name is IngestMetricName {
  return Object.hasOwn(INGEST_METRICS, name);
}

function samplesOf(state: IngestState): Record<IngestMetricName, readonly Sample[]> {
  const { figures, lane, journal, recovered } = state;
  const { rss, heapUsed } = process.memoryUsage();
  const { user, system } = process.cpuUsage();
  return {
    entelix_ingest_lines_total: [...figures.lines].flatMap(([tenant, counts]) =>
      Object.entries(counts).map(([outcome, n]): Sample => [{ tenant, outcome }, n]),
    ),
    entelix_ingest_unknown_lines_total: one(figures.unknownLines),
    entelix_ingest_requests_total: [...figures.requests].flatMap(([route, byStatus]) =>
      [...byStatus].map(([status, n]): Sample => [{ route, status: String(status) }, n]),
    ),
    entelix_ingest_refusals_total: [...figures.refusals].map(([code, n]): Sample => [{ code }, n]),
    entelix_ingest_sender_gone_total: one(figures.senderGone),
    entelix_ingest_received_bytes_total: one(figures.receivedBytes),
    entelix_ingest_text_bytes_total: one(figures.textBytes),
    entelix_ingest_held_bytes: one(state.heldBytes),
    entelix_ingest_connections: one(state.connections),
    entelix_ingest_connections_dropped_total: one(figures.connectionsDropped),
    entelix_ingest_token_reloads_total: one(figures.tokenReloads),
    entelix_ingest_token_reload_errors_total: one(figures.tokenReloadErrors),
    entelix_ingest_ready: one(state.ready ? 1 : 0),
    entelix_ingest_journal_bytes: one(journal.bytes),
    entelix_ingest_journal_next_offset: one(journal.next),
    entelix_ingest_journal_position: one(journal.position),
    entelix_ingest_journal_errors_total: one(figures.journalErrors),
    entelix_ingest_journal_torn_places_total: one(recovered.torn),
    entelix_ingest_journal_torn_bytes_total: one(recovered.tornBytes),
    entelix_ingest_journal_missing_lines_total: one(recovered.missing),
    entelix_ingest_backlog_bytes: one(state.backlogBytes),
    entelix_ingest_lane_lines_total: one(lane.lines),
    entelix_ingest_lane_events_total: one(lane.events),
    entelix_ingest_lane_rejected_total: one(lane.rejected),
    entelix_ingest_lane_duplicates_total: one(lane.duplicates),
    entelix_ingest_lane_ignored_total: Object.entries(lane.ignored).map(
      ([reason, n]): Sample => [{ reason }, n],
    ),
    entelix_ingest_lane_tenant_conflicts_total: conflictsOf(state),
    entelix_ingest_lane_late_total: one(lane.late),
    entelix_ingest_spans_stored_total: one(lane.spansStored),
    entelix_ingest_spans_refused_total: one(lane.spansRefused),
    entelix_ingest_rows_stored_total: one(lane.rowsStored),
    entelix_ingest_rows_refused_total: one(lane.rowsRefused),
    entelix_ingest_open_runs: one(lane.openRuns),
    entelix_ingest_waiting_lines: one(lane.waiting),
    entelix_ingest_in_flight: one(lane.inFlight),
    entelix_ingest_stalled: one(lane.stalled ? 1 : 0),
    entelix_ingest_lag_seconds: one(lane.lagMs / 1000),
    entelix_ingest_resident_memory_bytes: one(rss),
    entelix_ingest_heap_bytes: one(heapUsed),
    entelix_ingest_cpu_seconds_total: one((user + system) / 1e6),
    entelix_ingest_start_time_seconds: one(Math.round(performance.timeOrigin) / 1000),
  };
}

/** Of each tenant that has sent lines, from 0 on: a series that begins at 1 is no increase. */
function conflictsOf({ figures, lane }: IngestState): readonly Sample[] {
  const counts = new Map<string, number>();
  for (const tenant of figures.lines.keys()) counts.set(tenant, 0);
  for (const [tenant, n] of Object.entries(lane.tenantConflicts)) counts.set(tenant, n);
  return [...counts].map(([tenant, n]): Sample => [{ tenant }, n]);
}
