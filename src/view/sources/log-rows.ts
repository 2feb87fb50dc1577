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

/** Stored rows have a higher standing than those that a replay would write. */
const ROW_STANDING = { replay: 1, log: 2 } as const;

interface LogRowsOptions {
  readonly directory: string;
  readonly from: RunLog["from"];
  readonly content: boolean;
  readonly verdict?: () => ViewVerdict | undefined;
  readonly onProblem?: (problem: LogProblem) => void;
}

/** The rows of an audit log in a directory. Indexes new rows, and reads the rows of some runs again. */
export class LogRows implements RunLog {
  readonly from: RunLog["from"];
  readonly #options: LogRowsOptions;
  readonly #store: RunStore;
  readonly #log: number;
  #position: LogPosition | undefined;
  /** Number and file identity of the segment that was read last. */
  #identity: string | undefined;
  /** Consecutive checks that did not find that segment. */
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

  /** Position up to which rows were read; `undefined` before the first row. */
  get position(): LogPosition | undefined {
    return this.#position;
  }

  /** Indexes and yields the new rows. Do not call it again before it has ended. */
  async *more(onProblem?: (problem: LogProblem) => void): AsyncGenerator<AuditRow, void, void> {
    const { directory } = this.#options;
    let reached = this.#position;
    const onPosition = (place: LogPosition) => {
      reached = place;
    };
    const options = { from: this.#position, onPosition, onProblem };
    for await (const placed of placedRows(directory, {}, options)) {
      // Without a pause in between: `again` can run at any time, and reads up to this position.
      this.#position = placed.to;
      this.#index(placed);
      yield placed.row;
    }
    this.#position = reached;
  }

  /** Indexes the new rows. */
  readOn(): Promise<void> {
    this.#reading = this.#reading.then(async () => {
      for await (const _ of this.more()) {
        // `more` indexes it.
      }
    });
    return this.#reading;
  }

  /** Indexes all rows again, up to the present position. */
  async again(): Promise<void> {
    const to = this.#position;
    if (to === undefined) return;
    for await (const placed of placedRows(this.#options.directory, {}, { to })) this.#index(placed);
  }

  /** Reads the log from its start again. */
  restart(): void {
    this.#position = undefined;
    this.#identity = undefined;
  }

  /** @throws ReplacedError when the segment that was read last is shorter, replaced, or missing. */
  async checkUnchanged(): Promise<void> {
    if (this.#position === undefined) return;
    const { offset, segment } = this.#position;
    const { archive, root } = logPaths(this.#options.directory);
    const name = segmentName(segment);
    const [own, archived] = await Promise.all(
      [root, archive].map((folder) => stat(join(folder, name), { bigint: true }).catch(() => {})),
    );
    const found = own ?? archived;
    // It is in neither folder for a moment while the writer moves it.
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
