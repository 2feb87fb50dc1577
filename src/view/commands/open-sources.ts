import { rmSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isPostgresUrl } from "../../audit/door.ts";
import {
  type AuditLog,
  auditLogAt,
  cleanAtEnd,
  type Io,
  messageOf,
  runtimesNamed,
  tenantOption,
} from "../../cli/door.ts";
import type { ViewSource } from "../format.ts";
import { RunStore } from "../runs/run-store.ts";
import { StoredRuns } from "../runs/stored-runs.ts";
import type { SourcesOptions, ViewedRuns } from "../runs/viewed-runs.ts";
import { JaegerSource, jaegerUrl } from "../sources/jaeger.ts";
import { LogSource } from "../sources/logs.ts";
import { newFiles } from "../sources/new-files.ts";
import { type PlacedFile, placesOf } from "../sources/places.ts";
import { type Recording, Recordings } from "../sources/recordings.ts";
import { SourceState } from "../sources/source-state.ts";
import { SpanFile } from "../sources/span-file.ts";

/** Something that is read: files of recordings together are one. */
interface Source {
  /** Resolves when it was read to where it ended. */
  read(): Promise<void>;
  /** Resolves when nothing of it is read any more; the signal has come. */
  close(): Promise<void>;
  /** Indexes the audit rows again. */
  again?(): Promise<void>;
  verify?(): Promise<void>;
}

/** How often files and logs are looked at, in ms. */
const POLL_MS = 500;
/** Polls of the files for each poll of the folders. */
const FOLDER_POLLS = 4;

interface OpenOptions extends SourcesOptions {
  /** For tests: how often files and logs are looked at, in ms. Default 500. */
  readonly pollMs?: number;
  /** For tests: runs of the list. Default 100,000. */
  readonly mostRuns?: number;
}

/**
 * Opens what a command is to show, and begins to read it: `ready()` says when all of it was read.
 *
 * @param places recordings, files of spans, audit logs, folders of files, URLs of databases; `-` is standard input.
 * @throws CliError when a place is missing or something else, when a database or Jaeger does not answer, and when an
 *   option can't be used.
 *
 * @example
 * const runs = await openSources(["run.ndjson"], { follow: false, content: true }, io);
 * await runs.ready();
 * for (const piece of runs.listJson()) io.stdout.write(piece);
 * await runs.close();
 */
export async function openSources(
  places: readonly string[],
  options: OpenOptions,
  io: Io,
): Promise<ViewedRuns> {
  const runtimes = runtimesNamed(options.dialect);
  const tenantName = tenantOption(options.tenant);
  const { files, folders, logs } = await placesOf(places);
  const opened = await Promise.all(
    logs.map(async (place) => {
      const log = await auditLogAt(place);
      await log.check();
      return { place, log };
    }),
  );
  const stop = new AbortController();
  const jaeger =
    options.jaeger === undefined ? undefined : await jaegerUrl(options.jaeger, stop.signal);
  const folder = await TemporaryFolder.make();
  const store = new RunStore(folder.path, { mostRuns: options.mostRuns, wanted: options.run });
  const sources: Source[] = [];
  const states: SourceState[] = [];
  const forget = async (source: number) => {
    store.forget(source);
    for (const each of sources) await each.again?.();
  };
  const stateOf = (name: string, kind: ViewSource["kind"], grows: boolean, size?: number) => {
    const state = new SourceState(name, kind, grows && options.follow, () =>
      store.index.touchAll(),
    );
    state.size = size;
    states.push(state);
    return state;
  };
  const { pollMs = POLL_MS } = options;
  const common = { ...options, pollMs, tenantName, io, signal: stop.signal, forget };
  const placed = (file: PlacedFile) => {
    const { name, size } = file.input;
    return { ...file, state: stateOf(name, file.kind, file.grows, size) };
  };
  const add = <S extends Source>(source: S): S => {
    sources.push(source);
    return source;
  };
  const spansIn = ({ input, state }: Recording) => add(new SpanFile(input, state, store, common));
  const all = files.map(placed);
  const recorded = all.filter(({ kind }) => kind === "recording");
  const recordings = add(
    new Recordings(recorded, store, { ...common, runtimes, folder: folder.path }),
  );
  for (const file of all) if (file.kind === "spans") spansIn(file);
  const logAt = (place: string, log: AuditLog) => {
    const isDatabase = isPostgresUrl(place);
    const state = stateOf(place, isDatabase ? "database" : "audit-log", !isDatabase);
    return add(new LogSource(place, log, state, store, common));
  };
  for (const { log, place } of opened) logAt(place, log);
  if (jaeger !== undefined) {
    const state = stateOf(jaeger, "jaeger", true);
    add(new JaegerSource(jaeger, state, store, { ...common, searchMs: options.pollMs }));
  }
  const ready = Promise.all(
    sources.map(async (source) => {
      await source.read();
      store.flush();
      await source.verify?.();
    }),
  );
  /** Reads a file that was not there before. */
  const takeNewFile = async (file: PlacedFile) => {
    const shown = placed(file);
    try {
      if (file.kind === "spans") await spansIn(shown).read();
      else await recordings.add(shown);
    } catch (error) {
      shown.state.cutShort(messageOf(error));
    }
    store.flush();
  };
  const takeNewLog = async (place: string) => {
    const source = logAt(place, await auditLogAt(place));
    await source.read();
    store.flush();
    await source.verify();
  };
  const watch = async () => {
    await ready;
    const lookMs = FOLDER_POLLS * pollMs;
    const onChange = () => store.index.touchAll();
    for await (const found of newFiles(folders, files, { lookMs, onChange, signal: stop.signal })) {
      await ("log" in found ? takeNewLog(found.log) : takeNewFile(found));
    }
  };
  // `ready` reports errors of the sources.
  const watched = options.follow ? watch().catch(() => {}) : undefined;
  return new StoredRuns(store, {
    ...options,
    jaeger,
    sources: () => [
      ...states.map((state) => state.view()),
      ...folders.flatMap((each) => each.view(options.follow) ?? []),
    ],
    ready,
    verify: async () => {
      for (const source of sources) await source.verify?.();
    },
    close: async () => {
      stop.abort();
      await watched;
      await Promise.allSettled(sources.map((source) => source.close()));
      store.close();
      folder.remove();
    },
  });
}

/** A folder that only its owner can read. It is removed at the end, also by a signal. */
class TemporaryFolder {
  readonly path: string;
  readonly #remove = () => rmSync(this.path, { recursive: true, force: true });
  readonly #release: () => void;

  private constructor(path: string) {
    this.path = path;
    this.#release = cleanAtEnd(this.#remove, ["SIGINT", "SIGTERM", "SIGHUP"]);
  }

  static async make(): Promise<TemporaryFolder> {
    return new TemporaryFolder(await mkdtemp(join(tmpdir(), "entelix-otel-view-")));
  }

  remove(): void {
    this.#release();
    this.#remove();
  }
}
