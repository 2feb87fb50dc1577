import { stat } from "node:fs/promises";
import { join } from "node:path";
import {
  type AuditRow,
  type LogPosition,
  type LogProblem,
  logPaths,
  type PlacedRow,
  placedRows,
  segmentName,
} from "../../audit/door.ts";
import { identityOf } from "../../cli/door.ts";
import { canonicalRunId } from "../../events/door.ts";
import type { ViewRow, ViewVerdict } from "../format.ts";
import type { RowQuery, RunLog } from "../runs/run-log.ts";
import type { RunStore } from "../runs/run-store.ts";
import { ReplacedError } from "./followed-file.ts";

/** Rows of a stored log win over those that a replay would write. */
const ROW_STANDING = { replay: 1, log: 2 } as const;

interface LogRowsOptions {
  readonly directory: string;
  readonly from: RunLog["from"];
  readonly content: boolean;
  readonly verdict?: () => ViewVerdict | undefined;
  readonly onProblem?: (problem: LogProblem) => void;
}

/** The rows of an audit log in a directory: indexes them as they come, and reads those of some runs again. */
export class LogRows implements RunLog {
  readonly from: RunLog["from"];
  readonly #options: LogRowsOptions;
  readonly #store: RunStore;
  readonly #log: number;
  #place: LogPosition | undefined;
  /** Number of the segment that was read last, and which file it is. */
  #identity: string | undefined;
  /** Looks at which that segment was not there, one after the other. */
  #missing = 0;
  #reading: Promise<void> = Promise.resolve();

  constructor(store: RunStore, options: LogRowsOptions) {
    this.from = options.from;
    this.#options = options;
    this.#store = store;
    this.#log = store.addLog(this);
  }

  get verdict(): ViewVerdict | undefined {
    return this.#options.verdict?.();
  }

  /** The place up to which rows were read; `undefined` before the first. */
  get place(): LogPosition | undefined {
    return this.#place;
  }

  /** The rows that have come since the last time, each indexed. Not to be called again before it is done. */
  async *more(onProblem?: (problem: LogProblem) => void): AsyncGenerator<AuditRow, void, void> {
    const { directory } = this.#options;
    let reached = this.#place;
    const onPosition = (place: LogPosition) => {
      reached = place;
    };
    const options = { from: this.#place, onPosition, onProblem };
    for await (const placed of placedRows(directory, {}, options)) {
      // Together: `again` may come at any time, and reads up to this place.
      this.#place = placed.to;
      this.#index(placed);
      yield placed.row;
    }
    this.#place = reached;
  }

  /** Indexes the rows that have come since the last time. */
  readOn(): Promise<void> {
    this.#reading = this.#reading.then(async () => {
      for await (const _ of this.more()) {
        // Indexed on its way.
      }
    });
    return this.#reading;
  }

  /** Indexes all rows again, up to the place that was reached before. */
  async again(): Promise<void> {
    const to = this.#place;
    if (to === undefined) return;
    for await (const placed of placedRows(this.#options.directory, {}, { to })) this.#index(placed);
  }

  /** The log begins anew. */
  restart(): void {
    this.#place = undefined;
    this.#identity = undefined;
  }

  /** @throws ReplacedError when the segment that was read last is shorter now, another file, or gone. */
  async checkUnchanged(): Promise<void> {
    if (this.#place === undefined) return;
    const { offset, segment } = this.#place;
    const { archive, root } = logPaths(this.#options.directory);
    const name = segmentName(segment);
    const [own, archived] = await Promise.all(
      [root, archive].map((folder) => stat(join(folder, name), { bigint: true }).catch(() => {})),
    );
    const found = own ?? archived;
    // It is in neither for a moment where the writer moves it.
    this.#missing = found === undefined ? this.#missing + 1 : 0;
    if (found === undefined && this.#missing < 3) return;
    if (found === undefined)
      throw new ReplacedError("the end of what was read is not there any more");
    if (found.size < offset) throw new ReplacedError("it is shorter now");
    const identity = `${segment} ${identityOf(found)}`;
    if (this.#identity?.startsWith(`${segment} `) && this.#identity !== identity) {
      throw new ReplacedError("another log is in its place now");
    }
    this.#identity = identity;
  }

  async rows({ from, runIds, tenantId, to }: RowQuery): Promise<ViewRow[]> {
    const { content, directory } = this.#options;
    const rows: ViewRow[] = [];
    for await (const { row } of placedRows(directory, { tenant_id: tenantId }, { from, to })) {
      if (row.run_id === null || !runIds.has(canonicalRunId(row.run_id))) continue;
      rows.push(viewRowOf(row, content));
    }
    return rows;
  }

  #index({ from, row, to }: PlacedRow): void {
    indexRow(this.#store, this.#log, this.from, row, from, to);
  }
}

/** Counts a row for its run. Rows without a run ID are skipped. */
export function indexRow(
  store: RunStore,
  log: number,
  origin: RunLog["from"],
  { event, run_id, tenant_id }: AuditRow,
  from: LogPosition,
  to: LogPosition,
): void {
  if (run_id === null || run_id === "") return;
  store.index.addRow({
    tenant_id,
    run_id: canonicalRunId(run_id),
    timestamp: typeof event.timestamp === "string" ? event.timestamp : undefined,
    log,
    standing: ROW_STANDING[origin],
    from,
    to,
  });
}

/** A row as the page reads it. */
export function viewRowOf(row: AuditRow, content: boolean): ViewRow {
  const { event, event_text: _, ...facts } = row;
  const { kind, timestamp } = event;
  return {
    ...facts,
    kind,
    ...(typeof timestamp === "string" ? { timestamp } : {}),
    ...("erased" in event && event.erased === true ? { erased: true } : {}),
    ...(content ? { event: plain(event) } : {}),
  };
}

/** An event whose integers beyond 2^53 are text. */
function plain(event: AuditRow["event"]): unknown {
  const text = JSON.stringify(event, (_, value: unknown) =>
    typeof value === "bigint" ? String(value) : value,
  );
  const copy: unknown = JSON.parse(text);
  return copy;
}
