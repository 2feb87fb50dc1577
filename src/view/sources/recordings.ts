import { join } from "node:path";
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
import { type RunStore, STANDING } from "../runs/run-store.ts";
import type { SourcesOptions } from "../runs/viewed-runs.ts";
import { followedBytes, ReplacedError, waitFor } from "./followed-file.ts";
import { LogRows } from "./log-rows.ts";
import { replayToStore } from "./replayed-spans.ts";
import type { SourceState } from "./source-state.ts";

/** How often rows are indexed while recordings are read, in ms. */
const INDEX_MS = 2_000;

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

/** A replay of all files. It ends when a file is replaced, and a new one begins. */
interface History {
  readonly job: ReplayJob;
  readonly log: NdjsonSessionLog;
  readonly rows: LogRows;
  /** Ends the replay. */
  readonly stop: AbortController;
  /** Aborted by `stop` and by the end of all reading. */
  readonly signal: AbortSignal;
  /** Files whose reading has begun. */
  readonly begun: Set<Recording>;
  /** Whether every file was read to its end. Before that, events wait for those of the next file. */
  isRead: boolean;
}

/** Recordings, replayed one after the other as one history. Growing files are followed. */
export class Recordings {
  readonly #files: Recording[];
  readonly #store: RunStore;
  readonly #options: RecordingsOptions;
  #source: number;
  #generation = 0;
  #current: History | undefined;
  #reading: Promise<void> = Promise.resolve();
  #restarted: Promise<void> = Promise.resolve();
  #following: Promise<void>[] = [];

  constructor(files: readonly Recording[], store: RunStore, options: RecordingsOptions) {
    this.#files = [...files];
    this.#store = store;
    this.#options = options;
    this.#source = store.addSource(STANDING.recording);
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
    const { job, log, rows, signal, stop } = history;
    if (this.#options.follow) this.#following.push(this.#index(rows, signal));
    for (const file of this.#files) {
      if (signal.aborted) break;
      await this.#readOne(file, history);
    }
    if (stop.signal.aborted) return this.#restarted;
    history.isRead = true;
    if (!this.#options.follow) {
      await job.end();
      await log.close();
    }
    await this.#shown(history, history.begun);
  }

  /** Files were read to their ends: events that waited for more are shown. */
  async #shown({ job, rows }: History, files: Iterable<Recording>): Promise<void> {
    await job.release("all");
    await rows.readOn();
    for (const { state } of files) state.reached();
  }

  /** Indexes the rows again. */
  async again(): Promise<void> {
    await this.#current?.rows.again();
  }

  /** Call it after the signal was aborted. */
  async close(): Promise<void> {
    await this.#restarted;
    await Promise.all(this.#following);
    await this.#current?.job.end().catch(() => {});
    await this.#current?.log.close().catch(() => {});
  }

  async #begin(): Promise<History> {
    const { content, folder } = this.#options;
    this.#generation += 1;
    const directory = join(folder, `rows-${this.#generation}`);
    const log = await NdjsonSessionLog.open(directory, { durability: "none" });
    const stateOf = (name: string) =>
      (this.#files.find(({ input }) => input.name === name) ?? this.#files[0])?.state;
    const audit = new NamedRows(log);
    const options = { ...this.#options, store: this.#store, source: this.#source, audit, stateOf };
    const job = replayToStore({ ...options, isLog: false });
    const rows = new LogRows(this.#store, { directory, from: "replay", content });
    const stop = new AbortController();
    const signal = AbortSignal.any([this.#options.signal, stop.signal]);
    this.#current = { job, log, rows, stop, signal, begun: new Set(), isRead: false };
    return this.#current;
  }

  /** Indexes rows periodically, also those of a file that is never quiet. */
  async #index(rows: LogRows, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await waitFor(INDEX_MS, signal);
      if (!signal.aborted) await rows.readOn();
    }
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
    await before?.log.close().catch(() => {});
    before?.rows.restart();
    const gone = this.#source;
    this.#source = this.#store.addSource(STANDING.recording);
    await this.#options.forget(gone);
    for (const { state } of this.#files) state.again();
    await this.read();
  }
}
