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
import { type SourceFile, sourcesOf } from "../sources/operands.ts";
import { ReceivedSpans } from "../sources/received-spans.ts";
import { type Recording, Recordings } from "../sources/recordings.ts";
import { SourceState } from "../sources/source-state.ts";
import { SpanFile } from "../sources/span-file.ts";

/** A source that is read. All recordings together are one. */
interface Source {
  /** Resolves when it was read to its end. */
  read(): Promise<void>;
  /** Resolves when reading has ended. The signal was aborted before. */
  close(): Promise<void>;
  /** Indexes the audit rows again. */
  again?(): Promise<void>;
  verify?(): Promise<void>;
}

/** How often files and logs are polled, in ms. */
const POLL_MS = 500;
/** Polls of the files for each poll of the folders. */
const FOLDER_POLLS = 4;

/** Spans on disk with `--listen`, which may run for weeks. */
export const MOST_RECEIVED_BYTES = 512 * 1024 * 1024;

interface OpenOptions extends SourcesOptions {
  /** For tests: how often files and logs are polled, in ms. Default 500. */
  readonly pollMs?: number;
  /** For tests: runs of the list. Default 100,000. */
  readonly mostRuns?: number;
}

/**
 * Opens the sources of a command, and begins to read them. `ready()` resolves when all were read.
 *
 * @param operands recordings, files of spans, audit logs, folders of files, URLs of databases; `-` is standard input.
 * @throws CliError when an operand is missing or not a source, when a database or Jaeger does not answer, and for
 *   invalid options.
 *
 * @example
 * const runs = await openSources(["run.ndjson"], { follow: false, content: true }, io);
 * await runs.ready();
 * for (const piece of runs.listJson()) io.stdout.write(piece);
 * await runs.close();
 */
export async function openSources(
  operands: readonly string[],
  options: OpenOptions,
  io: Io,
): Promise<ViewedRuns> {
  const runtimes = runtimesNamed(options.dialect);
  const tenantName = tenantOption(options.tenant);
  const { files, folders, logs } = await sourcesOf(operands);
  const opened = await Promise.all(
    logs.map(async (name) => {
      const log = await auditLogAt(name);
      await log.check();
      return { name, log };
    }),
  );
  const stop = new AbortController();
  const jaeger =
    options.jaeger === undefined ? undefined : await jaegerUrl(options.jaeger, stop.signal);
  const folder = await TemporaryFolder.make();
  let received: ReceivedSpans | undefined;
  const store = new RunStore(folder.path, {
    mostRuns: options.mostRuns,
    wanted: options.run,
    estimates: options.estimates,
    mostBytes: options.listen === undefined ? undefined : MOST_RECEIVED_BYTES,
    onSpansLeftOut: (spans) => received?.leftOut(spans),
  });
  const sources: Source[] = [];
  const states: SourceState[] = [];
  const forget = async (source: number) => {
    store.forget(source);
    // All begin at once: what comes while they read is new.
    await Promise.all(sources.map((each) => each.again?.()));
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
  const withState = (file: SourceFile) => {
    const { name, size } = file.input;
    return { ...file, state: stateOf(name, file.kind, file.grows, size) };
  };
  const add = <S extends Source>(source: S): S => {
    sources.push(source);
    return source;
  };
  const spansIn = ({ input, state }: Recording) => add(new SpanFile(input, state, store, common));
  const all = files.map(withState);
  const recorded = all.filter(({ kind }) => kind === "recording");
  const recordings = add(
    new Recordings(recorded, store, { ...common, runtimes, folder: folder.path }),
  );
  for (const file of all) if (file.kind === "spans") spansIn(file);
  const logAt = (name: string, log: AuditLog) => {
    const isDatabase = isPostgresUrl(name);
    const state = stateOf(name, isDatabase ? "database" : "audit-log", !isDatabase);
    return add(new LogSource(name, log, state, store, common));
  };
  for (const { log, name } of opened) logAt(name, log);
  if (jaeger !== undefined) {
    const state = stateOf(jaeger, "jaeger", true);
    add(new JaegerSource(jaeger, state, store, { ...common, searchMs: options.pollMs }));
  }
  if (options.listen !== undefined) {
    const stateAt = (url: string) => stateOf(url, "otlp", true);
    const { content, listen: address, save } = options;
    const receiving = ReceivedSpans.listen(stateAt, store, { content, address, save });
    received = await receiving.catch((error: unknown) => {
      stop.abort();
      store.close();
      folder.remove();
      throw error;
    });
    add(received);
  }
  const ready = Promise.all(
    sources.map(async (source) => {
      await source.read();
      store.flush();
      await source.verify?.();
    }),
  );
  /** Reads a new file. */
  const takeNewFile = async (file: SourceFile) => {
    const shown = withState(file);
    try {
      if (file.kind === "spans") await spansIn(shown).read();
      else await recordings.add(shown);
    } catch (error) {
      shown.state.cutShort(messageOf(error));
    }
    store.flush();
  };
  const takeNewLog = async (name: string) => {
    const source = logAt(name, await auditLogAt(name));
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

/** A folder that only its owner can read. It is removed at the end, also after a signal. */
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
