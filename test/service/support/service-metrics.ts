import { consumeMetricsText } from "../../../src/service/door.ts";
import { INGEST_METRICS, type IngestMetric } from "../../../src/service/http/ingest-metrics.ts";
import { NO_FIGURES } from "../kafka/processor-figures.ts";

const processor = { ...NO_FIGURES, tenantConflicts: { acme: 0 } };

/** What a worker of `consume` with one partition says of itself. */
const WORKER = consumeMetricsText({
  partitions: [{ topic: "events", partition: 0, committed: 0, behind: 0, stuckMs: 0, processor }],
  rejected: 0,
  recordsLost: 0,
  deadLetters: 0,
  deadLettersCut: 0,
  deadLettersLost: 0,
});

/** Labels of the metrics of `serve` and `consume`, by their names, as the code has them. */
export const SERVICE_METRICS: ReadonlyMap<string, readonly string[]> = new Map([
  ...Object.entries<IngestMetric>(INGEST_METRICS).map(
    ([name, { labels }]) => [name, labels] as const,
  ),
  ...[...WORKER.matchAll(/^(\w+)(?:\{([^}]*)\})? /gm)].map(
    ([, name = "", labels = ""]) =>
      [name, [...labels.matchAll(/(\w+)="/g)].map(([, label = ""]) => label)] as const,
  ),
]);
