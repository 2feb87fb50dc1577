import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { NdjsonSessionLog } from "../../audit/door.ts";
import {
  bytesOf,
  type InputFile,
  type Io,
  messageOf,
  NamedRows,
  type ReplayJob,
} from "../../cli/door.ts";
import { type AnyRuntime, SourceReadError } from "../../replay/door.ts";
import { type RunMaker, type RunStore, STANDING } from "../runs/run-store.ts";
import type { SourcesOptions } from "../runs/viewed-runs.ts";
import { followedBytes, ReplacedError } from "./followed-file.ts";
import { LogRows } from "./log-rows.ts";
import { RecordedRuns } from "./made-runs.ts";
import { RecordedLines } from "./recorded-lines.ts";
import { replayTo, replayToStore } from "./replayed-spans.ts";
import type { SourceState } from "./source-state.ts";

/** Lines that are played again without a pause, so that the server answers meanwhile. */
const AT_ONCE = 1_000;

/** A recording and its state. */
export interface Recording {
  readonly input: InputFile;
  readonly state: SourceState;
}

interface RecordingsOptions extends SourcesOptions {
  readonly runtimes: readonly [AnyRuntime, ...AnyRuntime[]];
  readonly tenantName: string;
  readonly io: Io;
  /** Folder for the rows that a replay would write. */
  readonly folder: string;
  /** Removes a source from the store, and indexes the rows of all logs again. */
  readonly forget: (source: number) => Promise<void>;
  readonly signal: AbortSignal;
  readonly pollMs: number;
}

/** The rows of a replay, written to a log. */
interface WrittenRows {
  readonly log: NdjsonSessionLog;
  readonly rows: LogRows;
}

/** A replay of all files. It ends when a file is replaced, and a new one begins. */
interface History {
  readonly job: ReplayJob;
  /** Absent if files are followed: spans and rows of a run are then made of its lines when it is opened. */
  readonly written?: WrittenRows;
  readonly lines?: RecordedLines;
  /** Ends the replay. */
  readonly stop: AbortController;
  /** Aborted by `stop` and by the end of all reading. */
  readonly signal: AbortSignal;
  /** Files whose reading has begun. */
  readonly begun: Set<Recording>;
  /** Whether every file was read to its end. Before that, events wait for those of the next file. */
  isRead: boolean;
}

/**
 * Recordings, replayed one after the other as one history. Growing files are followed.
 *
 * A page opens a few of the runs. So if files are followed, only the index takes the spans, and {@link RecordedRuns}
 * makes spans and rows of a run when it is opened. Otherwise all are made at once: a report needs them.
 */
export class Recordings {
  readonly #files: Recording[];
  readonly #store: RunStore;
  readonly #options: RecordingsOptions;
  #source: number;
  #generation = 0;
  #current: History | undefined;
  #made: RecordedRuns | undefined;
  #reading: Promise<void> = Promise.resolve();
  #restarted: Promise<void> = Promise.resolve();
  #following: Promise<void>[] = [];

  constructor(files: readonly Recording[], store: RunStore, options: RecordingsOptions) {
    this.#files = [...files];
    this.#store = store;
    this.#options = options;
    this.#source = this.#newSource();
  }

  /** Resolves when each file was read to its end. Followed files are read further. */
  read(): Promise<void> {
    this.#reading = this.#readAll();
    return this.#reading;
  }

  /** Reads one more file, and follows it. */
  async add(file: Recording): Promise<void> {
    this.#files.push(file);
    await this.#reading;
    const history = this.#current;
    if (history === undefined) return this.read();
    // A restart reads all files, or has read this one.
    if (history.signal.aborted || history.begun.has(file)) return;
    await this.#readOne(file, history);
    await this.#shown(history, [file]);
  }

  async #readAll(): Promise<void> {
    if (this.#files.length === 0) return;
    const history = await this.#begin();
    const { job, signal, stop, written } = history;
    for (const file of this.#files) {
      if (signal.aborted) break;
      await this.#readOne(file, history);
    }
    if (stop.signal.aborted) return this.#restarted;
    history.isRead = true;
    if (!this.#options.follow) {
      await job.end();
      await written?.log.close();
    }
    await this.#shown(history, history.begun);
  }

  /** Files were read to their ends: events that waited for more are shown. */
  async #shown({ job, written }: History, files: Iterable<Recording>): Promise<void> {
    await job.release("all");
    await written?.rows.readOn();
    for (const { state } of files) state.reached();
  }

  /** Indexes rows and, if they are not in the file of spans, spans again. */
  async again(): Promise<void> {
    const { lines, written } = this.#current ?? {};
    // Lines that are played from here on are indexed as they come.
    const end = lines?.count ?? 0;
    await written?.rows.again();
    if (lines === undefined) return;
    const source = this.#source;
    const { traces } = this.#store.index;
    let stream: number | undefined;
    const job = replayTo(
      { ...this.#options, isLog: false },
      (span) => this.#store.index.addSpan(span, STANDING.recording, { isMade: true }),
      (traceId) => lines.begins(traces.get(traceId), stream),
    );
    let played = 0;
    for (const line of lines.all(end)) {
      stream = line.stream;
      const busy = job.playAgain(line.text, line.dialect);
      if (busy !== undefined) await busy;
      played += 1;
      if (played % AT_ONCE === 0) await turn();
      // It was replaced meanwhile.
      if (source !== this.#source || this.#store.index.traces !== traces) return;
    }
  }

  /** Call it after the signal was aborted. */
  async close(): Promise<void> {
    await this.#restarted;
    await Promise.all(this.#following);
    await this.#current?.job.end().catch(() => {});
    await this.#current?.written?.log.close().catch(() => {});
    this.#current?.lines?.close();
  }

  #newSource(): number {
    const { follow } = this.#options;
    const maker: RunMaker = {
      make: async (runs, onProgress) => this.#made?.make(runs, onProgress),
    };
    return this.#store.addSource(STANDING.recording, follow ? maker : undefined);
  }

  async #begin(): Promise<History> {
    const { folder, follow } = this.#options;
    this.#generation += 1;
    const stateOf = (name: string) =>
      (this.#files.find(({ input }) => input.name === name) ?? this.#files[0])?.state;
    const options = { ...this.#options, store: this.#store, source: this.#source, stateOf };
    const written = follow ? undefined : await this.#writtenRows();
    const lines = follow
      ? new RecordedLines(join(folder, `lines-${this.#generation}.ndjson`), {
          listed: () => this.#store.index.traces.ofRuns(),
        })
      : undefined;
    const audit = written && new NamedRows(written.log);
    const job = replayToStore({ ...options, audit, isLog: false }, lines);
    const stop = new AbortController();
    const signal = AbortSignal.any([this.#options.signal, stop.signal]);
    this.#made = lines && this.#runsOf(lines);
    this.#current = {
      job,
      stop,
      signal,
      begun: new Set(),
      isRead: false,
      ...(written === undefined ? {} : { written }),
      ...(lines === undefined ? {} : { lines }),
    };
    return this.#current;
  }

  async #writtenRows(): Promise<WrittenRows> {
    const { content, folder } = this.#options;
    const directory = join(folder, `rows-${this.#generation}`);
    const log = await NdjsonSessionLog.open(directory, { durability: "none" });
    return { log, rows: new LogRows(this.#store, { directory, from: "replay", content }) };
  }

  #runsOf(lines: RecordedLines): RecordedRuns {
    const { content } = this.#options;
    return new RecordedRuns({
      lines,
      content,
      pausedBy: ({ resumedFrom, tenant_id }) =>
        resumedFrom === undefined ? undefined : this.#store.index.find(tenant_id, resumedFrom),
      replay: (audit, onSpan) => replayTo({ ...this.#options, audit, isLog: false }, onSpan),
    });
  }

  async #readOne(file: Recording, history: History): Promise<void> {
    history.begun.add(file);
    if (file.state.followed) await this.#follow(file, history);
    else await this.#readOnce(file, history);
  }

  async #readOnce({ input, state }: Recording, { job }: History): Promise<void> {
    const { io } = this.#options;
    try {
      await job.read(
        input.name,
        bytesOf(input, io, (count) => state.addBytes(count)),
      );
    } catch (error) {
      if (!(error instanceof SourceReadError)) throw error;
      const { cause } = error;
      state.cutShort(messageOf(cause ?? error));
    }
  }

  /** Resolves when the file's end was reached for the first time. */
  #follow(file: Recording, history: History): Promise<void> {
    const { input, state } = file;
    const { job, signal, stop } = history;
    return new Promise((resolve) => {
      const bytes = followedBytes(input.path ?? input.name, {
        signal,
        pollMs: this.#options.pollMs,
        onBytes: (count) => state.addBytes(count),
        onOpen: (problem) => state.opening(problem),
        onLook: async () => {
          if (history.isRead) await job.release("old");
        },
        onQuiet: async () => {
          if (history.isRead) await this.#shown(history, [file]);
          resolve();
        },
      });
      const ended = job
        .follow(input.name, bytes)
        .catch((error: unknown) => {
          if (signal.aborted) return;
          if (!(error instanceof ReplacedError)) {
            state.problem(input.name, messageOf(error));
            return;
          }
          state.replaced(error.message);
          if (!stop.signal.aborted) this.#restarted = this.#startAgain();
          stop.abort();
        })
        .finally(() => {
          state.reached();
          resolve();
        });
      this.#following.push(ended);
    });
  }

  /** A file was replaced, so the events of the history changed: all files are replayed again. */
  async #startAgain(): Promise<void> {
    const before = this.#current;
    const following = this.#following.splice(0);
    await Promise.all(following);
    await before?.job.end().catch(() => {});
    await before?.written?.log.close().catch(() => {});
    before?.written?.rows.restart();
    before?.lines?.close();
    this.#current = undefined;
    this.#made = undefined;
    const gone = this.#source;
    this.#source = this.#newSource();
    await this.#options.forget(gone);
    for (const { state } of this.#files) state.again();
    await this.read();
  }
}
