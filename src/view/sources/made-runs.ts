import { setImmediate as turn } from "node:timers/promises";
import {
  type AuditEntry,
  type AuditRow,
  MemorySessionLog,
  type RowAnchor,
  type SessionLog,
  type ThreadKey,
  threadText,
} from "../../audit/door.ts";
import { NamedRows, type ReplayJob } from "../../cli/door.ts";
import { canonicalRunId } from "../../events/door.ts";
import type { ViewRow, ViewSpan } from "../format.ts";
import { type IndexedRun, runName, tracesOf } from "../runs/indexed-run.ts";
import type { MadeRuns, RunMaker } from "../runs/run-store.ts";
import type { Trace } from "../runs/traces.ts";
import { viewRowOf } from "./log-rows.ts";
import type { Group, PlayedLine, RecordedLines } from "./recorded-lines.ts";

/** Lines of the runs that are remembered: the page asks again for what it shows. */
const MOST_REMEMBERED = 20_000;
/** Lines that are played without a pause, so that the server answers meanwhile. */
const AT_ONCE = 1_000;

interface MakerOptions {
  readonly lines: RecordedLines;
  readonly content: boolean;
  /** The run that another one continues. */
  readonly pausedBy: (run: IndexedRun) => IndexedRun | undefined;
  /** A replay with an audit log. */
  readonly replay: (log: SessionLog, onSpan: (span: ViewSpan) => void) => ReplayJob;
}

interface Remembered {
  /** Groups and their last lines when it was made. */
  readonly made: ReadonlyMap<Group, number>;
  readonly lines: number;
  readonly runs: MadeRuns;
}

/**
 * Makes spans and audit rows of recorded runs when they are opened, by playing their lines again. The list needs only
 * what the index has, and most runs are never opened.
 */
export class RecordedRuns implements RunMaker {
  readonly #options: MakerOptions;
  #remembered: Remembered[] = [];
  #making: Promise<unknown> = Promise.resolve();

  constructor(options: MakerOptions) {
    this.#options = options;
  }

  /** One after the other: two tabs may ask for the same run. */
  make(
    runs: ReadonlySet<IndexedRun>,
    onProgress: (share: number) => void,
  ): Promise<MadeRuns | undefined> {
    const made = this.#making.then(() => this.#make(runs, onProgress));
    this.#making = made.catch(() => {});
    return made;
  }

  async #make(
    runs: ReadonlySet<IndexedRun>,
    onProgress: (share: number) => void,
  ): Promise<MadeRuns | undefined> {
    const groups = this.#options.lines.groupsOf(this.#tracesOf(runs));
    if (groups.size === 0) return undefined;
    const known = this.#remembered.find((one) => isOf(one, groups));
    if (known !== undefined) return known.runs;
    const made = new Map([...groups].map((group) => [group, group.last]));
    const lines = this.#options.lines.linesOf(groups);
    const found = { made, lines: lines.length, runs: await this.#play(lines, onProgress) };
    this.#remember(found);
    return found.runs;
  }

  /** The traces of the runs, and of those that they continue: their links lead there. */
  #tracesOf(runs: ReadonlySet<IndexedRun>): ReadonlySet<Trace> {
    const all = new Set<IndexedRun>();
    for (const run of runs) {
      for (let at: IndexedRun | undefined = run; at !== undefined && !all.has(at); ) {
        all.add(at);
        at = this.#options.pausedBy(at);
      }
    }
    return new Set([...all].flatMap(tracesOf));
  }

  async #play(
    lines: readonly PlayedLine[],
    onProgress: (share: number) => void,
  ): Promise<MadeRuns> {
    const { content, replay } = this.#options;
    const spans = new Map<string, ViewSpan[]>();
    const log = new CollectedRows();
    const job = replay(new NamedRows(log), (span) => {
      const same = spans.get(span.trace_id);
      if (same === undefined) spans.set(span.trace_id, [span]);
      else same.push(span);
    });
    for (const [at, { dialect, text }] of lines.entries()) {
      const busy = job.playAgain(text, dialect);
      if (busy !== undefined) await busy;
      if (at % AT_ONCE < AT_ONCE - 1) continue;
      onProgress(at / lines.length);
      await job.settled();
      await turn();
    }
    await job.settled();
    const rows = new Map<string, ViewRow[]>();
    for (const row of await log.rows()) {
      if (row.run_id === null || row.run_id === "") continue;
      const name = runName(row.tenant_id, canonicalRunId(row.run_id));
      const same = rows.get(name);
      if (same === undefined) rows.set(name, [viewRowOf(row, content)]);
      else same.push(viewRowOf(row, content));
    }
    return {
      spansOf: (traceId) => spans.get(traceId) ?? [],
      rowsOf: ({ run_id, tenant_id }) => rows.get(runName(tenant_id, run_id)) ?? [],
    };
  }

  #remember(made: Remembered): void {
    const kept = [made];
    let { lines } = made;
    for (const one of this.#remembered) {
      lines += one.lines;
      if (lines <= MOST_REMEMBERED) kept.push(one);
    }
    this.#remembered = kept;
  }
}

function isOf({ made }: Remembered, groups: ReadonlySet<Group>): boolean {
  return made.size === groups.size && [...groups].every((group) => made.get(group) === group.last);
}

/** A log in memory whose rows can be read without the names of its threads. */
class CollectedRows implements SessionLog {
  readonly #log = new MemorySessionLog();
  readonly #threads = new Map<string, ThreadKey>();

  append(key: ThreadKey, entries: readonly AuditEntry[]): Promise<RowAnchor> {
    this.#threads.set(threadText(key), key);
    return this.#log.append(key, entries);
  }

  loadSince(key: ThreadKey, cursor: number): Promise<readonly AuditRow[]> {
    return this.#log.loadSince(key, cursor);
  }

  archiveBefore(key: ThreadKey, watermark: number): Promise<number> {
    return this.#log.archiveBefore(key, watermark);
  }

  async rows(): Promise<AuditRow[]> {
    const all: AuditRow[] = [];
    for (const key of this.#threads.values()) {
      for (const row of await this.#log.loadSince(key, 0)) all.push(row);
    }
    return all;
  }
}
