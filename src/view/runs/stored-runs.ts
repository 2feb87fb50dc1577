import {
  FORMAT,
  FORMAT_VERSION,
  type RunDetail,
  type RunList,
  type ViewSource,
} from "../format.ts";
import { type IndexedRun, isKnown } from "./indexed-run.ts";
import { type RunParts, runDetail, runParts } from "./run-detail.ts";
import { traitsIn } from "./run-row.ts";
import type { RunStore } from "./run-store.ts";
import type { ViewedRuns } from "./viewed-runs.ts";

/** Runs in a piece of the list. */
const PIECE = 1_000;

interface StoredRunsOptions {
  /** Whether spans and rows have content. */
  readonly content: boolean;
  /** Address of Jaeger's page, without a slash at its end. */
  readonly jaeger: string | undefined;
  readonly sources: () => readonly ViewSource[];
  readonly ready: Promise<unknown>;
  readonly verify: () => Promise<void>;
  readonly close: () => Promise<void>;
}

/** The runs of a store, while sources fill it. */
export class StoredRuns implements ViewedRuns {
  readonly #store: RunStore;
  readonly #options: StoredRunsOptions;
  #closed: Promise<void> | undefined;

  constructor(store: RunStore, options: StoredRunsOptions) {
    this.#store = store;
    this.#options = options;
    // Callers of `ready` get the error. Without a caller it must not crash the process.
    options.ready.catch(() => {});
  }

  *listJson(since = -1): Generator<string> {
    this.#store.look();
    const { index, rebuiltAt } = this.#store;
    const from = since < rebuiltAt ? -1 : since;
    const head = JSON.stringify({ ...this.#head(from < 0), runs: [] });
    yield head.slice(0, -"]}".length);
    let piece: string[] = [];
    let between = "";
    // The page asks every second, and mostly nothing has changed.
    for (const run of from < index.revision ? [...index.runs()] : []) {
      if (index.isListed(run, from)) piece.push(JSON.stringify(this.#store.view(run)));
      if (piece.length < PIECE) continue;
      yield between + piece.join(",");
      between = ",";
      piece = [];
    }
    if (piece.length > 0) yield between + piece.join(",");
    yield "]}";
  }

  list(keys: readonly string[]): RunList {
    this.#store.look();
    const head = this.#head(false);
    const runs = keys.flatMap((key) => this.#find(key) ?? []);
    return { ...head, runs: runs.map((run) => this.#store.view(run)) };
  }

  failedKeys(): readonly string[] {
    this.#store.look();
    const { index } = this.#store;
    index.publish();
    const failed: IndexedRun[] = [];
    for (const run of index.runs()) {
      if (isKnown(run) && traitsIn(run).outcome === "failed") failed.push(run);
    }
    failed.sort((one, other) => (one.start < other.start ? 1 : -1));
    return failed.map(({ key }) => key);
  }

  keysOf(runId: string): readonly string[] {
    this.#store.look();
    const { index } = this.#store;
    const named = [...new Set([runId, runId.toLowerCase()])].flatMap((id) => index.named(id));
    return named.filter(isKnown).map(({ key }) => key);
  }

  withStories(keys: readonly string[]): readonly string[] {
    const found = new Set<string>();
    for (const key of keys) {
      const run = found.has(key) ? undefined : this.#find(key);
      if (run === undefined) continue;
      for (const each of this.#store.index.storyOf(run)) if (isKnown(each)) found.add(each.key);
    }
    return [...found];
  }

  async detail(key: string): Promise<RunDetail | undefined> {
    const run = this.#find(key);
    return run === undefined ? undefined : runDetail(this.#store, run, this.#options);
  }

  parts(key: string, since?: number): RunParts | undefined {
    const run = this.#find(key);
    return run === undefined ? undefined : runParts(this.#store, run, { ...this.#options, since });
  }

  async ready(): Promise<void> {
    await this.#options.ready;
  }

  verify(): Promise<void> {
    return this.#options.verify();
  }

  close(): Promise<void> {
    this.#closed ??= this.#options.close();
    return this.#closed;
  }

  #find(key: string): IndexedRun | undefined {
    this.#store.look();
    const run = this.#store.index.findKey(key);
    return run !== undefined && isKnown(run) ? run : undefined;
  }

  #head(all: boolean): Omit<RunList, "runs"> {
    const { index } = this.#store;
    const revision = index.publish();
    return {
      format: FORMAT,
      version: FORMAT_VERSION,
      revision,
      ...(all ? { all } : {}),
      sources: this.#options.sources(),
      other_spans: index.traces.otherSpans,
      ...(index.leftOut === 0 ? {} : { left_out: index.leftOut }),
      ...(index.oldest === undefined ? {} : { oldest_ns: String(index.oldest) }),
    };
  }
}
