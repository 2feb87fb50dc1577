import type { ProcessorFigures } from "../processor/log-processor-options.ts";
import { metricLines, one, type Sample } from "../prometheus-text.ts";
import type { Recovered } from "./journal-feed.ts";
import type { LineStatus } from "./line-outcomes.ts";
import type { RefusalCode } from "./refusal.ts";

/** State of the service. */
interface IngestState {
  readonly figures: IngestFigures;
  readonly processor: ProcessorFigures;
  readonly heldBytes: number;
  readonly connections: number;
  readonly ready: boolean;
  readonly journal: { readonly bytes: number; readonly next: number; readonly position: number };
  readonly recovered: Pick<Recovered, "missing" | "torn" | "tornBytes">;
  readonly backlogBytes: number;
}

/** The text of `/metrics`, in Prometheus' format. */
export function metricsText(state: IngestState): string {
  const samples = samplesOf(state);
  const lines: string[] = [];
  for (const [name, metric] of Object.entries<IngestMetric>(INGEST_METRICS)) {
    const { about, kind } = metric;
    const own = isName(name) ? samples[name] : [];
    for (const line of metricLines(name, kind, about, own)) lines.push(line);
  }
  return `${lines.join("\n")}\n`;
}

function isName(name: string): name is IngestMetricName {
  return Object.hasOwn(INGEST_METRICS, name);
}

function samplesOf(state: IngestState): Record<IngestMetricName, readonly Sample[]> {
  const { figures, processor, journal, recovered } = state;
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
    entelix_ingest_processor_lines_total: one(processor.lines),
    entelix_ingest_processor_events_total: one(processor.events),
    entelix_ingest_processor_rejected_total: one(processor.rejected),
    entelix_ingest_processor_duplicates_total: one(processor.duplicates),
    entelix_ingest_processor_ignored_total: Object.entries(processor.ignored).map(
      ([reason, n]): Sample => [{ reason }, n],
    ),
    entelix_ingest_processor_tenant_conflicts_total: conflictsOf(state),
    entelix_ingest_processor_late_total: one(processor.late),
    entelix_ingest_spans_stored_total: one(processor.spansStored),
    entelix_ingest_spans_refused_total: one(processor.spansRefused),
    entelix_ingest_rows_stored_total: one(processor.rowsStored),
    entelix_ingest_rows_refused_total: one(processor.rowsRefused),
    entelix_ingest_open_runs: one(processor.openRuns),
    entelix_ingest_waiting_lines: one(processor.waiting),
    entelix_ingest_in_flight: one(processor.inFlight),
    entelix_ingest_stalled: one(processor.stalled ? 1 : 0),
    entelix_ingest_lag_seconds: one(processor.lagMs / 1000),
    entelix_ingest_resident_memory_bytes: one(rss),
    entelix_ingest_heap_bytes: one(heapUsed),
    entelix_ingest_cpu_seconds_total: one((user + system) / 1e6),
    entelix_ingest_start_time_seconds: one(Math.round(performance.timeOrigin) / 1000),
  };
}

/** Every tenant with lines starts at 0: a series that begins at 1 shows no increase. */
function conflictsOf({ figures, processor }: IngestState): readonly Sample[] {
  const counts = new Map<string, number>();
  for (const tenant of figures.lines.keys()) counts.set(tenant, 0);
  for (const [tenant, n] of Object.entries(processor.tenantConflicts)) counts.set(tenant, n);
  return [...counts].map(([tenant, n]): Sample => [{ tenant }, n]);
}

export interface IngestMetric {
  readonly kind: "counter" | "gauge";
  readonly labels: readonly string[];
  readonly about: string;
}

const counter = (about: string, ...labels: string[]): IngestMetric => ({
  kind: "counter",
  labels,
  about,
});
const gauge = (about: string, ...labels: string[]): IngestMetric => ({
  kind: "gauge",
  labels,
  about,
});

/** Every metric of `/metrics`. */
export const INGEST_METRICS = {
  entelix_ingest_lines_total: counter(
    "Lines by tenant and outcome: accepted, duplicate, rejected.",
    "tenant",
    "outcome",
  ),
  entelix_ingest_unknown_lines_total: counter(
    "Accepted lines of types that this version does not know.",
  ),
  entelix_ingest_requests_total: counter("Requests by route and status.", "route", "status"),
  entelix_ingest_refusals_total: counter("Refused requests by the code of the error.", "code"),
  entelix_ingest_sender_gone_total: counter("Requests whose sender left before their end."),
  entelix_ingest_received_bytes_total: counter("Bytes of bodies as they came."),
  entelix_ingest_text_bytes_total: counter("Bytes of bodies after decompression."),
  entelix_ingest_held_bytes: gauge("Memory of compressed bodies that wait for their last byte."),
  entelix_ingest_connections: gauge("Connections that are open."),
  entelix_ingest_connections_dropped_total: counter(
    "Connections closed because there were too many.",
  ),
  entelix_ingest_token_reloads_total: counter("Times the tokens file was read again."),
  entelix_ingest_token_reload_errors_total: counter(
    "Times it could not be used. The previous tokens stayed valid.",
  ),
  entelix_ingest_ready: gauge("1 if /readyz answers 200, else 0."),
  entelix_ingest_journal_bytes: gauge("Bytes of the journal on disk."),
  entelix_ingest_journal_next_offset: gauge("Offset of the next line of the journal."),
  entelix_ingest_journal_position: gauge("Offset of the first line that is still needed."),
  entelix_ingest_journal_errors_total: counter("Appends to the journal that failed."),
  entelix_ingest_journal_torn_places_total: counter(
    "Damaged ranges that the start found in the journal's last write.",
  ),
  entelix_ingest_journal_torn_bytes_total: counter("Bytes in these ranges, which were set aside."),
  entelix_ingest_journal_missing_lines_total: counter("Lines known to be missing in these ranges."),
  entelix_ingest_backlog_bytes: gauge("Bytes of accepted lines that are still needed."),
  entelix_ingest_processor_lines_total: counter("Lines the processor has taken from the journal."),
  entelix_ingest_processor_events_total: counter("Events the processor has played."),
  entelix_ingest_processor_rejected_total: counter("Lines the processor could not read."),
  entelix_ingest_processor_duplicates_total: counter("Events that had come before."),
  entelix_ingest_processor_ignored_total: counter(
    "Events that changed nothing, by reason.",
    "reason",
  ),
  entelix_ingest_processor_tenant_conflicts_total: counter(
    "Times the tenant named a run or trace of another tenant; its run got a trace of its own.",
    "tenant",
  ),
  entelix_ingest_processor_late_total: counter(
    "Events too late to be put in order; they were played.",
  ),
  entelix_ingest_spans_stored_total: counter("Spans stored by the receiver."),
  entelix_ingest_spans_refused_total: counter("Spans the receiver refused for good."),
  entelix_ingest_rows_stored_total: counter("Rows of the audit log that were stored."),
  entelix_ingest_rows_refused_total: counter("Rows that the audit log refused for good."),
  entelix_ingest_open_runs: gauge("Runs that are open."),
  entelix_ingest_waiting_lines: gauge("Lines that wait to be put in order."),
  entelix_ingest_in_flight: gauge("Spans and rows on their way to their stores."),
  entelix_ingest_stalled: gauge("1 while a store does not take what it is given, else 0."),
  entelix_ingest_lag_seconds: gauge("From the time of the newest event that was played to now."),
  entelix_ingest_resident_memory_bytes: gauge("Memory of the process (RSS)."),
  entelix_ingest_heap_bytes: gauge("JavaScript heap in use."),
  entelix_ingest_cpu_seconds_total: counter("CPU time of the process."),
  entelix_ingest_start_time_seconds: gauge("When the process started, in s since 1970."),
} as const satisfies Readonly<Record<string, IngestMetric>>;

type IngestMetricName = keyof typeof INGEST_METRICS;

/** Maximum number of tenants with counts of their own. */
export const MOST_TENANTS = 50;
/** Label of all other tenants. */
const OTHER_TENANT = "_other";
/** Label of senders without a tenant. */
const ANY_TENANT = "_any";

/** Counts since the server was opened. */
export class IngestFigures {
  /** By tenant and outcome. */
  readonly lines = new Map<string, Record<LineStatus, number>>();
  /** By route and status. */
  readonly requests = new Map<string, Map<number, number>>();
  readonly refusals = new Map<RefusalCode, number>();
  /** Accepted lines of unknown types. */
  unknownLines = 0;
  /** Bytes of bodies as received. */
  receivedBytes = 0;
  /** Bytes of bodies after decompression. */
  textBytes = 0;
  /** Requests whose sender left before the end of the body. */
  senderGone = 0;
  /** Connections that were closed because there were too many. */
  connectionsDropped = 0;
  /** Failed appends to the journal. */
  journalErrors = 0;
  tokenReloads = 0;
  tokenReloadErrors = 0;

  addLines(tenant: string | undefined, counts: Readonly<Record<LineStatus, number>>): void {
    const known = this.#of(tenant ?? ANY_TENANT);
    known.accepted += counts.accepted;
    known.duplicate += counts.duplicate;
    known.rejected += counts.rejected;
  }

  addRequest(route: string, status: number): void {
    let byStatus = this.requests.get(route);
    if (byStatus === undefined) {
      byStatus = new Map();
      this.requests.set(route, byStatus);
    }
    byStatus.set(status, (byStatus.get(status) ?? 0) + 1);
  }

  addRefusal(code: RefusalCode): void {
    this.refusals.set(code, (this.refusals.get(code) ?? 0) + 1);
  }

  #of(tenant: string): Record<LineStatus, number> {
    const name = this.lines.has(tenant) || this.lines.size < MOST_TENANTS ? tenant : OTHER_TENANT;
    let counts = this.lines.get(name);
    if (counts === undefined) {
      counts = { accepted: 0, duplicate: 0, rejected: 0 };
      this.lines.set(name, counts);
    }
    return counts;
  }
}
