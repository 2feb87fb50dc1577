import { type AuditRow, type LogProblem, readPostgresRows } from "../../audit/door.ts";
import { type AuditLog, logError, messageOf, type ReplayJob, rowLine } from "../../cli/door.ts";
import { canonicalRunId } from "../../events/door.ts";
import {
  type AnyRuntime,
  GraphMapping,
  graphDialect,
  mapped,
  SourceReadError,
} from "../../replay/door.ts";
import type { ViewRow } from "../format.ts";
import type { RowQuery, RunLog } from "../runs/run-log.ts";
import { type RunStore, STANDING } from "../runs/run-store.ts";
import type { SourcesOptions } from "../runs/viewed-runs.ts";
import { ReplacedError, waitFor } from "./followed-file.ts";
import { indexRow, LogRows, viewRowOf } from "./log-rows.ts";
import { CHECKING, viewProblemOf, viewVerdictOf } from "./log-verdict.ts";
import { replayToStore } from "./replayed-spans.ts";
import type { SourceState } from "./source-state.ts";

/** Approximate length of a replayed piece of rows, in characters. */
const PIECE = 64 * 1024;

/** Threads and runs that a replayed log remembers, at least. Later rows of a forgotten run begin it again. */
export const REMEMBERED_THREADS = 2_000;

const LOG_RUNTIME: AnyRuntime = mapped(
  graphDialect,
  (tenant, rows) => new GraphMapping(tenant, rows, REMEMBERED_THREADS),
);

interface LogOptions extends SourcesOptions {
  readonly tenantName: string;
  readonly signal: AbortSignal;
  readonly pollMs: number;
  /** Removes a source from the store, and indexes the rows of all logs again. */
  readonly forget: (source: number) => Promise<void>;
}

/** An audit log. Its rows become spans, by the same replay as in `replay`. */
export class LogSource {
  readonly state: SourceState;
  readonly #location: string;
  readonly #log: AuditLog;
  readonly #rows: LogRows | DatabaseRows;
  readonly #store: RunStore;
  readonly #options: LogOptions;
  #source: number;
  #job: ReplayJob;
  #following: Promise<void> | undefined;

  constructor(
    location: string,
    log: AuditLog,
    state: SourceState,
    store: RunStore,
    options: LogOptions,
  ) {
    this.state = state;
    this.#location = location;
    this.#log = log;
    this.#store = store;
    this.#options = options;
    const { content } = options;
    const verdict = () => state.verdict;
    this.#rows = log.hasSegments
      ? new LogRows(store, { directory: location, from: "log", content, verdict })
      : new DatabaseRows(store, location, content, verdict);
    this.#source = store.addSource(STANDING.log);
    this.#job = this.#newJob();
    state.setVerdict(CHECKING);
  }

  /** Resolves when it was read to its end. A followed log is read further. */
  async read(): Promise<void> {
    const { name } = this.state;
    if (this.state.followed && this.#rows instanceof LogRows) {
      const rows = this.#rows;
      await new Promise<void>((resolve) => {
        this.#following = this.#follow(rows, resolve)
          .catch((error: unknown) => this.state.problem(name, messageOf(error)))
          .finally(resolve);
      });
    } else {
      await this.#readOnce();
      // A database is not followed, but its runs may be open.
      if (this.#options.follow) await this.#job.release("all");
      else await this.#job.end();
    }
    this.state.reached();
  }

  /** Indexes the rows again. */
  async again(): Promise<void> {
    await this.#rows.again();
  }

  /** Verifies the log. */
  async verify(): Promise<void> {
    try {
      this.state.setVerdict(viewVerdictOf(await this.#log.verify([]), new Date()));
    } catch (error) {
      const problem = { place: this.state.name, problem: messageOf(error) };
      const text = "could not be verified";
      this.state.setVerdict({
        ...CHECKING,
        state: "unclosed",
        text,
        problem_count: 1,
        problems: [problem],
      });
    }
  }

  /** Call it after the signal was aborted. */
  async close(): Promise<void> {
    await this.#following;
    await this.#job.end().catch(() => {});
  }

  async #readOnce(): Promise<void> {
    const { name } = this.state;
    try {
      await this.#job.read(name, this.#lines());
    } catch (error) {
      if (!(error instanceof SourceReadError)) throw error;
      const { message } = logError(error.cause ?? error);
      this.state.cutShort(message);
    }
  }

  #newJob(): ReplayJob {
    const { state } = this;
    const options = { ...this.#options, store: this.#store, source: this.#source };
    return replayToStore({
      ...options,
      runtimes: [LOG_RUNTIME],
      stateOf: () => state,
      isLog: true,
    });
  }

  async #follow(rows: LogRows, onEnd: () => void): Promise<void> {
    const { name } = this.state;
    const { forget, signal } = this.#options;
    while (!signal.aborted) {
      try {
        await this.#job.follow(name, this.#growing(rows, this.#job, onEnd));
        return;
      } catch (error) {
        if (!(error instanceof ReplacedError)) throw error;
        this.state.replaced(error.message);
        await this.#job.end().catch(() => {});
        const gone = this.#source;
        this.#source = this.#store.addSource(STANDING.log);
        this.#job = this.#newJob();
        rows.restart();
        await forget(gone);
        void this.verify();
      }
    }
  }

  async *#growing(
    rows: LogRows,
    job: ReplayJob,
    onEnd: () => void,
  ): AsyncGenerator<Buffer, void, void> {
    const { pollMs, signal } = this.#options;
    let quiet = 0;
    for (let isFirst = true; !signal.aborted; isFirst = false) {
      const before = rows.position;
      quiet += 1;
      for await (const piece of this.#lines()) {
        quiet = 0;
        yield piece;
      }
      // At the first end, and after two polls without rows.
      await job.release(isFirst || quiet === 2 ? "all" : "old");
      if (isFirst) onEnd();
      else if (quiet > 0 && rows.position !== before) this.state.grown();
      await waitFor(pollMs, signal);
      await rows.checkUnchanged();
    }
  }

  async *#lines(): AsyncGenerator<Buffer, void, void> {
    let text = "";
    for await (const row of this.#rows.more((problem) => this.#report(problem))) {
      text += `${rowLine(row)}\n`;
      if (text.length < PIECE) continue;
      if (this.#options.signal.aborted) return;
      yield Buffer.from(text, "utf8");
      text = "";
    }
    if (text !== "") yield Buffer.from(text, "utf8");
  }

  #report(problem: LogProblem): void {
    const { line, place, problem: text } = viewProblemOf(problem);
    // The folder is named as the user named it.
    this.state.problem(place === this.#location ? this.state.name : place, text, line);
  }
}

/** The rows of a log in PostgreSQL, which has an index of the rows by run. */
class DatabaseRows implements RunLog {
  readonly from = "log";
  readonly #connection: string;
  readonly #content: boolean;
  readonly #verdict: () => RunLog["verdict"];
  readonly #store: RunStore;
  readonly #log: number;

  constructor(
    store: RunStore,
    connection: string,
    content: boolean,
    verdict: () => RunLog["verdict"],
  ) {
    this.#store = store;
    this.#connection = connection;
    this.#content = content;
    this.#verdict = verdict;
    this.#log = store.addLog(this);
  }

  get verdict(): RunLog["verdict"] {
    return this.#verdict();
  }

  async *more(onProblem?: (problem: LogProblem) => void): AsyncGenerator<AuditRow, void, void> {
    const log = { connection: this.#connection };
    for await (const row of readPostgresRows(log, {}, { onProblem })) {
      indexRow(this.#store, this.#log, this.from, row, NOWHERE, NOWHERE);
      yield row;
    }
  }

  async again(): Promise<void> {
    for await (const _ of this.more()) {
      // `more` indexes it.
    }
  }

  async rows({ runIds, tenantId }: RowQuery): Promise<ViewRow[]> {
    const rows: ViewRow[] = [];
    for (const run_id of runIds) {
      const filter = { tenant_id: tenantId, run_id };
      for await (const row of readPostgresRows({ connection: this.#connection }, filter)) {
        if (row.run_id !== null && canonicalRunId(row.run_id) === run_id) {
          rows.push(viewRowOf(row, this.#content));
        }
      }
    }
    return rows;
  }
}

const NOWHERE = { segment: 0, offset: 0 };
