import { metricLines, one, type Sample } from "../prometheus-text.ts";
import type { PartitionFigures } from "./kafka-service.ts";

/** Counts and state of a worker. */
export interface WorkerFigures {
  readonly partitions: readonly PartitionFigures[];
  readonly rejected: number;
  readonly recordsLost: number;
  readonly deadLetters: number;
  readonly deadLettersCut: number;
  readonly deadLettersLost: number;
}

interface Metric {
  readonly name: string;
  readonly type: "counter" | "gauge";
  readonly help: string;
  /** `undefined`: not known yet. */
  readonly of: (figures: PartitionFigures) => number | undefined;
}

/** Counters of a partition restart with each assignment: use rates, not absolute values. */
const OF_PARTITIONS: readonly Metric[] = [
  counter(
    "lines_total",
    "Lines played, those that were read again among them.",
    ({ lines }) => lines,
  ),
  counter(
    "lines_already_exported_total",
    "Of them, lines before the committed offset.",
    ({ alreadyExported }) => alreadyExported,
  ),
  counter("events_total", "Events played.", ({ events }) => events),
  counter(
    "unknown_total",
    "Lines of types that this version does not know.",
    ({ unknown }) => unknown,
  ),
  counter("duplicates_total", "Events that had come before.", ({ duplicates }) => duplicates),
  counter("late_total", "Events that came too late to be put in order.", ({ late }) => late),
  counter("spans_stored_total", "Spans the collector has taken.", ({ spansStored }) => spansStored),
  counter("spans_refused_total", "Spans refused for good.", ({ spansRefused }) => spansRefused),
  counter("rows_stored_total", "Audit rows stored.", ({ rowsStored }) => rowsStored),
  counter("rows_refused_total", "Audit rows refused for good.", ({ rowsRefused }) => rowsRefused),
  gauge("open_runs", "Runs that are open.", ({ processor }) => processor.openRuns),
  gauge(
    "waiting_lines",
    "Lines that wait to be put in order.",
    ({ processor }) => processor.waiting,
  ),
  gauge("in_flight", "Spans and rows on their way.", ({ processor }) => processor.inFlight),
  gauge("stalled", "1 while a store or the dead-letter topic takes nothing.", ({ processor }) =>
    Number(processor.stalled),
  ),
  gauge(
    "behind_records",
    "Records up to the end of the log not played yet.",
    ({ behind }) => behind,
  ),
  gauge(
    "stuck_seconds",
    "Time without a record played, though records wait and no store is stalled.",
    ({ stuckMs }) => stuckMs / 1000,
  ),
  gauge("event_age_seconds", "Age of the newest event.", ({ processor }) => processor.lagMs / 1000),
  gauge("committed_offset", "Offset that was committed; -1: none.", ({ committed }) => committed),
];

/** The metrics of a worker in Prometheus' text format. */
export function consumeMetricsText(worker: WorkerFigures): string {
  const { deadLetters, deadLettersCut, deadLettersLost, partitions, recordsLost, rejected } =
    worker;
  const lines: string[] = [];
  const add = (name: string, type: Metric["type"], help: string, samples: readonly Sample[]) => {
    for (const line of metricLines(`entelix_consume_${name}`, type, help, samples)) {
      lines.push(line);
    }
  };
  for (const { name, type, help, of } of OF_PARTITIONS) {
    const samples = partitions.flatMap((figures): Sample[] => {
      const value = of(figures);
      if (value === undefined) return [];
      return [[{ topic: figures.topic, partition: String(figures.partition) }, value]];
    });
    add(name, type, help, samples);
  }
  add(
    "tenant_conflicts_total",
    "counter",
    "Times the tenant named a run or trace of another tenant; its run got a trace of its own.",
    partitions.flatMap(({ processor, partition, topic }) =>
      Object.entries(processor.tenantConflicts).map(
        ([tenant, n]): Sample => [{ topic, partition: String(partition), tenant }, n],
      ),
    ),
  );
  add("rejected_total", "counter", "Records and lines that could not be read.", one(rejected));
  add("dead_letters_total", "counter", "Dead letters that the brokers have.", one(deadLetters));
  add(
    "dead_letters_cut_total",
    "counter",
    "Of them, those whose value was cut.",
    one(deadLettersCut),
  );
  add(
    "dead_letters_lost_total",
    "counter",
    "Dead letters given up, even when cut.",
    one(deadLettersLost),
  );
  add(
    "records_lost_total",
    "counter",
    "Records skipped because their batch cannot be read.",
    one(recordsLost),
  );
  add("partitions", "gauge", "Partitions that are this worker's.", one(partitions.length));
  return `${lines.join("\n")}\n`;
}

function counter(
  name: string,
  help: string,
  of: (processor: PartitionFigures["processor"]) => number,
): Metric {
  return { name, type: "counter", help, of: ({ processor }) => of(processor) };
}

function gauge(name: string, help: string, of: Metric["of"]): Metric {
  return { name, type: "gauge", help, of };
}
