import {
  FORMAT,
  FORMAT_VERSION,
  type RunDetail,
  type RunList,
  type ViewSource,
} from "../format.ts";
import { runDetail } from "./run-detail.ts";
import type { RunStore } from "./run-store.ts";
import type { ViewedRuns } from "./viewed-runs.ts";

/** Runs of one piece of the list. */
const PIECE = 1_000;

interface StoredRunsOptions {
  /** Whether spans and rows have their content. */
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
    const { index, rebuiltAt } = this.#store;
    const from = since < rebuiltAt ? -1 : since;
    const head = JSON.stringify({ ...this.#head(from < 0), runs: [] });
    yield head.slice(0, -"]}".length);
    let piece: string[] = [];
    let between = "";
    const size = index.size;
    for (let row = 0; row < size; row += 1) {
      if (index.isListed(row, from)) piece.push(JSON.stringify(this.#store.run(row)));
      if (piece.length < PIECE) continue;
      yield between + piece.join(",");
      between = ",";
      piece = [];
    }
    if (piece.length > 0) yield between + piece.join(",");
    yield "]}";
  }

  list(keys: readonly string[]): RunList {
    const rows = keys.flatMap((key) => this.#rowOf(key) ?? []);
    return { ...this.#head(false), runs: rows.map((row) => this.#store.run(row)) };
  }

  failedKeys(): readonly string[] {
    const { index } = this.#store;
    const failed: { readonly row: number; readonly start: bigint }[] = [];
    for (let row = 0; row < index.size; row += 1) {
      if (!index.isKnown(row) || index.traits(row).outcome !== "failed") continue;
      failed.push({ row, start: index.startOf(row) });
    }
    failed.sort((one, other) => (one.start < other.start ? 1 : -1));
    return failed.map(({ row }) => index.keys.keyOf(row));
  }

  keysOf(runId: string): readonly string[] {
    const { index } = this.#store;
    const named = [...new Set([runId, runId.toLowerCase()])].flatMap((id) => index.keys.rowsOf(id));
    const rows = named.filter((row) => index.isKnown(row));
    return rows.map((row) => index.keys.keyOf(row));
  }

  async detail(key: string): Promise<RunDetail | undefined> {
    const row = this.#rowOf(key);
    return row === undefined ? undefined : runDetail(this.#store, row, this.#options);
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

  #rowOf(key: string): number | undefined {
    const { index } = this.#store;
    const row = index.keys.rowOfKey(key);
    return row !== undefined && index.isKnown(row) ? row : undefined;
  }

  #head(all: boolean): Omit<RunList, "runs"> {
    const { index } = this.#store;
    return {
      format: FORMAT,
      version: FORMAT_VERSION,
      revision: index.publish(),
      ...(all ? { all } : {}),
      sources: this.#options.sources(),
      other_spans: index.otherSpans,
    };
  }
}
