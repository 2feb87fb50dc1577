import type { ViewRun } from "../format.ts";
import type { RunRow } from "./run-index.ts";
import { storyRow } from "./story-row.ts";

/**
 * The rows of the list: one for each story, which is a run with the paused runs that it continues. A change computes
 * only the stories that it touches, so that a list of 100,000 runs can follow its sources.
 */
export class StoryIndex {
  /** Every run by its key. */
  readonly #runs = new Map<string, RunRow>();
  readonly #byName = new Names<string>();
  /** Keys of the runs that continue a run, by its name. */
  readonly #resumptions = new Names<Set<string>>();
  /** Keys of all runs of a story, by each of them. Runs alone have none. */
  readonly #stories = new Map<string, readonly string[]>();
  /** By the key of the newest run. */
  readonly #rows = new Map<string, RunRow>();
  #list: readonly RunRow[] | undefined;

  /** In no order. Each change makes a new array. */
  get rows(): readonly RunRow[] {
    this.#list ??= [...this.#rows.values()];
    return this.#list;
  }

  run(key: string): ViewRun | undefined {
    return this.#runs.get(key)?.run;
  }

  /**
   * Adds rows of single runs, and replaces those with the same key.
   *
   * @returns how many are new.
   */
  set(rows: readonly RunRow[]): number {
    const before = this.#runs.size;
    for (const row of rows) {
      const { key, resumed_from, run_id, tenant_id } = row.run;
      const known = this.#runs.get(key);
      this.#runs.set(key, row);
      if (known === undefined) this.#byName.set(tenant_id, run_id, key);
      if (known?.run.resumed_from === resumed_from) continue;
      if (known !== undefined) this.#unlink(known);
      this.#link(row);
    }
    this.#rebuild(new Set(rows.map(({ run }) => run.key)));
    return this.#runs.size - before;
  }

  /** Removes the runs that a function names. */
  remove(isGone: (row: RunRow) => boolean): void {
    const gone = [...this.#runs.values()].filter(isGone);
    const touched = new Set<string>();
    // Members share the list of their story: it is read once.
    const before = new Set<readonly string[] | undefined>();
    for (const row of gone) {
      const { key, run_id, tenant_id } = row.run;
      this.#runs.delete(key);
      this.#rows.delete(key);
      this.#byName.delete(tenant_id, run_id);
      this.#unlink(row);
      before.add(this.#stories.get(key));
      this.#stories.delete(key);
    }
    for (const story of before) for (const other of story ?? []) touched.add(other);
    if (gone.length > 0) this.#list = undefined;
    this.#rebuild(touched);
  }

  #link({ run: { key, resumed_from, tenant_id } }: RunRow): void {
    if (resumed_from === undefined) return;
    const known = this.#resumptions.get(tenant_id, resumed_from);
    if (known === undefined) this.#resumptions.set(tenant_id, resumed_from, new Set([key]));
    else known.add(key);
  }

  #unlink({ run: { key, resumed_from, tenant_id } }: RunRow): void {
    if (resumed_from !== undefined) this.#resumptions.get(tenant_id, resumed_from)?.delete(key);
  }

  /** Computes the rows of these runs, and of all in their stories. */
  #rebuild(touched: Set<string>): void {
    const done = new Set<string>();
    // Runs that are added meanwhile have their turn, too.
    for (const key of touched) {
      if (done.has(key) || !this.#runs.has(key)) continue;
      this.#list = undefined;
      const story = this.#storyWith(key);
      for (const member of story) done.add(member.run.key);
      // Their stories before may have lost a run. Members share a list, which is read once.
      const before = new Set(story.map(({ run }) => this.#stories.get(run.key)));
      for (const others of before) for (const other of others ?? []) touched.add(other);
      const row = storyRow(story);
      const keys = story.length === 1 ? undefined : story.map(({ run }) => run.key);
      for (const member of story) {
        if (keys === undefined) this.#stories.delete(member.run.key);
        else this.#stories.set(member.run.key, keys);
        if (member.run.key !== row.id) this.#rows.delete(member.run.key);
      }
      this.#rows.set(row.id, row);
    }
  }

  /** All runs that are connected with a run, by resumptions. */
  #storyWith(key: string): readonly RunRow[] {
    const found = new Map<string, RunRow>();
    const open = [key];
    for (let at = open.pop(); at !== undefined; at = open.pop()) {
      const row = this.#runs.get(at);
      if (row === undefined || found.has(at)) continue;
      found.set(at, row);
      const { resumed_from, run_id, tenant_id } = row.run;
      const paused =
        resumed_from === undefined ? undefined : this.#byName.get(tenant_id, resumed_from);
      if (paused !== undefined) open.push(paused);
      for (const next of this.#resumptions.get(tenant_id, run_id) ?? []) open.push(next);
    }
    return [...found.values()];
  }
}

/** Values by tenant and run ID. */
class Names<T> {
  readonly #tenants = new Map<string, Map<string, T>>();

  get(tenant: string, runId: string): T | undefined {
    return this.#tenants.get(tenant)?.get(runId);
  }

  set(tenant: string, runId: string, value: T): void {
    const runs = this.#tenants.get(tenant);
    if (runs === undefined) this.#tenants.set(tenant, new Map([[runId, value]]));
    else runs.set(runId, value);
  }

  delete(tenant: string, runId: string): void {
    this.#tenants.get(tenant)?.delete(runId);
  }
}
