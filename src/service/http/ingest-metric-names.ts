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
  entelix_ingest_connections_dropped_total: counter("Connections closed at once, being too many."),
  entelix_ingest_token_reloads_total: counter("Times the tokens file was read again."),
  entelix_ingest_token_reload_errors_total: counter(
    "Times it could not be used; the tokens before it stayed.",
  ),
  entelix_ingest_ready: gauge("1 when /readyz says so, else 0."),
  entelix_ingest_journal_bytes: gauge("Bytes of the journal on disk."),
  entelix_ingest_journal_next_offset: gauge("Offset of the next line of the journal."),
  entelix_ingest_journal_position: gauge("Offset of the first line that is still needed."),
  entelix_ingest_journal_errors_total: counter("Appends to the journal that failed."),
  entelix_ingest_journal_torn_places_total: counter(
    "Damaged places that the start found in the journal's last write.",
  ),
  entelix_ingest_journal_torn_bytes_total: counter("Bytes there that it set aside."),
  entelix_ingest_journal_missing_lines_total: counter("Lines known to be missing there."),
  entelix_ingest_backlog_bytes: gauge("Bytes of accepted lines that are still needed."),
  entelix_ingest_lane_lines_total: counter("Lines the lane has taken from the journal."),
  entelix_ingest_lane_events_total: counter("Events the lane has played."),
  entelix_ingest_lane_rejected_total: counter("Lines the lane could not read."),
  entelix_ingest_lane_duplicates_total: counter("Events that had come before."),
  entelix_ingest_lane_ignored_total: counter("Events that changed nothing, by reason.", "reason"),
  entelix_ingest_lane_tenant_conflicts_total: counter(
    "Times the tenant named a run or trace of another tenant; its run got a trace of its own.",
    "tenant",
  ),
  entelix_ingest_lane_late_total: counter("Events too late to be put in order; they were played."),
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

export type IngestMetricName = keyof typeof INGEST_METRICS;
