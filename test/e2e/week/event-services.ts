import { SERVICE_METRICS } from "../../service/support/service-metrics.ts";
import type { Labels, SeriesBook } from "./series-book.ts";
import { secondsNow } from "./simulated-time.ts";

const PARTITIONS = 2;
const TOPIC = "events";
const TENANT = "acme";

/** `serve` and `consume`: each plays as many lines as there are events. What is not named here stays 0. */
export class EventServices {
  #lines = 0;
  /** At the scrape before. */
  #linesBefore = 0;
  #startedWith = 0;
  #starts = 1;
  #serveAwayUntil = 0;
  #consumeAwayUntil = 0;

  /** An event, which both take. */
  took(): void {
    this.#lines++;
  }

  /** Both are replaced: `serve` is away for a scrape, and the partitions have no worker for two. */
  deploy(): void {
    this.#starts++;
    this.#startedWith = this.#lines;
    this.#serveAwayUntil = secondsNow() + 60;
    this.#consumeAwayUntil = secondsNow() + 120;
  }

  show(book: SeriesBook): void {
    const now = secondsNow();
    const lines = this.#lines - this.#startedWith;
    // What is on its way at the moment of the scrape: nothing, if nothing has come.
    const onItsWay = this.#lines === this.#linesBefore ? 0 : lines % 7;
    this.#linesBefore = this.#lines;
    const serve = { job: "entelix-serve", instance: "serve:9470" };
    book.put("up", serve, now < this.#serveAwayUntil ? 0 : 1);
    if (now >= this.#serveAwayUntil) {
      const place = { entelix_ingest_ready: 1, entelix_ingest_journal_next_offset: this.#lines };
      show(book, "entelix_ingest_", serve, {
        ...place,
        ...played("entelix_ingest_processor_", lines, onItsWay),
      });
    }
    const worker = { job: "entelix-consume", instance: `consume-${this.#starts}:9471` };
    book.put("up", worker, 1);
    if (now < this.#consumeAwayUntil) return;
    for (let partition = 0; partition < PARTITIONS; partition++) {
      const own = { ...worker, partition: String(partition) };
      const committed = Math.floor(this.#lines / PARTITIONS);
      const place = {
        entelix_consume_committed_offset: committed,
        entelix_consume_behind_records: onItsWay,
      };
      const each = Math.floor(lines / PARTITIONS);
      show(book, "entelix_consume_", own, {
        ...place,
        ...played("entelix_consume_", each, onItsWay),
      });
    }
  }
}

/** Counters and gauges behind so many lines, by the prefix of the one that counts lines. */
function played(prefix: string, lines: number, onItsWay: number): Readonly<Record<string, number>> {
  const stem = prefix.replace("processor_", "");
  return {
    [`${prefix}lines_total`]: lines,
    [`${stem}spans_stored_total`]: Math.floor(lines * 0.4),
    [`${stem}in_flight`]: onItsWay,
    [`${stem}backlog_bytes`]: 20_000,
    [`${stem}lag_seconds`]: 0.3,
  };
}

function show(
  book: SeriesBook,
  prefix: string,
  of: Labels,
  values: Readonly<Record<string, number>>,
): void {
  const all: Labels = { topic: TOPIC, tenant: TENANT, ...of };
  for (const [name, own] of SERVICE_METRICS) {
    if (!name.startsWith(prefix)) continue;
    const labels = Object.entries(all).filter(
      ([label]) => label === "job" || label === "instance" || own.includes(label),
    );
    book.put(name, Object.fromEntries(labels), values[name] ?? 0);
  }
}
